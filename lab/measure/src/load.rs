//! `cargo measure load`: measures the throughput and latency of the laptop's stack, and checks its data afterwards.
//!
//! A closed loop: every worker sends its next request after the answer to the last one, as customers do. So this
//! measures the capacity of the stack, and not its behaviour under overload.

pub(crate) mod judge;
mod report;
mod run;
pub(crate) mod shop;
mod tally;
pub(crate) mod traffic;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use devstack::Stack;
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::value::Timestamp;
use local::audit::{Report, audit};
use tokio::task::JoinSet;

use self::run::{End, Run, show, work};
use self::shop::Shop;
use self::tally::Tally;
use self::traffic::{Crowd, Mix, Shopper, Tastes};
use crate::workspace;

/// The interval of the progress line.
const TICK: Duration = Duration::from_secs(1);

/// The longest wait for the counts of the orders.
const SETTLING: Duration = Duration::from_mins(10);

/// Load the laptop's stack, and check its data afterwards
///
/// Without --url it starts a stack of its own, in memory, and audits its whole table at the end. Each run creates its
/// own products and customers. An unexpected answer is an error, and so is a stock that does not match the sales.
/// Ctrl-C ends the run early.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The URL of a running cargo local, for example <http://127.0.0.1:3000> [default: start one]
    #[arg(long)]
    url: Option<String>,

    /// The number of concurrent workers
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    workers: u32,

    /// The duration
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,

    /// The number of requests, instead of a duration
    #[arg(long, conflicts_with = "seconds")]
    requests: Option<u64>,

    /// The mix of requests
    #[arg(long, value_enum, default_value_t = Mix::All)]
    mix: Mix,

    /// The number of products
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    products: u32,

    /// The number of customers
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    customers: u32,

    /// The skew of popularity of products and customers: the exponent of Zipf's law, 0 for no skew
    #[arg(long, default_value_t = 1.0)]
    skew: f64,

    /// The units of each product
    #[arg(long, default_value_t = 1_000_000)]
    stock: u32,

    /// The seed of random choices; with the same seed and answers the requests are the same
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Starts a stack unless a URL is given, runs the load, reports, and checks.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    if let Some(url) = &arguments.url {
        let (text, verdict) = drive(arguments, url).await?;
        super::print(&text)?;
        return verdict;
    }
    let stack = workspace::stack_with(local::options(workspace::template_for_load()?)).await?;
    let (text, verdict) = drive(arguments, stack.url()).await?;
    super::print(&text)?;
    let audited = check(&stack).await;
    stack.shutdown().await?;
    verdict.and(audited)
}

/// Runs the load, and returns the report and whether every check passed.
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

/// Checks that the stock is the initial one less the sold units. After a lost answer that is unknown.
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

/// Audits the whole table, after everything is counted.
async fn check(stack: &Stack) -> Result<()> {
    let bar = bar("{spinner} waiting until the stream is counted, {elapsed}", None)?;
    bar.enable_steady_tick(TICK);
    let began = Instant::now();
    let settled = stack.settle(SETTLING).await;
    bar.finish_and_clear();
    settled?;
    let counted = began.elapsed();

    let bar = self::bar("{spinner} auditing: {pos} items", None)?;
    let operator = workspace::operator_of(stack.dynamodb_url(), stack.template().table_name());
    let report = audit(&operator, Timestamp::now(), |items| bar.set_position(items)).await?;
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

/// A progress bar, drawn to standard error, and only on a terminal.
fn bar(template: &str, length: Option<u64>) -> Result<ProgressBar> {
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.set_style(ProgressStyle::with_template(template)?);
    Ok(bar)
}

#[cfg(test)]
#[path = "load/tests.rs"]
mod tests;
