//! `cargo measure move`: moves a shop from one table to the other while customers use it, and reports what they and the
//! tables notice.

mod customers;
mod drive;
mod log;
mod plot;
mod report;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use copying::Mover;
use copying::steps::SETTLE;
use devstack::{FaultProxy, Options, Stack};
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::{Repair, Side};
use key_schema::layout::RepairsDue;
use key_schema::value::Timestamp;
use lambda::{Environment, FromEnvironment as _};
use table::Pairs;
use tokio::time::{Instant, interval, sleep};

use self::customers::Customers;
use self::drive::{Operator, Speed};
use self::log::{Lag, Log, Who};
use self::report::{Moved, report};
use crate::load::shop::Shop;
use crate::load::traffic::Crowd;
use crate::{growth, workspace};

const CROWD: Crowd = Crowd { products: 100, customers: 100, skew: 1.0 };

/// The units of each product of the load.
const STOCK: u32 = 1_000_000;

/// The longest wait for the streams' consumers.
const PATIENCE: Duration = Duration::from_mins(30);

/// Move a shop to another table while customers use it, and report what they and the tables notice
///
/// The shop is filled with orders. Then customers send requests at a steady rate, while an operator goes through all
/// phases as `cargo local migrate` does. Without an optimised build the figures mean little: cargo run --profile measure
/// --package measure -- move
#[derive(Args)]
pub(crate) struct Arguments {
    /// The number of orders before the move
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    orders: u32,

    /// The requests of the customers in each second
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,

    /// The time after each step before the next one, in seconds
    #[arg(long, default_value_t = SETTLE.as_secs())]
    settle: u64,

    /// The time for which nothing is done in the first phase, in nextLeads and in the last phase, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    rest: u64,

    /// The number of segments of the table that are copied at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    segments: u8,

    /// The most read units in each second for copying and comparing
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    read_units: u32,

    /// The most write units in each second for copying
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    write_units: u32,

    /// The seed of random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// A new folder for the tables [default: in memory]
    #[arg(long)]
    data: Option<PathBuf>,

    /// Writes the tables into docs/migrating.md, and draws docs/move.svg
    #[arg(long)]
    docs: bool,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build, which measures debugging: see cargo measure move --help");
    }
    // Of the functions, too. The embedded engine warns about each condition that does not hold.
    local::log_to_stderr("warn,dynoxide=error");
    let template = workspace::template_for_load("v1-v2")?;
    let data = arguments.data.clone();
    let stack = workspace::stack_with(Options { data, inject_faults: true, ..local::options(template) }).await?;
    let outcome = Box::pin(measure(arguments, &stack)).await;
    stack.shutdown().await?;
    let moved = outcome?;
    let tables = report(&moved)?;
    for (name, table) in &tables {
        crate::print(&format!("{name}\n\n{table}\n"))?;
    }
    if arguments.docs {
        docs_check::write("migrating.md", &tables)?;
        let picture = plot::picture(&moved.events, moved.end)?;
        fs::write(docs_check::file("move.svg"), picture).context("docs/move.svg cannot be written")?;
    }
    let differences: u64 = moved.events.runs.iter().map(|run| run.differences).sum();
    ensure!(differences == 0, "{differences} items differ");
    let errors = moved.events.requests.iter().filter(|request| !request.is_expected).count();
    ensure!(errors == 0, "{errors} answers should not be");
    Ok(())
}

