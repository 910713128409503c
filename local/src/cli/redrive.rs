//! `cargo local redrive`: moves dead letters back to their queues.

use anyhow::{Result, ensure};
use clap::Args;
use devstack::redrive::Step;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::stack::Stack;
use super::{DEFAULT_PORT, print};

/// Move every dead letter of the running stack back to its queue
///
/// Use it after the cause of their failure is repaired. The messages are consumed again as if they were new.
#[derive(Args)]
pub(super) struct Arguments {
    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
}

/// The progress of one dead-letter queue.
struct Progress {
    from: String,
    to: String,
    moved: u64,
    /// The number of messages at the start. Messages that fail again meanwhile are left for the next run.
    total: u64,
}

/// Moves the messages in batches, draws a progress bar, and prints how many were moved.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let stack = Stack::at(arguments.port)?;
    let mut queues: Vec<_> = step(&stack).await?.into_iter().map(Progress::begin).collect();
    ensure!(
        !queues.is_empty(),
        "no queue of the stack at {} has a dead-letter queue: there is nothing to move",
        stack.url()
    );

    // Drawn to standard error, and only on a terminal.
    let bar = ProgressBar::new(queues.iter().map(|queue| queue.total).sum());
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} messages")?);
    loop {
        bar.set_position(queues.iter().map(|queue| queue.moved).sum());
        if queues.iter().all(|queue| queue.moved >= queue.total) {
            break;
        }
        let steps = step(&stack).await?;
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

async fn step(stack: &Stack) -> Result<Vec<Step>> {
    Ok(serde_json::from_value(stack.ask("/_local/redrive", &Value::Null).await?)?)
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
