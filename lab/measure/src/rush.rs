//! `cargo measure rush`: simulates a rush for one product, while staff change its price and restock it.
//!
//! The functions are Till's own, with the SDK, the retries and the settings of the template. Only their requests do not
//! leave the process: a simulated wire answers them in simulated time. Items, conditions and transactions are those of the
//! embedded engine. On top of it are what limits a hot product on AWS:
//!
//! - A transaction locks its items from prepare to commit, and others that want them are cancelled, as in
//!   `cargo measure counting`: <https://www.usenix.org/system/files/atc23-idziorek.pdf>.
//! - Each partition key has 1,000 write units and 3,000 read units a second, in the table and in each index:
//!   <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>.
//! - The environments of `place-order` are limited, and API Gateway answers 503 beyond them.
//!
//! docs/scale.md has the results, and lists what is not modelled.

mod crowd;
mod locks;
mod partitions;
mod queue;
mod report;
mod shop;
#[cfg(test)]
mod tests;
mod wire;

use anyhow::Result;
use clap::Args;

use self::report::Report;
use crate::show;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The orders a second of the product
    #[arg(long, default_value_t = 10_000)]
    rate: u32,
    /// The seconds for which they come
    #[arg(long, default_value_t = 1)]
    seconds: u32,
    /// Writes the table into docs/scale.md
    #[arg(long)]
    docs: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let report = Report::new(arguments.rate, arguments.seconds)?;
    show(&report.tables(), arguments.docs)
}
