//! `cargo measure functions`: what each function costs on Lambda beside what the runtime itself does.
//!
//! The binaries run as on Lambda: started with its environment, asking its runtime API for events, calling
//! DynamoDB over TLS. What counts is what repeats: instructions as callgrind counts them, system calls, bytes. Each is
//! given beside the floor's, a function on the same runtime that does nothing, built with the same profile and measured
//! in the same run; so a ratio says what Till adds, whatever the compiler or the machine.

mod budget;
mod measure;
mod process;
mod report;
mod runtime_api;
mod shop;
mod subject;
mod tls;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use self::measure::{Bench, Figures};
use self::process::is_installed;
use self::shop::Shop;
use self::subject::{FUNCTIONS, Function, SHORT, Subject, UNCHANGED};
use self::tls::Tls;

const FLOOR: &str = "hello";

/// How often a function is measured before it counts as over its budget. A count varies upwards alone: a second connection
/// that a busy machine made necessary, or the end of the first one's handshake, which may fall into the start or into the
/// first event.
const TRIES: u32 = 3;

/// Compare each function's cost on Lambda with the runtime's own: instructions, system calls, memory, bytes
///
/// Needs valgrind and openssl, and strace for the system calls. Fails when a function is over its budget.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure these alone
    functions: Vec<String>,

    /// Only get-product, place-order and drain-writes, as development builds, and only what repeats
    #[arg(long, conflicts_with = "functions")]
    short: bool,

    /// Writes docs/performance.md
    #[arg(long, conflicts_with_all = ["functions", "short"])]
    docs: bool,

    /// Take binaries that were built into this folder, such as target/lambda, and build none
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        is_installed("valgrind"),
        "valgrind is not installed: `apt-get install valgrind`, or what your system has instead"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let folder = root.join("target").join("measure");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;

    let figures = measured(&built(arguments, &root)?, arguments.short, &folder).await?;

    let text = report::figures(&figures)?;
    crate::print(&text)?;
    if arguments.docs {
        docs_check::write("performance.md", &[("measured", text), ("budgets", budget::table())])?;
    }
    let floor = figures.first().context("nothing was measured")?;
    let over = budget::over(floor, &figures, arguments.short);
    ensure!(over.is_empty(), "over budget:\n  {}", over.join("\n  "));
    Ok(())
}

/// The floor, and after it the functions that are asked for.
fn built(arguments: &Arguments, root: &Path) -> Result<Vec<Subject>> {
    let chosen = chosen(arguments)?;
    let folder = match &arguments.built {
        Some(folder) => folder.clone(),
        None => build(root, chosen.iter().map(|function| program_of(function.name)), arguments.short)?,
    };
    let binary = |program: &str| -> Result<_> {
        let built = folder.join(program).join("bootstrap");
        let path = if built.is_file() { built } else { folder.join(program) };
        ensure!(path.is_file(), "{program} is not in {}: build it, or leave --built out", folder.display());
        Ok(path.canonicalize()?)
    };
    let floor = Subject { name: FLOOR, binary: binary(FLOOR)?, sample: "get-product", change: UNCHANGED };
    let functions = chosen.into_iter().map(|Function { name, change, .. }| {
        Ok(Subject { name, binary: binary(program_of(name))?, sample: name, change: *change })
    });
    std::iter::once(Ok(floor)).chain(functions).collect()
}

/// Opens a shop, and measures each of them on it.
async fn measured(subjects: &[Subject], is_short: bool, folder: &Path) -> Result<Vec<Figures>> {
    let shop = Shop::open().await?;
    let plain = shop.stack.dynamodb_url().trim_start_matches("http://").to_owned();
    let dynamodb = Tls::start(&plain, folder).await?;
    let counts_system_calls = is_installed("strace");
    if !counts_system_calls {
        eprintln!("no system calls: strace is not installed");
    }
    let mut bench = Bench { shop: &shop, dynamodb: &dynamodb, folder, counts_system_calls, next: 0 };
    let mut figures: Vec<Figures> = Vec::new();
    for subject in subjects {
        eprintln!("measuring {}", subject.name);
        let mut seen = bench.measure(subject).await?;
        for _ in 1..TRIES {
            let Some(floor) = figures.first() else { break };
            let over = budget::over(floor, std::slice::from_ref(&seen), is_short);
            if over.is_empty() {
                break;
            }
            eprintln!("measuring {} again: {}", subject.name, over.join("; "));
            seen = seen.least(&bench.measure(subject).await?);
        }
        figures.push(seen);
    }
    shop.stack.shutdown().await?;
    Ok(figures)
}

/// The functions that are asked for, with their events.
fn chosen(arguments: &Arguments) -> Result<Vec<&'static Function>> {
    let all: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
    for name in &arguments.functions {
        ensure!(all.contains(&name.as_str()), "{name} is not measured: choose of {}", all.join(", "));
    }
    let is_chosen = |name: &str| match arguments {
        Arguments { short: true, .. } => SHORT.iter().any(|(short, _)| *short == name),
        Arguments { functions, .. } => functions.is_empty() || functions.iter().any(|chosen| chosen == name),
    };
    Ok(FUNCTIONS.iter().filter(|function| is_chosen(function.name)).collect())
}

/// The program that contains the function.
fn program_of(name: &str) -> &'static str {
    local::functions::all().find(|function| function.name() == name).map_or(FLOOR, |function| function.program)
}

/// Builds these programs and the floor: with the profile that is deployed, or for the short form as development builds.
/// Returns the folder that they are in.
fn build<'a>(root: &Path, programs: impl Iterator<Item = &'a str>, is_short: bool) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let profile = if is_short { "dev" } else { "release" };
    cargo.current_dir(root).args(["build", "--profile", profile, "--locked", "--package", FLOOR]);
    for program in programs {
        cargo.args(["--package", program]);
    }
    ensure!(cargo.status().context("cannot run cargo")?.success(), "the functions cannot be built");
    // This program lies in target/debug.
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent).context("this program is in no target folder")?;
    Ok(target.join(if is_short { "debug" } else { "release" }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_budgets_of_the_page_are_those_of_the_code() {
        let parts = [("budgets", super::budget::table())];
        docs_check::check("performance.md", &parts).expect("docs/performance.md");
    }
}
