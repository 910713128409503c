//! `cargo measure counting`: simulates how many orders a second are counted, with any number of stream shards.
//!
//! The simulation does no input or output: the same seed gives the same result on any machine. The consumers drive the
//! state machines of [`counting`], as `count-orders` does, and Lambda delivers batches as `template.yaml` configures it.
//! The table has transactions like DynamoDB's: a transaction locks all of its items or is cancelled. A lock lasts from
//! prepare to commit, and a transaction that is cancelled holds the items that it has locked for as long as any other
//! one: <https://www.usenix.org/system/files/atc23-idziorek.pdf>.
//!
//! docs/scale.md lists what is not modelled.

mod consumers;
mod event;
mod orders;
mod report;
mod table;
#[cfg(test)]
mod tests;

use anyhow::Result;
use clap::Args;

use self::report::Report;
use crate::show;

/// The seed of the page.
const SEED: u64 = 7;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The seed of everything random; the same seed gives the same result
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Writes the tables into docs/scale.md
    #[arg(long)]
    docs: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let report = Report::new(arguments.seed)?;
    show(&report.tables(), arguments.docs)
}
