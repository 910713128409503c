//! `cargo measure load`: how many requests the laptop's stack answers, how fast, and whether its books are right after.
//!
//! A closed loop: every worker sends its next request when it has the answer to the last one, as people in a shop do.
//! So it shows what the stack can do, and not how long a queue gets when more is asked of it than that.

mod judge;
mod report;
mod run;
mod shop;
mod tally;
mod traffic;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::value::Timestamp;
use local::Stack;
use local::audit::{Report, audit};
use tokio::task::JoinSet;

use self::run::{End, Run, show, work};
use self::shop::Shop;
use self::tally::Tally;
use self::traffic::{Crowd, Mix, Shopper, Tastes};
use crate::workspace;

/// How often the line that is shown changes, and what its rate and latencies are of.
const TICK: Duration = Duration::from_secs(1);

/// How long the counts of what was ordered may take.
const SETTLING: Duration = Duration::from_mins(10);

/// Ask as much of the laptop's stack as it can answer, and check its books afterwards
///
/// Without --url it starts a stack of its own, in memory, and audits its whole table at the end. Each run makes
/// products and customers of its own. An answer that should not be is an error, and so is a stock that is not what was
/// sold. Ctrl-C ends it early.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A cargo local that runs already: <http://127.0.0.1:3000>, say [default: one of its own]
    #[arg(long)]
    url: Option<String>,

    /// How many send requests at the same time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    workers: u32,

    /// For how long
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,

    /// How many requests, instead of for how long
    #[arg(long, conflicts_with = "seconds")]
    requests: Option<u64>,

    /// What is asked for
    #[arg(long, value_enum, default_value_t = Mix::All)]
    mix: Mix,

    /// How many products there are
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    products: u32,

    /// How many customers there are
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    customers: u32,

    /// How much more is asked of some products and customers than of others: the exponent of Zipf's invariant, 0 for none
    #[arg(long, default_value_t = 1.0)]
    skew: f64,

    /// How many units there are of each product
    #[arg(long, default_value_t = 1_000_000)]
    stock: u32,

    /// What is chosen by chance is the same for the same seed and answers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Starts a stack unless there is one, runs, reports, and checks.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    if let Some(url) = &arguments.url {
        let (text, verdict) = drive(arguments, url).await?;
        super::print(&text)?;
        return verdict;
    }
    let stack = workspace::stack().await?;
    let (text, verdict) = drive(arguments, stack.url()).await?;
    super::print(&text)?;
    let audited = check(&stack).await;
    stack.shutdown().await?;
    verdict.and(audited)
}

/// Runs, and answers what is to be printed, and whether everything was as it should be.
async fn drive(arguments: &Arguments, url: &str) -> Result<(String, Result<()>)> {
    let Arguments { workers, seconds, requests, mix, products, customers, skew, stock, seed, .. } = *arguments;
    let crowd = Crowd { products: products.try_into()?, customers: customers.try_into()?, skew };
    let tastes = Arc::new(Tastes::of(crowd)?);
    let bar = bar("{spinner} making the shop: {pos} of {len}", Some(u64::from(products) + u64::from(customers)))?;
    let shop = Shop::open(url, crowd, stock, || bar.inc(1)).await?;
    let before = shop.available().await?;
    bar.finish_and_clear();

    let end = match requests {
        Some(limit) => End::Requests { limit, begun: AtomicU64::new(0) },
        None => End::After(Duration::from_secs(seconds)),
    };
    let bar = self::bar("{wide_bar} {msg}", Some(requests.unwrap_or(seconds * 1000)))?;
    let tally = Mutex::new(Tally::new(crowd.products)?);
    let run = Arc::new(Run { shop, end, began: Instant::now(), tally, bar });

    let mut seeds = Rng::with_seed(seed);
    let mut working = JoinSet::new();
    for number in 0..u64::from(workers) {
        let shopper = Shopper::new(number, seeds.u64(..), mix, Arc::clone(&tastes));
        working.spawn(work(Arc::clone(&run), shopper));
    }
    let showing = tokio::spawn(show(Arc::clone(&run)));
    let interrupted = tokio::select! {
        () = async { while working.join_next().await.is_some() {} } => false,
        interrupt = tokio::signal::ctrl_c() => { interrupt.context("cannot listen for Ctrl-C")?; true }
    };
    let took = run.began.elapsed();
    showing.abort();
    run.bar.finish_and_clear();
    working.shutdown().await;

    let after = run.shop.available().await?;
    let tally = run.tally();
    let mut text = report::report(&tally, took);
    let verdict = balanced(&tally, &before, &after, interrupted);
    text.push_str(match (&verdict, tally.books.unknown) {
        (Ok(()), 0) if !interrupted => "\nthe stock is what it was, without what was sold\n",
        (Ok(()), _) => "\nthe stock was not checked: some orders may have been placed, or not\n",
        (Err(_), _) => "",
    });
    let errors = tally.errors;
    let verdict = if errors > 0 { Err(anyhow::anyhow!("{errors} answers should not be")) } else { verdict };
    Ok((text, verdict))
}

/// Whether the stock is what it was, without what was sold. It cannot be known after an answer that was lost.
fn balanced(tally: &Tally, before: &[i64], after: &[i64], interrupted: bool) -> Result<()> {
    if interrupted || tally.books.unknown > 0 {
        return Ok(());
    }
    let sold: Vec<i64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
    for (rank, (sold, ordered)) in sold.iter().zip(&tally.books.sold).enumerate() {
        ensure!(sold == ordered, "product {rank}: {sold} units left the stock, and {ordered} were ordered");
    }
    Ok(())
}

/// Audits the whole table, when everything is counted.
async fn check(stack: &Stack) -> Result<()> {
    let bar = bar("{spinner} waiting until the stream is counted, {elapsed}", None)?;
    bar.enable_steady_tick(TICK);
    let began = Instant::now();
    let settled = stack.settle(SETTLING).await;
    bar.finish_and_clear();
    settled?;
    let counted = began.elapsed();

    let bar = self::bar("{spinner} auditing: {pos} items", None)?;
    let (operator, table) = (workspace::operator(stack.dynamodb_url()), stack.template().table_name());
    let report = audit(&operator, table, Timestamp::now(), |items| bar.set_position(items)).await?;
    bar.finish_and_clear();
    let Report { items, orders, breaches, .. } = report;
    super::print(&format!(
        "the stream was counted {:.1} s later\naudit: {items} items, {orders} orders, {} breaches of the shop's invariants\n",
        counted.as_secs_f64(),
        breaches.len()
    ))?;
    for breach in &breaches {
        super::print(&format!("{breach}\n"))?;
    }
    if !breaches.is_empty() {
        bail!("the table breaks the shop's invariants");
    }
    Ok(())
}

/// Something that is shown on a terminal only; it draws to standard error.
fn bar(template: &str, length: Option<u64>) -> Result<ProgressBar> {
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.set_style(ProgressStyle::with_template(template)?);
    Ok(bar)
}

#[cfg(test)]
#[path = "load/tests.rs"]
mod tests;
