//! The operator: the steps of a move, its runs and its repairs, as `cargo local migrate --here` does them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use copying::steps::Obstacle;
use copying::{Copier, Error, Mover, Pace, Repairs};
use futures_util::future::try_join_all;
use key_schema::entity::{CopyTask, Phase};
use lambda::{Failure as _, Remedy};
use table::Pairs;
use tokio::time::{Instant, sleep};
use tracing::warn;

use super::log::Log;

/// The pause between two rounds of repairs, and between two looks at what a step waits for.
const BETWEEN_ROUNDS: Duration = Duration::from_secs(2);

/// The longest that one round of repairs takes.
const ROUND: Duration = Duration::from_mins(1);

/// How fast the tables are copied and compared.
#[derive(Clone, Copy)]
pub(super) struct Speed {
    pub(super) segments: u8,
    pub(super) read_units: u32,
    pub(super) write_units: u32,
}

pub(super) struct Operator {
    pub(super) pairs: Pairs,
    pub(super) mover: Mover,
    pub(super) speed: Speed,
    pub(super) log: Arc<Log>,
}

impl Operator {
    /// The whole move. `rest` is the time in the first phase, in `nextLeads` and in the last one, in which nothing is done.
    pub(super) async fn go(&self, rest: Duration) -> Result<()> {
        sleep(rest).await;
        self.step(Phase::Both).await?;
        self.run(CopyTask::Copy).await?;
        self.step(Phase::Compare).await?;
        self.run(CopyTask::Compare).await?;
        self.step(Phase::Handover).await?;
        self.step(Phase::Takeover).await?;
        self.step(Phase::NextLeads).await?;
        sleep(rest).await;
        self.step(Phase::Next).await?;
        sleep(rest).await;
        Ok(())
    }

    /// Carries out repairs for ever.
    pub(super) async fn repair(&self) -> Result<Infallible> {
        let mut repairs = Repairs::new(self.pairs.unshared(), self.share(1));
        loop {
            // The next round tries again what failed in this one. A repair that always fails keeps the move from going on.
            if let Some(round) = answered(repairs.round(Instant::now() + ROUND).await)? {
                self.log.repairs(round.repairs);
            }
            sleep(BETWEEN_ROUNDS).await;
        }
    }

    async fn step(&self, to: Phase) -> Result<()> {
        loop {
            let Some(state) = answered(self.mover.state().await)? else { continue };
            // A step that was not answered may have been made.
            if state.phase() == to {
                break;
            }
            let obstacles = self.mover.obstacles(&state, to, true);
            if !obstacles.is_empty() {
                wait(&obstacles).await?;
            } else if answered(self.mover.step(&state, to, true).await)?.is_some() {
                break;
            }
        }
        self.log.phase(to);
        let (requests, errors) = self.log.counts();
        eprintln!("{:>6.0} s: {to:?}, {requests} requests, {errors} errors", self.log.now().as_secs_f64());
        Ok(())
    }

    async fn run(&self, task: CopyTask) -> Result<()> {
        let (from, segments) = loop {
            let Some(state) = answered(self.mover.state().await)? else { continue };
            let obstacles = self.mover.obstacles_to_run(&state, task);
            if !obstacles.is_empty() {
                wait(&obstacles).await?;
                continue;
            }
            let from = self.log.now();
            if let Some(segments) = answered(self.mover.start(&state, task, self.speed.segments).await)? {
                break (from, segments);
            }
        };
        let workers = segments.into_iter().map(|segment| {
            let mut worker = Copier::new(self.pairs.unshared(), self.share(self.speed.segments));
            async move { worker.work(segment, None, |_| {}).await }
        });
        let segments = try_join_all(workers).await?;
        self.log.run(task, from, &segments);
        Ok(())
    }

    /// The share of one of so many workers in the speed.
    fn share(&self, workers: u8) -> Pace {
        let share = |units: u32| f64::from(units) / f64::from(workers);
        Pace::new(share(self.speed.read_units), share(self.speed.write_units))
    }
}

/// `None` for a request that can be repeated: an operator gives the command again.
fn answered<T>(outcome: Result<T, Error>) -> Result<Option<T>> {
    match outcome {
        Err(error) if error.remedy() == Remedy::Retry => {
            warn!(cause = lambda::chain(&error), "the operator tries again");
            Ok(None)
        }
        outcome => Ok(Some(outcome?)),
    }
}

/// Waits a moment for what passes by itself.
async fn wait(obstacles: &[Obstacle]) -> Result<()> {
    let lasting: Vec<_> = obstacles.iter().filter(|obstacle| !obstacle.passes_by_itself()).collect();
    if !lasting.is_empty() {
        let texts: Vec<_> = lasting.iter().map(ToString::to_string).collect();
        bail!("the move cannot go on: {}", texts.join("; "));
    }
    sleep(Duration::from_millis(200)).await;
    Ok(())
}
