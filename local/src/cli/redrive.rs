//! `cargo local redrive`: dead letters go back to their queues.

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use local::redrive::Step;

use super::{DEFAULT_PORT, print};

/// Move every dead letter of the running stack back to its queue
///
/// For when what made them fail is mended. They are consumed again as if they were new.
#[derive(Args)]
pub(super) struct Arguments {
    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
}

/// A dead-letter queue on its way to be empty.
struct Progress {
    from: String,
    to: String,
    moved: u64,
    /// How many there were when this began. What dies again meanwhile is for the next time.
    total: u64,
}

/// Moves batch after batch, draws how far it is, and says at the end how many there were.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let stack = Stack::at(arguments.port)?;
    let mut queues: Vec<_> = stack.step().await?.into_iter().map(Progress::begin).collect();
    ensure!(
        !queues.is_empty(),
        "no queue of the stack at {} has a dead-letter queue: there is nothing to move",
        stack.url
    );

    // On a terminal only; it draws to standard error.
    let bar = ProgressBar::new(queues.iter().map(|queue| queue.total).sum());
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} messages")?);
    loop {
        bar.set_position(queues.iter().map(|queue| queue.moved).sum());
        if queues.iter().all(|queue| queue.moved >= queue.total) {
            break;
        }
        let steps = stack.step().await?;
        if steps.iter().all(|step| step.moved == 0) {
            break;
        }
        for (queue, step) in queues.iter_mut().zip(steps) {
            queue.moved += step.moved;
        }
    }
    bar.finish_and_clear();
    queues.iter().try_for_each(|queue| print(&queue.summary()))
}

impl Progress {
    fn begin(first: Step) -> Self {
        let Step { from, to, moved, left } = first;
        Self { from, to, moved, total: moved + left }
    }

    fn summary(&self) -> String {
        let Self { from, to, moved, .. } = self;
        let none = if *moved == 0 { ": there were none" } else { "" };
        format!("moved {moved} messages from {from} to {to}{none}\n")
    }
}

/// The running stack, as its HTTP API shows it.
struct Stack {
    client: reqwest::Client,
    url: String,
}

impl Stack {
    fn at(port: u16) -> Result<Self> {
        let client = reqwest::Client::builder().no_proxy().build().context("cannot make an HTTP client")?;
        Ok(Self { client, url: format!("http://127.0.0.1:{port}") })
    }

    async fn step(&self) -> Result<Vec<Step>> {
        let Self { client, url } = self;
        let answer = client.post(format!("{url}/_local/redrive")).send().await;
        let answer = answer.map_err(reqwest::Error::without_url).with_context(|| {
            format!("no stack answers at {url}: start one with cargo local, or name its port with --port")
        })?;
        let status = answer.status();
        ensure!(status.is_success(), "the stack at {url} answered {status}: its log says why");
        answer
            .json()
            .await
            .with_context(|| format!("what answers at {url} is not cargo local: name its port with --port"))
    }
}
