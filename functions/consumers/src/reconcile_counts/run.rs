//! A run over a range of days: compares the counters of one item after the other, until the time is over.

use std::collections::BTreeSet;
use std::time::Duration;

use counting::{Aggregate, Counts};
use key_schema::value::{Day, Days};
use serde::{Deserialize, Serialize};
use table::Error;
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::reconcile_counts::Reconciler;
use crate::reconcile_counts::walk::Walk;

/// With less time left, no further step is begun. The current step and storing the unfinished run take at most this
/// long.
pub const LAST_STEP: Duration = Duration::from_secs(10);

/// The pause before counters that disagree with their orders are compared a second time.
const PAUSE_BEFORE_SECOND_WALK: Duration = Duration::from_millis(500);

/// The most drifts in an answer. The log has all of them.
const MOST_DRIFTS: usize = 20;

/// An item whose counters are wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drift {
    /// The item, for example `customer ada`.
    of: String,
    /// The amounts to add to the counters.
    #[serde(alias = "lacks")]
    deficit: Counts,
    /// Whether all changes of the item's orders are old enough to be counted. Until then the item is not repaired.
    settled: bool,
    #[serde(alias = "mended")]
    repaired: bool,
}

/// The numbers of items whose counters were compared, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// All items.
    pub checked: u64,
    /// The items whose counters are wrong.
    pub drifted: u64,
    /// The drifted items that were repaired.
    #[serde(alias = "mended")]
    pub repaired: u64,
    /// The items whose orders or counters changed so recently that only bounds of the counters are known.
    pub unsettled: u64,
    /// The drifted items whose repair did not succeed, for example because their counters changed meanwhile.
    pub busy: u64,
}

impl Report {
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            checked: self.checked - before.checked,
            drifted: self.drifted - before.drifted,
            repaired: self.repaired - before.repaired,
            unsettled: self.unsettled - before.unsettled,
            busy: self.busy - before.busy,
        }
    }
}

/// A run in progress. It is stored between invocations. Aliases and other names are those under which release 0.1.0 stores
/// it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    days: Days,
    /// The next day to begin.
    next: Day,
    #[serde(alias = "mend")]
    repair: bool,
    report: Report,
    /// The first drifts. The last release does not know this field, and drops it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drifts: Vec<Drift>,
    /// The walk over a day, and after it the walk over a customer or a product of that day.
    walks: Vec<Walk>,
    /// The customers and products that are compared before the walk over the day continues.
    #[serde(rename = "met")]
    seen: BTreeSet<Aggregate>,
}

impl Run {
    pub(crate) fn new(days: Days, repair: bool) -> Self {
        let next = days.each().next().unwrap_or(days.end());
        Self {
            days,
            next,
            repair,
            report: Report::default(),
            drifts: Vec::new(),
            walks: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    pub(crate) fn report(&self) -> Report {
        self.report
    }

    pub(crate) fn drifts(&self) -> &[Drift] {
        &self.drifts
    }

    pub(crate) fn end(&self) -> Day {
        self.days.end()
    }

    /// Continues until the run is done or the time is over, but for at least one step. Returns whether the run is done.
    ///
    /// If a step after the first one fails, the run stays where it was before that step, and can continue from there.
    pub(crate) async fn go_on(&mut self, reconciler: &Reconciler, end: Instant) -> Result<bool, Error> {
        let mut steps = 0_u32;
        loop {
            match self.step(reconciler, end).await {
                Ok(true) => return Ok(true),
                Ok(false) => steps += 1,
                Err(Error::Item(error)) => {
                    self.give_up(&error);
                    steps += 1;
                }
                Err(error) if steps == 0 => return Err(error),
                Err(error) => {
                    warn!(cause = lambda::chain(&error), "the run stops early");
                    return Ok(false);
                }
            }
            if Instant::now() + LAST_STEP >= end {
                return Ok(false);
            }
        }
    }

    /// Walks one page, or begins a walk. Returns whether nothing is left to do.
    async fn step(&mut self, reconciler: &Reconciler, end: Instant) -> Result<bool, Error> {
        if self.walks.len() < 2
            && let Some(aggregate) = self.seen.first().cloned()
        {
            self.walks.push(Walk::begin(reconciler, aggregate, None).await?);
            self.seen.pop_first();
            return Ok(false);
        }
        let Some(walk) = self.walks.last_mut() else {
            if self.next >= self.days.end() {
                return Ok(true);
            }
            self.walks.push(Walk::begin(reconciler, Aggregate::Day(self.next), None).await?);
            self.next = self.next.plus(1);
            return Ok(false);
        };
        if !walk.step(reconciler, &self.days, &mut self.seen, end).await? {
            return Ok(false);
        }
        let deficit = walk.deficit();
        if !deficit.is_empty() && !walk.is_second() {
            tokio::time::sleep(PAUSE_BEFORE_SECOND_WALK).await;
            *walk = Walk::begin(reconciler, walk.aggregate().clone(), Some(deficit)).await?;
            return Ok(false);
        }
        if let Some(walk) = self.walks.pop() {
            self.conclude(reconciler, &walk, &deficit).await;
        }
        Ok(false)
    }

    /// Counts the present item as drifted and skips it: its counters or its orders cannot be deserialized. That would
    /// fail the next time as well, and must not stop the rest of the run.
    fn give_up(&mut self, error: &(dyn std::error::Error + 'static)) {
        let begun = if self.walks.len() < 2 { self.seen.pop_first() } else { None };
        let of = begun.or_else(|| self.walks.pop().map(|walk| walk.aggregate().clone())).unwrap_or_else(|| {
            let day = self.next;
            self.next = day.plus(1);
            Aggregate::Day(day)
        });
        error!(%of, cause = lambda::chain(error), "cannot be compared");
        self.report.checked += 1;
        self.report.drifted += 1;
    }

    fn name(&mut self, drift: Drift) {
        if self.drifts.len() < MOST_DRIFTS {
            self.drifts.push(drift);
        }
    }

    /// Adds the result of a finished walk to the report, and repairs the counters if the run is to repair.
    async fn conclude(&mut self, reconciler: &Reconciler, walk: &Walk, deficit: &Counts) {
        let is_drift = walk.is_drift(deficit);
        let mut outcome = Report { checked: 1, drifted: is_drift.into(), ..Report::default() };
        // If two walks found different deficits, the counters are still changing, even if their orders are settled.
        let is_settled = walk.is_settled() && (is_drift || deficit.is_empty());
        outcome.unsettled = (!is_settled).into();
        if is_drift && is_settled && self.repair {
            match reconciler.repair(walk, deficit).await {
                Ok(true) => outcome.repaired = 1,
                Ok(false) => outcome.busy = 1,
                Err(error) => {
                    warn!(cause = lambda::chain(&error), "the repair failed");
                    outcome.busy = 1;
                }
            }
        }
        if is_drift {
            let (of, missing) = (walk.aggregate(), deficit);
            let deficit = serde_json::to_string(missing).unwrap_or_default();
            info!(%of, deficit, is_settled, repaired = outcome.repaired == 1, busy = outcome.busy == 1, "counters have drifted");
            self.name(Drift {
                of: of.to_string(),
                deficit: missing.clone(),
                settled: is_settled,
                repaired: outcome.repaired == 1,
            });
        }
        self.report.checked += outcome.checked;
        self.report.drifted += outcome.drifted;
        self.report.repaired += outcome.repaired;
        self.report.unsettled += outcome.unsettled;
        self.report.busy += outcome.busy;
    }
}
