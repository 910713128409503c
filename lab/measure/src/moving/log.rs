//! The log of a move: what happened when. Everything that is reported and drawn is computed from it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use devstack::fault_proxy::{Access, Call};
use key_schema::entity::{CopyProgress, CopyTask, Phase, Side};
use tokio::time::Instant;

/// A shared log. Times are those since its begin.
pub(super) struct Log {
    pub(super) began: Instant,
    /// The name of the first table.
    first: String,
    events: Mutex<Events>,
}

/// Everything that happened, each in the order of time.
#[derive(Default)]
pub(super) struct Events {
    /// The begin of each phase.
    pub(super) phases: Vec<(Duration, Phase)>,
    pub(super) runs: Vec<Run>,
    pub(super) requests: Vec<Request>,
    /// The units consumed in each second.
    pub(super) units: BTreeMap<(u64, Consumer), f64>,
    pub(super) lags: Vec<Lag>,
    /// The number of repairs that each round carried out.
    pub(super) repairs: Vec<(Duration, u64)>,
}

/// A request of the shop's customers.
pub(super) struct Request {
    /// The moment at which it was due.
    pub(super) at: Duration,
    /// The time from that moment to the answer.
    pub(super) took: Duration,
    pub(super) answer: String,
    pub(super) is_expected: bool,
}

/// A run of copying or comparing.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) task: CopyTask,
    pub(super) from: Duration,
    pub(super) to: Duration,
    /// The items of both tables that were read.
    pub(super) items: u64,
    pub(super) copied: u64,
    pub(super) differences: u64,
}

/// How far the work in the background is behind.
#[derive(Clone, Copy)]
pub(super) enum Lag {
    /// The age of the oldest repair that is due; zero if none is.
    Repair { at: Duration, age: Duration },
    /// The time until the streams' consumers had everything that was written before.
    Stream { at: Duration, took: Duration },
}

/// Who consumes units, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Consumer {
    pub(super) who: Who,
    pub(super) is_next_table: bool,
    pub(super) is_write: bool,
    pub(super) is_index: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// The functions of the shop.
    Shop,
    /// The operator who copies, compares and repairs.
    Operator,
}

impl Log {
    pub(super) fn new(first: &str) -> Self {
        let events = Events { phases: vec![(Duration::ZERO, Phase::First)], ..Events::default() };
        Self { began: Instant::now(), first: first.to_owned(), events: Mutex::new(events) }
    }

    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn phase(&self, phase: Phase) {
        self.events().phases.push((self.now(), phase));
    }

    pub(super) fn run(&self, task: CopyTask, from: Duration, segments: &[CopyProgress]) {
        let sum = |of: fn(&CopyProgress) -> u64| segments.iter().map(of).sum();
        let (items, copied) = (sum(|segment| segment.items), sum(|segment| segment.copied));
        let differences = sum(|segment| segment.differences);
        self.events().runs.push(Run { task, from, to: self.now(), items, copied, differences });
    }

    pub(super) fn request(&self, request: Request) {
        self.events().requests.push(request);
    }

    pub(super) fn lag(&self, lag: Lag) {
        self.events().lags.push(lag);
    }

    pub(super) fn repairs(&self, repairs: u64) {
        if repairs > 0 {
            self.events().repairs.push((self.now(), repairs));
        }
    }

    /// Adds the units that these calls consumed.
    pub(super) fn calls(&self, who: Who, calls: &[Call]) {
        let mut events = self.events();
        for call in calls {
            let at = call.at.saturating_duration_since(self.began).as_secs();
            for consumed in &call.consumed {
                let is_next_table = consumed.table != self.first;
                let is_write = consumed.access == Access::Write;
                let of_indexes: f64 = consumed.index_units.values().sum();
                for (is_index, units) in [(false, consumed.table_units), (true, of_indexes)] {
                    let consumer = Consumer { who, is_next_table, is_write, is_index };
                    *events.units.entry((at, consumer)).or_default() += units;
                }
            }
        }
    }

    /// The numbers of requests and of errors so far.
    pub(super) fn counts(&self) -> (usize, usize) {
        let events = self.events();
        (events.requests.len(), events.requests.iter().filter(|request| !request.is_expected).count())
    }

    pub(super) fn into_events(self) -> Events {
        self.events.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    /// The phases, each with its begin and its end.
    pub(super) fn spans(&self, end: Duration) -> Vec<(Phase, Duration, Duration)> {
        let ends = self.phases.iter().skip(1).map(|(at, _)| *at).chain([end]);
        self.phases.iter().zip(ends).map(|((from, phase), to)| (*phase, *from, to)).collect()
    }

    /// The units consumed by whoever is wanted, from one moment to another.
    pub(super) fn consumed(&self, from: Duration, to: Duration, wanted: impl Fn(Consumer) -> bool) -> f64 {
        let seconds = from.as_secs()..to.as_secs();
        let units = self.units.iter().filter(|((at, consumer), _)| seconds.contains(at) && wanted(*consumer));
        units.fold(0.0, |sum, (_, units)| sum + units)
    }
}

impl Consumer {
    /// Whether the units are those of this table or of its indexes.
    pub(super) fn is_of(self, side: Side) -> bool {
        self.is_next_table == (side == Side::Next)
    }
}
