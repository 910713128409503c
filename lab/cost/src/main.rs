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
    let deployment = Deployment::read(&profile.parameters)?;
    print(&estimate(&profile, &prices, &deployment)?.to_string())
}

fn text_of(path: &Path, option: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}: name it with {option}", path.display()))
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
