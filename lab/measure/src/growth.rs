//! `cargo measure growth`: checks that an operation, and each item of a walk, costs the same in a large table as in a small
//! one.

mod fill;
mod probe;
mod report;
mod shop;
#[cfg(test)]
mod tests;
mod walks;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use devstack::{Options, Stack};
use indicatif::{ProgressBar, ProgressStyle};

use self::probe::Measured;
use self::shop::Shop;
use crate::{print, workspace};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The number of orders of each shop
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000, 1_000_000])]
    orders: Vec<usize>,
    /// The repetitions of each operation, all of which must have the same units
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The folder for the tables, with some 11 KB for each order
    #[arg(long, default_value = "target/measure")]
    data: PathBuf,
    /// Keep the tables, to measure again without filling them
    #[arg(long)]
    keep: bool,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let Arguments { orders, rounds, data, keep } = arguments;
    let (mut sizes, mut walked) = (Vec::new(), Vec::new());
    for orders in orders {
        let data = data.join(format!("growth-{orders}"));
        fill_once(&data, orders).await?;
        eprintln!("{orders} orders: measuring every route {rounds} times");
        let kept = || format!("{orders} orders: the table is kept in {}, for the same command", data.display());
        walked.push(walks::measure(&data).await.with_context(kept)?);
        sizes.push((orders, measure(&data, orders, rounds).await.with_context(kept)?));
        if !keep {
            fs::remove_dir_all(&data)?;
        }
    }
    print(&report::costs(sizes.iter().map(|(orders, operations)| (*orders, operations.as_slice())))?)?;
    print("\n")?;
    print(&walks::report(&walked)?)
}

/// Fills the table in this folder, unless it is already filled.
async fn fill_once(data: &Path, orders: usize) -> Result<()> {
    let mark = data.join("filled");
    if mark.exists() {
        return Ok(());
    }
    if data.exists() {
        fs::remove_dir_all(data)?;
    }
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
    fs::write(mark, "")?;
    Ok(())
}

async fn measure(data: &Path, orders: usize, rounds: usize) -> Result<Vec<Measured>> {
    let stack = open(Some(data)).await?;
    let operations = workload::run(&stack, &Shop::new(orders)?, rounds).await?;
    stack.shutdown().await?;
    Ok(operations)
}

/// The stack of `cargo local`, without the consumers of the stream, so that only the routes write to the table.
async fn open(data: Option<&Path>) -> Result<Stack> {
    let mut template = workspace::template()?;
    template.stream_sources.iter_mut().for_each(|source| source.enabled = false);
    let options = Options { inject_faults: true, data: data.map(Path::to_owned), ..local::options(template) };
    workspace::stack_with(options).await
}
