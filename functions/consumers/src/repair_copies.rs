//! Schedule: makes the copies that the shop could not make when it wrote an item, while it migrates from one table to
//! another.
//!
//! The lists of repairs in both tables are the work lists: a repair that is carried out leaves its list. Concurrent runs do
//! no harm, because each transaction checks that the repair is still there.

use std::sync::Arc;
use std::time::Duration;

use copying::{ONE_REPAIR, Pace, Repairs};
use key_schema::access::Access;
use key_schema::entity::Phase;
use key_schema::value::Timestamp;
use lambda::{Environment, Error, FromEnvironment, Grant, Measure, Misconfigured, ScheduledEvent};
use serde::Serialize;
use table::Pairs;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tracing::info;

/// The function's access to the tables.
pub const ACCESS: &[&[Access]] = copying::REPAIR;

/// None: the function calls no other service.
pub const GRANTS: &[Grant] = &[];

/// The function's dependencies. The invocations of an execution environment share the place at which the next one goes on.
#[derive(Clone, Debug)]
pub struct Repairing(Arc<Mutex<Repairs>>);

impl FromEnvironment for Repairing {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let (pairs, pace) = <(Pairs, Pace)>::from_environment(environment)?;
        Ok(Self(Arc::new(Mutex::new(Repairs::new(pairs, pace)))))
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of repairs that this run carried out.
    repairs: u64,
    /// The number of items that differed.
    items: u64,
    /// The number of repairs that could not be carried out. The log has the causes, and the next run tries again.
    failed: u64,
    /// The age of the oldest repair that this run found, in seconds.
    oldest: u64,
    /// Whether the run tried every repair. If not, the next run goes on where this one stopped.
    done: bool,
}

pub async fn handle(repairing: Repairing, _: ScheduledEvent, time: Duration) -> Result<Report, Error> {
    let until = Instant::now() + time.saturating_sub(ONE_REPAIR);
    let mut repairing = repairing.0.lock().await;
    let round = repairing.round(until).await?;
    // After the repairs: they do not need it, so a phase that cannot be read must not stop them.
    let phase = repairing.phase().await?;
    let age = |since: Timestamp| u64::try_from(Timestamp::now().as_second() - since.as_second()).unwrap_or(0);
    let report = Report {
        repairs: round.repairs,
        items: round.items,
        failed: round.failed,
        oldest: round.oldest.map_or(0, age),
        done: round.is_whole,
    };
    let Report { repairs, items, failed, oldest, done } = report;
    info!(repairs, items, failed, oldest, done, "repairs carried out");
    lambda::metrics(&[
        ("RepairsCarriedOut", Measure::Count(repairs)),
        ("RepairsFailed", Measure::Count(failed)),
        ("OldestRepair", Measure::Seconds(oldest)),
        ("MigrationPhase", Measure::Count(place(phase))),
    ]);
    Ok(report)
}

/// The place of a phase in a migration, from 0 on: what the dashboard shows.
fn place(phase: Phase) -> u64 {
    Phase::ALL.into_iter().take_while(|earlier| *earlier < phase).map(|_| 1).sum()
}
