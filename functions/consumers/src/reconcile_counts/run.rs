//! A run over a range of days: compares the counters of one item after the other, until the time is over.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use counting::{Aggregate, Counts};
use futures_util::{StreamExt, stream};
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
    deficit: Counts,
    /// Whether all changes of the item's orders are old enough to be counted. Until then the item is not repaired.
    settled: bool,
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

/// A run in progress. It is stored between invocations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    days: Days,
    /// The day up to which an earlier run has compared everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compared: Option<Day>,
    next: Day,
    repair: bool,
    report: Report,
    /// The first drifts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drifts: Vec<Drift>,
    /// The walk over a day, and after it the interrupted walks over customers and products of that day.
    walks: Vec<Walk>,
    /// The customers and products that are compared before the walk over the day continues.
    seen: BTreeSet<Aggregate>,
}

impl Run {
    pub(crate) fn new(days: Days, repair: bool) -> Self {
        let next = days.each().next().unwrap_or(days.end());
        Self {
            days,
            compared: None,
            next,
            repair,
            report: Report::default(),
            drifts: Vec::new(),
            walks: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    /// A run after others that have compared everything before this day.
    pub(crate) fn after(self, compared: Option<Day>) -> Self {
        Self { compared, ..self }
    }

    /// The day up to which everything is compared: this run's end if it is done, otherwise that of the run before it.
    pub(crate) fn compared_up_to(&self, done: bool) -> Day {
        if done { self.days.end() } else { self.compared.or(self.days.each().next()).unwrap_or(self.days.end()) }
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
                    self.give_up_day(&error);
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

    /// Compares the customers and products that were seen. If there are none, walks one page of a day, or begins a day.
    /// Returns whether nothing is left to do.
    async fn step(&mut self, reconciler: &Reconciler, end: Instant) -> Result<bool, Error> {
        if !self.seen.is_empty() || self.walks.iter().any(|walk| !walk.is_of_day()) {
            self.compare_seen(reconciler, end).await?;
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
        if !walk.step_day(reconciler, &self.days, &mut self.seen, end).await? {
            return Ok(false);
        }
        let deficit = walk.deficit();
        if !deficit.is_empty() && !walk.is_second() {
            tokio::time::sleep(PAUSE_BEFORE_SECOND_WALK).await;
            *walk = Walk::begin(reconciler, walk.aggregate().clone(), Some(deficit)).await?;
            return Ok(false);
        }
        if let Some(walk) = self.walks.pop() {
            let conclusion = conclude(reconciler, &walk, self.repair).await;
            self.add(conclusion);
        }
        Ok(false)
    }

    /// Compares the customers and products that were seen, several concurrently, until all are compared, the time is
    /// over, or a read fails. Each comparison that begins makes one step at least.
    ///
    /// Fails only if no comparison advanced.
    async fn compare_seen(&mut self, reconciler: &Reconciler, end: Instant) -> Result<(), Error> {
        let of_day = |walk: &Walk| walk.is_of_day();
        let (days, mut interrupted): (Vec<_>, Vec<_>) = std::mem::take(&mut self.walks).into_iter().partition(of_day);
        let comparing = Comparing { reconciler, repair: self.repair, end, failed: AtomicBool::new(false) };
        let (seen, mut begun) = (&mut self.seen, false);
        let next = std::iter::from_fn(|| {
            if std::mem::replace(&mut begun, true) && comparing.is_over() {
                return None;
            }
            interrupted.pop().map(Next::Continue).or_else(|| seen.pop_first().map(Next::Begin))
        });
        let compared =
            stream::iter(next.map(|next| comparing.compare(next))).buffer_unordered(reconciler.reads.sizes.walks);
        let compared: Vec<_> = compared.collect().await;

        self.walks = days;
        self.walks.append(&mut interrupted);
        let (mut advanced, mut failure) = (false, None);
        for Compared { outcome, steps, error } in compared {
            advanced |= steps > 0;
            match outcome {
                Outcome::Concluded(conclusion) => self.add(conclusion),
                Outcome::Unreadable(aggregate, error) => {
                    advanced = true;
                    self.give_up(&aggregate, &error);
                }
                Outcome::Interrupted(Next::Continue(walk)) => self.walks.push(walk),
                Outcome::Interrupted(Next::Begin(aggregate)) => drop(self.seen.insert(aggregate)),
            }
            failure = failure.or(error);
        }
        match failure {
            Some(error) if !advanced => Err(error),
            Some(error) => {
                warn!(cause = lambda::chain(&error), "a comparison was interrupted");
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Skips the day whose orders or totals cannot be deserialized.
    fn give_up_day(&mut self, error: &(dyn std::error::Error + 'static)) {
        let of = self.walks.pop().map(|walk| walk.aggregate().clone()).unwrap_or_else(|| {
            let day = self.next;
            self.next = day.plus(1);
            Aggregate::Day(day)
        });
        self.give_up(&of, error);
    }

    /// Counts an item as drifted and skips it: its counters or its orders cannot be deserialized. That would fail the next
    /// time as well, and must not stop the rest of the run.
    fn give_up(&mut self, of: &Aggregate, error: &(dyn std::error::Error + 'static)) {
        error!(%of, cause = lambda::chain(error), "cannot be compared");
        self.report.checked += 1;
        self.report.drifted += 1;
    }

    fn add(&mut self, Conclusion { report, drift }: Conclusion) {
        if self.drifts.len() < MOST_DRIFTS {
            self.drifts.extend(drift);
        }
        self.report.checked += report.checked;
        self.report.drifted += report.drifted;
        self.report.repaired += report.repaired;
        self.report.unsettled += report.unsettled;
        self.report.busy += report.busy;
    }
}

/// A finished walk: what it adds to the report.
struct Conclusion {
    report: Report,
    drift: Option<Drift>,
}

/// Repairs the counters if they are wrong and the run is to repair.
async fn conclude(reconciler: &Reconciler, walk: &Walk, repair: bool) -> Conclusion {
    let deficit = walk.deficit();
    let is_drift = walk.is_drift(&deficit);
    let mut report = Report { checked: 1, drifted: is_drift.into(), ..Report::default() };
    // If two walks found different deficits, the counters are still changing, even if their orders are settled.
    let is_settled = walk.is_settled() && (is_drift || deficit.is_empty());
    report.unsettled = (!is_settled).into();
    if is_drift && is_settled && repair {
        match reconciler.repair(walk, &deficit).await {
            Ok(true) => report.repaired = 1,
            Ok(false) => report.busy = 1,
            Err(error) => {
                warn!(cause = lambda::chain(&error), "the repair failed");
                report.busy = 1;
            }
        }
    }
    let repaired = report.repaired == 1;
    let drift = is_drift.then(|| {
        let (of, busy) = (walk.aggregate(), report.busy == 1);
        let missing = serde_json::to_string(&deficit).unwrap_or_default();
        info!(%of, deficit = missing, is_settled, repaired, busy, "counters have drifted");
        Drift { of: of.to_string(), deficit, settled: is_settled, repaired }
    });
    Conclusion { report, drift }
}

/// What the comparisons of several customers and products have in common.
struct Comparing<'a> {
    reconciler: &'a Reconciler,
    repair: bool,
    end: Instant,
    /// A read failed, so the others stop as well: most likely it was throttled.
    failed: AtomicBool,
}

/// A comparison to begin, or an interrupted one to continue.
enum Next {
    Begin(Aggregate),
    Continue(Walk),
}

struct Compared {
    outcome: Outcome,
    steps: u32,
    /// The reason of an interruption, if it is not that the time is over.
    error: Option<Error>,
}

enum Outcome {
    Concluded(Conclusion),
    Interrupted(Next),
    Unreadable(Aggregate, Error),
}

impl Comparing<'_> {
    fn is_over(&self) -> bool {
        self.failed.load(Relaxed) || Instant::now() + LAST_STEP >= self.end
    }

    /// Continues until the comparison is concluded or interrupted, but for one step at least.
    async fn compare(&self, mut next: Next) -> Compared {
        let mut steps = 0;
        loop {
            if steps > 0 && self.is_over() {
                return Compared { outcome: Outcome::Interrupted(next), steps, error: None };
            }
            match self.step(&mut next).await {
                Ok(None) => steps += 1,
                Ok(Some(conclusion)) => {
                    return Compared { outcome: Outcome::Concluded(conclusion), steps: steps + 1, error: None };
                }
                Err(error @ Error::Item(_)) => {
                    let aggregate = match next {
                        Next::Begin(aggregate) => aggregate,
                        Next::Continue(walk) => walk.aggregate().clone(),
                    };
                    return Compared { outcome: Outcome::Unreadable(aggregate, error), steps, error: None };
                }
                Err(error) => {
                    self.failed.store(true, Relaxed);
                    return Compared { outcome: Outcome::Interrupted(next), steps, error: Some(error) };
                }
            }
        }
    }

    /// Begins the walk, or walks one page. Returns the conclusion of the last page.
    async fn step(&self, next: &mut Next) -> Result<Option<Conclusion>, Error> {
        let walk = match next {
            Next::Begin(aggregate) => {
                *next = Next::Continue(Walk::begin(self.reconciler, aggregate.clone(), None).await?);
                return Ok(None);
            }
            Next::Continue(walk) => walk,
        };
        if !walk.step(self.reconciler).await? {
            return Ok(None);
        }
        let deficit = walk.deficit();
        if deficit.is_empty() || walk.is_second() {
            return Ok(Some(conclude(self.reconciler, walk, self.repair).await));
        }
        tokio::time::sleep(PAUSE_BEFORE_SECOND_WALK).await;
        *walk = Walk::begin(self.reconciler, walk.aggregate().clone(), Some(deficit)).await?;
        Ok(None)
    }
}