async fn measure(arguments: &Arguments, stack: &Stack) -> Result<Moved> {
    let &Arguments { orders, rate, settle, rest, segments, read_units, write_units, seed, .. } = arguments;
    let bar = ProgressBar::new(orders.into())
        .with_style(ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}, {eta} left")?)
        .with_message("orders");
    let database = stack.database().context("there is no engine")?;
    growth::fill_table(database, stack.template().table_name(), orders.try_into()?, &bar)?;
    bar.finish_and_clear();

    let shop = Shop::open(stack.url(), CROWD, STOCK, || {}).await?;
    // The operator's calls go through a proxy of their own, which tells them from those of the shop.
    let beside = FaultProxy::start(stack.dynamodb_url()).await?;
    let of_tables = |url: &str| tables(stack, workspace::operator(url));
    let pairs = Pairs::from_environment(&of_tables(beside.url())?)?;
    let unmetered = Pairs::from_environment(&of_tables(stack.dynamodb_url())?)?;
    take_calls(stack, &beside);

    let log = Arc::new(Log::new(pairs.name(Side::First)));
    let mover = Mover::new(pairs.clone(), Duration::from_secs(settle));
    let speed = Speed { segments, read_units, write_units };
    let operator = Operator { pairs, mover, speed, log: Arc::clone(&log) };
    let customers = Customers::start(shop, CROWD, rate, seed, &log)?;
    tokio::select! {
        done = operator.go(Duration::from_secs(rest)) => done?,
        failed = operator.repair() => failed.map(|never| match never {})?,
        never = watch_units(stack, &beside, &log) => match never {},
        never = watch_repairs(&unmetered, &log) => match never {},
        failed = watch_streams(stack, &log) => failed.map(|never| match never {})?,
    }
    let end = log.now();
    customers.stop().await;
    add_calls(stack, &beside, &log);
    stack.settle(PATIENCE).await?;
    drop(operator);
    let log = Arc::into_inner(log).context("the customers are gone")?;
    Ok(Moved { orders, rate, settle, rest, speed, end, events: log.into_events() })
}

/// The environment with both tables of the stack.
fn tables(stack: &Stack, operator: Environment) -> Result<Environment> {
    let of_functions = &stack.template().functions.first().context("a function")?.environment;
    let names = ["TABLE_NAME", "TABLE_LAYOUT", "NEXT_TABLE_NAME", "NEXT_TABLE_LAYOUT"];
    let variables = names.into_iter().filter_map(|name| Some((name.to_owned(), of_functions.get(name)?.clone())));
    Ok(operator.with(variables))
}

fn take_calls(stack: &Stack, beside: &FaultProxy) -> [(Who, Vec<devstack::fault_proxy::Call>); 2] {
    let of_shop = stack.fault_proxy().map(FaultProxy::take_calls).unwrap_or_default();
    [(Who::Shop, of_shop), (Who::Operator, beside.take_calls())]
}

fn add_calls(stack: &Stack, beside: &FaultProxy, log: &Log) {
    for (who, calls) in take_calls(stack, beside) {
        log.calls(who, &calls);
    }
}

async fn watch_units(stack: &Stack, beside: &FaultProxy, log: &Log) -> Infallible {
    let mut seconds = interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        add_calls(stack, beside, log);
    }
}

/// Looks for the oldest repair that is due.
async fn watch_repairs(pairs: &Pairs, log: &Log) -> Infallible {
    loop {
        let at = log.now();
        let mut oldest: Option<Timestamp> = None;
        for side in [Side::First, Side::Next] {
            for shard in 0..Repair::SHARDS {
                // A look that is not answered is made again after a second.
                let first = pairs.list(side, &RepairsDue { shard }, None, 1).await;
                let since = first.ok().and_then(|(repairs, _)| Some(repairs.first()?.since));
                oldest = [oldest, since].into_iter().flatten().min();
            }
        }
        let age = oldest.map_or(0, |since| Timestamp::now().as_millisecond() - since.as_millisecond());
        log.lag(Lag::Repair { at, age: Duration::from_millis(u64::try_from(age).unwrap_or(0)) });
        sleep(Duration::from_secs(1)).await;
    }
}

/// Measures how far the consumers of the streams are behind.
async fn watch_streams(stack: &Stack, log: &Log) -> Result<Infallible> {
    loop {
        let (at, began) = (log.now(), Instant::now());
        stack.settle_streams(PATIENCE).await?;
        log.lag(Lag::Stream { at, took: began.elapsed() });
        sleep(Duration::from_secs(2)).await;
    }
}
