//! `cargo measure soak`: checks that a shop's data stays correct over a long time, while calls fail and the whole stack
//! is killed repeatedly.
//!
//! The stack is a process of its own, with its data on disk. Shoppers send all kinds of requests, and retry each until
//! it is answered. At the end the faults stop, the consumers finish their work, and the table is compared with every
//! answer.

mod books;
mod payer;
mod process;
mod reckoning;
mod shop;
mod shopper;
mod stack;
mod storm;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;

use self::books::Books;
use self::payer::Payer;
use self::process::Process;
use self::shop::{Shop, open};
use self::shopper::Shopper;
pub(crate) use self::stack::{Arguments as StackArguments, run as run_stack};
use self::storm::Storm;

/// The longest wait for unanswered requests after the faults stop, and for the consumers after that.
const PATIENCE: Duration = Duration::from_mins(5);

const PAGE: &str = "docs/soak.md";

/// Buy and sell for minutes or hours while calls fail and the stack is killed; then compare the table with every answer
///
/// The run begins with a calm phase without faults, in which a 503 is an error.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The duration
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,

    /// The number of concurrent shoppers, and half the number of payers
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=200))]
    workers: u64,

    /// The share of the calls of DynamoDB, SQS and EventBridge that fail
    #[arg(long, default_value_t = 0.03)]
    faults: f64,

    /// The seed of random choices [default: a new one]
    #[arg(long)]
    seed: Option<u64>,

    /// The machine does other work: a 503 in the calm phase is reported, but is no error
    #[arg(long)]
    busy: bool,

    /// Writes the report into docs/soak.md
    #[arg(long)]
    docs: bool,
}

/// Runs, reports, and fails if a check failed.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { minutes, workers, faults, busy, docs, .. } = *arguments;
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    super::print(&format!("seed {seed}\n"))?;
    let data = std::env::temp_dir().join(format!("till-soak-{}-{seed}", std::process::id()));
    let outcome = soak(Duration::from_secs(60 * minutes), workers, faults, seed, &data).await;
    let (books, rest) = match outcome {
        Ok(done) => done,
        Err(error) => return Err(error.context(format!("the data is in {}", data.display()))),
    };
    let report = books.report(&rest);
    super::print(&report)?;
    if docs {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
        let text = std::fs::read_to_string(&page).context(PAGE)?;
        let kept = text.split("<!-- report -->").next().unwrap_or_default();
        let command = format!("cargo measure soak --minutes {minutes} --workers {workers} --seed {seed}");
        std::fs::write(&page, format!("{kept}<!-- report -->\n\n    {command}\n\n```text\n{report}```\n"))?;
    }
    let calm = books.calm_refusals.load(Relaxed);
    let complaints = books.complaints();
    if !complaints.is_empty() || (calm > 0 && !busy) {
        bail!(
            "{} things are not as they should be, seed {seed}; the data is in {}",
            complaints.len() as u64 + calm,
            data.display()
        );
    }
    std::fs::remove_dir_all(&data).context("cannot remove the data")
}

/// Figures of the report that the books do not have.
struct Rest {
    took: Duration,
    kills: u64,
    injected: u64,
    items: u64,
    orders: u64,
    money: String,
}

async fn soak(time: Duration, workers: u64, faults: f64, seed: u64, data: &Path) -> Result<(Arc<Books>, Rest)> {
    let mut random = Rng::with_seed(seed);
    let (calm, kill_after) = (time / 10, Duration::from_mins(1).min(time / 6));
    let bar = ProgressBar::new(time.as_secs());
    bar.set_style(ProgressStyle::with_template("{wide_bar} {elapsed} of {len} s, {eta} left  {msg}")?);

    let storm = Arc::new(Storm::start().await?);
    let mut process = Process::start(data, &storm, 0.0, random.u64(..)).await?;
    let books = Arc::new(Books::default());
    let shop = Arc::new(open(&process, Arc::clone(&books)).await?);
    let began = Instant::now();
    let mut working = JoinSet::new();
    for number in 0..workers {
        let shopper = Shopper::new(number, random.u64(..), Arc::clone(&shop));
        working.spawn(shopper.work(began + time));
    }
    for number in workers..3 * workers {
        let shopper = Shopper::new(number, random.u64(..), Arc::clone(&shop));
        working.spawn(Payer::new(shopper, Arc::clone(&storm)).work(began + time));
    }
    working.spawn(run_schedules(Arc::clone(&shop), began + time));
    let (mut kills, mut injected) = (0, 0);
    wait(&bar, &books, calm).await;
    books.is_calm.store(false, Relaxed);
    let raging = (Arc::clone(&storm), random.fork());
    working.spawn(async move { raging.0.rage(3.0 * faults, raging.1, began + time).await });
    while began.elapsed() < time {
        injected += process.kill().await?;
        kills += 1;
        process = Process::start(data, &storm, faults, random.u64(..)).await?;
        wait(&bar, &books, kill_after.min(time.saturating_sub(began.elapsed()))).await;
    }
    // Outstanding requests are answered now, because there are no more faults.
    process.heal().await?;
    let finished = tokio::time::timeout(PATIENCE, async { while working.join_next().await.is_some() {} }).await;
    finished.context("some requests are never answered")?;
    reckoning::close_all(&shop, &storm, &mut process).await?;
    injected += process.settle().await?;
    bar.finish_and_clear();
    let (items, orders, money) = shop.check(&process, &storm).await?;
    process.stop().await?;
    Ok((books, Rest { took: began.elapsed(), kills, injected, items, orders, money }))
}

/// Runs the schedules of payments, far more often than in a deployment.
async fn run_schedules(shop: Arc<Shop>, end: Instant) {
    while Instant::now() < end {
        for function in ["expire-orders", "settle-payments"] {
            tokio::time::sleep(Duration::from_secs(3)).await;
            shop.run_schedule(function).await;
        }
    }
}

async fn wait(bar: &ProgressBar, books: &Books, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(500).min(time)).await;
        bar.set_position(bar.elapsed().as_secs());
        bar.set_message(books.line());
    }
}
