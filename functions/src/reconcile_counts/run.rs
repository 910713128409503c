//! A run over some days: which counters are compared after which, as far as the time goes.

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

/// With less time left, nothing more is begun: what is under way, and writing down where it goes on, takes that
/// much at most.
pub const KEPT_BACK: Duration = Duration::from_secs(10);

/// How long after a difference was found its counters are compared once more.
const SECOND_LOOK: Duration = Duration::from_millis(500);

/// So many drifts are named in an answer. The log names all of them.
const MOST_NAMED: usize = 20;

/// One item whose counters cannot be right.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drift {
    /// `customer ada`, say.
    of: String,
    /// What has to be added to the counters.
    #[serde(alias = "lacks")]
    deficit: Counts,
    /// Whether all changes of its orders are old enough to be counted. Until then it is not repaired.
    settled: bool,
    #[serde(alias = "mended")]
    repaired: bool,
}

/// How many counters' items were compared, and with what outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// All of them.
    pub checked: u64,
    /// Those that cannot be right.
    pub drifted: u64,
    /// Those of them that were set right.
    #[serde(alias = "mended")]
    pub repaired: u64,
    /// Those whose orders changed so recently that only bounds are known.
    pub unsettled: u64,
    /// Those that moved while they were to be repaired, and were left alone.
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

/// A run, wherever it is. Written down between invocations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    days: Days,
    /// The next day to begin.
    next: Day,
    #[serde(alias = "mend")]
    repair: bool,
    report: Report,
    /// The first drifts, by name. The last release knows no such field, and leaves it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drifts: Vec<Drift>,
    /// The day that is walked through, and above it the customer or product met there that is.
    walks: Vec<Walk>,
    /// Customers and products that were met and are to be compared before the day's walk goes on.
    met: BTreeSet<Aggregate>,
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
            met: BTreeSet::new(),
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

    /// Goes on until it is done, or until the time is over, but always one step. Whether it is done.
    ///
    /// A failure after the first step leaves the run where it was before it, from where it can go on.
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
                    warn!(cause = lambda::chain(&error), "stops early");
                    return Ok(false);
                }
            }
            if Instant::now() + KEPT_BACK >= end {
                return Ok(false);
            }
        }
    }

    /// One page, or the beginning of a walk. Whether there was nothing left to do.
    async fn step(&mut self, reconciler: &Reconciler, end: Instant) -> Result<bool, Error> {
        if self.walks.len() < 2
            && let Some(aggregate) = self.met.first().cloned()
        {
            self.walks.push(Walk::begin(reconciler, aggregate, None).await?);
            self.met.pop_first();
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
        if !walk.step(reconciler, &self.days, &mut self.met, end).await? {
            return Ok(false);
        }
        let deficit = walk.deficit();
        if !deficit.is_empty() && !walk.is_second() {
            tokio::time::sleep(SECOND_LOOK).await;
            *walk = Walk::begin(reconciler, walk.aggregate().clone(), Some(deficit)).await?;
            return Ok(false);
        }
        if let Some(walk) = self.walks.pop() {
            self.conclude(reconciler, &walk, &deficit).await;
        }
        Ok(false)
    }

    /// Counters, or orders of theirs, that do not read as such will not read the next time, and must not stop the rest.
    fn give_up(&mut self, error: &(dyn std::error::Error + 'static)) {
        let begun = if self.walks.len() < 2 { self.met.pop_first() } else { None };
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
        if self.drifts.len() < MOST_NAMED {
            self.drifts.push(drift);
        }
    }

    /// What the walk that came to its end found.
    async fn conclude(&mut self, reconciler: &Reconciler, walk: &Walk, deficit: &Counts) {
        let is_drift = walk.is_drift(deficit);
        let mut outcome = Report { checked: 1, drifted: is_drift.into(), ..Report::default() };
        // Counters that were found wrong and then otherwise are moving, whatever their orders say.
        let is_settled = walk.is_settled() && (is_drift || deficit.is_empty());
        outcome.unsettled = (!is_settled).into();
        if is_drift && is_settled && self.repair {
            match reconciler.repair(walk, deficit).await {
                Ok(true) => outcome.repaired = 1,
                Ok(false) => outcome.busy = 1,
                Err(error) => {
                    warn!(cause = lambda::chain(&error), "not repaired");
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
