//! `cargo measure growth`: checks that an operation costs the same in a large table as in a small one.

mod fill;
mod probe;
mod report;
mod shop;
#[cfg(test)]
mod tests;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use devstack::{Options, Stack};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use self::probe::Measured;
use self::shop::Shop;
use crate::figures::most_memory;
use crate::{print, workspace};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The number of orders of each shop
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000, 1_000_000])]
    orders: Vec<usize>,
    /// The repetitions of each operation; the figures are medians
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// The folder for the tables, with some 11 KB for each order
    #[arg(long, default_value = "target/measure")]
    data: PathBuf,
    /// Keep the tables, to measure again without filling them
    #[arg(long)]
    keep: bool,
    /// Measure one filled table, and print the figures; the program calls itself with this
    #[arg(long, hide = true)]
    probe: bool,
}

/// The figures of one size.
#[derive(Serialize, Deserialize)]
struct Size {
    orders: usize,
    /// The size of the table with its indexes on disk.
    bytes: u64,
    /// The time to fill the table.
    filled: Duration,
    /// The peak memory of the process with gateway, functions and engine.
    resident: u64,
    operations: Vec<Measured>,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let Arguments { orders, rounds, data, keep, probe } = arguments;
    let mut sizes = Vec::new();
    for orders in orders {
        let data = data.join(format!("growth-{orders}"));
        if probe {
            print(&serde_json::to_string(&measure(&data, orders, rounds).await?)?)?;
            continue;
        }
        let filled = fill_once(&data, orders).await?;
        // In a process of its own, because its memory is one of the figures.
        eprintln!("{orders} orders: measuring every route {rounds} times");
        let program = std::env::current_exe()?;
        let mut child = Command::new(program);
        child.args(["growth", "--probe", "--orders", &orders.to_string(), "--rounds", &rounds.to_string(), "--data"]);
        let child = child.arg(data.parent().context("a folder")?).stderr(Stdio::inherit()).output()?;
        ensure!(
            child.status.success(),
            "measuring {orders} orders failed. Its table is kept in {}, where the same command measures it again",
            data.display()
        );
        let size: Size = serde_json::from_slice(&child.stdout)?;
        sizes.push(Size { filled, ..size });
        if !keep {
            fs::remove_dir_all(&data)?;
        }
    }
    if probe {
        return Ok(());
    }
    print(&report::tables(&sizes)?.join("\n"))
}

/// Fills the table in this folder, unless it is already filled, and returns the duration.
async fn fill_once(data: &Path, orders: usize) -> Result<Duration> {
    let mark = data.join("filled-in-seconds");
    if let Ok(seconds) = fs::read_to_string(&mark) {
        return Ok(Duration::from_secs(seconds.trim().parse()?));
    }
    if data.exists() {
        fs::remove_dir_all(data)?;
    }
    let started = Instant::now();
    let stack = open(Some(data)).await?;
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}, {eta} left")?;
    let bar = ProgressBar::new(u64::try_from(orders)?).with_style(style).with_message("orders");
    fill::fill(
        stack.database().context("there is no engine")?,
        stack.template().table_name(),
        &Shop::new(orders)?,
        &bar,
    )?;
    bar.finish_and_clear();
    stack.shutdown().await?;
    fs::write(mark, started.elapsed().as_secs().to_string())?;
    Ok(started.elapsed())
}

async fn measure(data: &Path, orders: usize, rounds: usize) -> Result<Size> {
    let stack = open(Some(data)).await?;
    let operations = workload::run(&stack, &Shop::new(orders)?, rounds).await?;
    let bytes = stack.database().context("there is no engine")?.db_size_bytes()?;
    stack.shutdown().await?;
    Ok(Size { orders, bytes, filled: Duration::ZERO, resident: most_memory("self")?, operations })
}

/// The stack of `cargo local`, without the consumers of the stream, so that only the routes write to the table.
async fn open(data: Option<&Path>) -> Result<Stack> {
    let mut template = workspace::template()?;
    template.stream_sources.iter_mut().for_each(|source| source.enabled = false);
    let options = Options { inject_faults: true, data: data.map(Path::to_owned), ..local::options(template) };
    workspace::stack_with(options).await
}
