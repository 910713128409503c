//! `cargo measure history`: measures how fast a history is imported, counted and exported, and the memory that this needs.
//!
//! The commands run in processes of their own, because their memory is one of the figures.

mod file;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use cpu_time::ProcessTime;
use devstack::{Options, Stack};
use lambda::Environment;
use local::history::{self, Placement};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::figures::{grouped, most_memory};
use crate::workspace;

/// The longest wait for the counts.
const COUNTING: Duration = Duration::from_hours(2);

/// The page with the figures.
const PAGE: &str = "history.md";

/// Measure how fast a history is imported, counted and exported, and the memory that this needs
///
/// The figures are those of the laptop's stack with its tables on disk. Without an optimised build they mean little:
/// cargo run --profile measure --package measure -- history
#[derive(Args)]
pub(crate) struct Arguments {
    /// The number of orders of each history
    #[arg(long, value_delimiter = ',', default_values_t = [10_000])]
    orders: Vec<u32>,

    /// The folder for the tables and the files, with some 20 KB for each order
    #[arg(long, default_value = "target/measure")]
    data: PathBuf,

    /// Writes the table into docs/history.md
    #[arg(long)]
    docs: bool,
}

/// One command in a process of its own
#[derive(Args)]
pub(crate) struct StepArguments {
    #[arg(long)]
    export: bool,
    file: PathBuf,
}

/// The figures of one command.
#[derive(Serialize, Deserialize)]
struct Figures {
    seconds: f64,
    records: u64,
    /// The write units of the table.
    units: f64,
    /// The CPU time of the process, in seconds.
    cpu: f64,
    /// The peak memory of the process.
    memory: u64,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build, which measures debugging: see cargo measure history --help");
    }
    let mut table = String::from(
        "| orders | records | import | records a second | write units a second | its CPU | CPU of the stack | its memory \
         | counted after | export | records a second | its memory |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for &orders in &arguments.orders {
        let data = arguments.data.join(format!("history-{orders}"));
        if data.exists() {
            fs::remove_dir_all(&data)?;
        }
        fs::create_dir_all(&data)?;
        let row = Box::pin(measure(orders, &data)).await?;
        fs::remove_dir_all(&data)?;
        eprint!("{row}");
        table.push_str(&row);
    }
    crate::print(&table)?;
    if arguments.docs { docs_check::write(PAGE, &[("history-speed", table)]) } else { Ok(()) }
}

async fn measure(orders: u32, data: &Path) -> Result<String> {
    let [source, target] = ["history.ndjson", "exported.ndjson"].map(|name| data.join(name));
    file::write(&source, orders)?;
    let options = Options { data: Some(data.join("stack")), ..local::options(workspace::template()?) };
    let stack = workspace::stack_with(options).await?;
    let before = ProcessTime::now();
    let imported = command(&stack, &["history-step"], &source).await?;
    let of_stack = before.elapsed().as_secs_f64();
    let began = Instant::now();
    stack.settle(COUNTING).await?;
    let counted = began.elapsed().as_secs_f64();
    let exported = command(&stack, &["history-step", "--export"], &target).await?;
    stack.shutdown().await?;
    ensure!(imported.records == exported.records, "{} of {} records", exported.records, imported.records);

    let whole = |number: f64| grouped(&format!("{number:.0}"));
    #[expect(clippy::cast_precision_loss, reason = "records are far fewer than 2^52")]
    let rate = |figures: &Figures| whole(figures.records as f64 / figures.seconds);
    let megabytes = |bytes: u64| format!("{} MB", bytes / 1_000_000);
    let cells = [
        grouped(&orders.to_string()),
        grouped(&imported.records.to_string()),
        format!("{} s", whole(imported.seconds)),
        rate(&imported),
        whole(imported.units / imported.seconds),
        format!("{} s", whole(imported.cpu)),
        format!("{} s", whole(of_stack)),
        megabytes(imported.memory),
        format!("{} s", whole(counted)),
        format!("{} s", whole(exported.seconds)),
        rate(&exported),
        megabytes(exported.memory),
    ];
    let mut row = String::new();
    _ = writeln!(row, "| {} |", cells.join(" | "));
    Ok(row)
}

/// Runs a command of this program on the table of the stack.
async fn command(stack: &Stack, arguments: &[&str], file: &Path) -> Result<Figures> {
    let of_functions = &stack.template().functions.first().context("a function")?.environment;
    let operator = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "operator"),
        ("AWS_SECRET_ACCESS_KEY", "operator"),
        ("AWS_ENDPOINT_URL_DYNAMODB", stack.dynamodb_url()),
    ];
    let shards = ["STATUS_SHARDS", "PRODUCT_SHARDS"].map(|name| {
        let declared = stack.template().functions.iter().find_map(|function| function.environment.get(name));
        (name, declared.cloned().unwrap_or_else(|| "1".to_owned()))
    });
    let mut command = Command::new(std::env::current_exe().context("where this program is")?);
    command.args(arguments).arg(file).envs(of_functions).envs(operator).envs(shards);
    let output = command.stderr(Stdio::inherit()).output().await?;
    ensure!(output.status.success(), "{arguments:?} failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Imports or exports the file, and prints the figures.
pub(crate) async fn run_step(arguments: &StepArguments) -> Result<()> {
    let environment = Environment::of_process();
    let (began, cpu) = (Instant::now(), ProcessTime::now());
    let (records, units) = if arguments.export {
        let mut out = BufWriter::new(File::create(&arguments.file)?);
        (history::export(&environment, &mut out, |_| ()).await?.values().sum(), 0.0)
    } else {
        let options = history::Options::default();
        let files = std::slice::from_ref(&arguments.file);
        let tell = |outcome: &history::Outcome| match &outcome.result {
            Placement::Refused(reason) => Err(anyhow::anyhow!("{}: {reason}", outcome.line)),
            _ => Ok(()),
        };
        let summary = history::import(&environment, files, &options, tell).await?;
        (summary.new, summary.units.table)
    };
    let (seconds, cpu, memory) = (began.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64(), most_memory("self")?);
    crate::print(&serde_json::to_string(&Figures { seconds, records, units, cpu, memory })?)
}
