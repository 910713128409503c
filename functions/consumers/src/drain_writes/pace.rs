//! The rate at which this execution environment may write.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use lambda::{Environment, FromEnvironment, Misconfigured};
use queue::Delay;
use table::{TokenBucket, WriteUnits};
use tokio::time::Instant;

/// The part of its share of the target that an environment keeps back. Otherwise a second with one transaction more
/// than the share would exceed the target.
const RATE_MARGIN: f64 = 0.05;

/// The smallest share, in write units per second. With less, the largest order would wait longer than an invocation
/// lasts.
const LEAST_SHARE: f64 = 5.0;

/// The allowed numbers of environments. With more, the shortest invocation that postpones a full batch would exceed the
/// function's time limit.
pub(crate) const ENVIRONMENTS: RangeInclusive<u32> = 1..=700;

/// The pause after DynamoDB had no capacity. It is doubled once at most.
const PAUSE: Delay = Delay::of_first(Duration::from_millis(500));
const LONGEST_PAUSE: u32 = 2;

/// The key of the table's bucket. No index has an empty name.
const TABLE: &str = "";

/// The capacity that this environment may consume: a bucket for the table and one for each index, and a pause after a
/// throttle.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: f64,
    buckets: BTreeMap<String, TokenBucket>,
    start: Instant,
    /// Nothing may start before this moment.
    paused_until: Duration,
    /// The number of throttles in a row.
    throttles: u32,
}

impl FromEnvironment for Pace {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let target: u32 = environment.number("DRAIN_WRITE_UNITS", 1..=1_000_000)?;
        let environments: u32 = environment.number("DRAIN_CONCURRENCY", ENVIRONMENTS)?;
        let share = f64::from(target) / f64::from(environments);
        if share < LEAST_SHARE {
            let message = format!("DRAIN_WRITE_UNITS must be at least {LEAST_SHARE} for each of the DRAIN_CONCURRENCY");
            return Err(Misconfigured::Invalid(message));
        }
        Ok(Self::new(share))
    }
}

impl Pace {
    /// A pace of at most this many write units per second, for the table and for each index.
    fn new(share: f64) -> Self {
        Self {
            rate: share * (1.0 - RATE_MARGIN),
            buckets: BTreeMap::new(),
            start: Instant::now(),
            paused_until: Duration::ZERO,
            throttles: 0,
        }
    }

    /// Reserves the units that a transaction is expected to consume. Returns the time to wait before the transaction
    /// may start. If that is longer than `most`, reserves nothing and returns `None`.
    pub(crate) fn reserve(&mut self, expected: &WriteUnits, most: Duration) -> Option<Duration> {
        let now = self.start.elapsed();
        let mut start = self.paused_until;
        for (resource, units) in resources(expected) {
            start = start.max(self.bucket(resource).earliest(units, now));
        }
        let wait = start.saturating_sub(now);
        if wait > most {
            return None;
        }
        for (resource, _) in resources(expected) {
            self.bucket(resource).start(start);
        }
        Some(wait)
    }

    pub(crate) fn settle(&mut self, expected: &WriteUnits, consumed: &WriteUnits) {
        for (resource, units) in resources(expected) {
            self.bucket(resource).correct(-units);
        }
        for (resource, units) in resources(consumed) {
            self.bucket(resource).correct(units);
        }
    }

    fn bucket(&mut self, resource: &str) -> &mut TokenBucket {
        let rate = self.rate;
        self.buckets.entry(resource.to_owned()).or_insert_with(|| TokenBucket::new(rate, Duration::ZERO))
    }

    /// Pauses, after DynamoDB had no capacity. An immediate retry would only be throttled again.
    pub(crate) fn pause(&mut self) {
        self.throttles += 1;
        self.paused_until = self.start.elapsed() + PAUSE.of(self.throttles.min(LONGEST_PAUSE));
    }

    /// Makes the next pause a short one again, after DynamoDB had capacity.
    pub(crate) fn go_on(&mut self) {
        self.throttles = 0;
    }
}

fn resources(units: &WriteUnits) -> impl Iterator<Item = (&str, f64)> {
    let indexes = units.indexes.iter().map(|(name, units)| (name.as_str(), *units));
    std::iter::once((TABLE, units.table)).chain(indexes)
}
