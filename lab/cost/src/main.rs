//! `cargo cost`: estimates the bill of a month.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use cost::deployment::Deployment;
use cost::estimate::estimate;
use cost::prices::{PriceList, SHIPPED};
use cost::profile::{EXAMPLE, Profile};

/// Estimate what a month costs on AWS
///
/// A traffic profile describes what a shop does in a month. From the profile, the templates, the capacity ledger and a
/// price list, this computes a bill by service, and compares the ways to pay for the table. It does not call AWS.
///
/// Begin with `cargo cost --example > shop.yaml`, change what is different in your shop, and run `cargo cost --profile
/// shop.yaml`.
#[derive(Parser)]
#[command(name = "cost", arg_required_else_help = true)]
struct Arguments {
    /// The traffic profile, in YAML
    #[arg(long, value_name = "FILE", required_unless_present = "example")]
    profile: Option<PathBuf>,

    /// Print an example profile, with every field explained
    #[arg(long, exclusive = true)]
    example: bool,

    /// Another price list [default: us-east-1 in November 2026, lab/cost/prices]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,

    /// Print JSON; decimals are strings, so that they stay exact
    #[arg(long)]
    json: bool,

    /// The deployed template, with the folder stacks beside it [default: template.yaml of this workspace or this directory]
    #[arg(long, value_name = "PATH")]
    template: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the files, computes the estimate, and prints it.
fn run(arguments: &Arguments) -> Result<()> {
    let Some(profile) = &arguments.profile else { return print(EXAMPLE) };
    let parsed = Profile::parse(&text_of(profile, "--profile")?);
    let profile = parsed.with_context(|| profile.display().to_string())?;
    let prices = match &arguments.prices {
        None => PriceList::parse(SHIPPED).context("the built-in price list")?,
        Some(path) => PriceList::parse(&text_of(path, "--prices")?).with_context(|| path.display().to_string())?,
    };
    let template = arguments.template.clone().unwrap_or_else(default_template);
    let operations = text_of(&template.with_file_name("stacks/operations.yaml"), "--template")?;
    let template = text_of(&template, "--template")?;
    let deployment = Deployment::read(&template, &operations, &profile.parameters)?;

    let estimate = estimate(&profile, &prices, &deployment)?;
    if arguments.json {
        return print(&format!("{}\n", serde_json::to_string_pretty(&estimate)?));
    }
    print(&estimate.to_string())
}

fn text_of(path: &Path, option: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}: name it with {option}", path.display()))
}

/// The template of this workspace. If there is none, because the workspace was moved after the build, the one of this
/// directory.
fn default_template() -> PathBuf {
    let of_workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml");
    of_workspace.canonicalize().unwrap_or_else(|_| PathBuf::from("template.yaml"))
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
