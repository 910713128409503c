//! How fast this environment may write.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use lambda::{Environment, FromEnvironment, Misconfigured};
use queue::Delay;
use table::{TokenBucket, WriteUnits};
use tokio::time::Instant;

/// Of its share of the target, an environment keeps so much back: a second that holds one transaction more than its
/// share would otherwise be above the target.
const KEPT_BACK: f64 = 0.05;

/// With less, the largest order would wait for longer than an invocation lasts.
const LEAST_SHARE: f64 = 5.0;

/// How many environments there may be. With more, one invocation is too short for what bounds the hidden messages.
pub(crate) const ENVIRONMENTS: RangeInclusive<u32> = 1..=700;

/// How long to begin nothing more after DynamoDB had no capacity, the first time; and it is doubled once.
const PAUSE: Delay = Delay::of_first(Duration::from_millis(500));
const LONGEST_PAUSE: u32 = 2;

/// The name of the table among the buckets: no index is called so.
const TABLE: &str = "";

/// What this environment may consume: a bucket for the table and one for each index, and a pause after a throttle.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: f64,
    buckets: BTreeMap<String, TokenBucket>,
    start: Instant,
    /// Nothing is reserved for before this.
    paused_until: Duration,
    /// How often in a row DynamoDB had no capacity.
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
    /// At most so many write units per second, of the table and of each index.
    fn new(share: f64) -> Self {
        Self {
            rate: share * (1.0 - KEPT_BACK),
            buckets: BTreeMap::new(),
            start: Instant::now(),
            paused_until: Duration::ZERO,
            throttles: 0,
        }
    }

    /// How long to wait before something starts that is expected to consume this, which is then on its way. `None`:
    /// it would have to wait for longer than `most`, and is not.
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

    /// What was on its way has consumed this.
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

    /// DynamoDB had no capacity: whoever asks again at once makes it worse.
    pub(crate) fn pause(&mut self) {
        self.throttles += 1;
        self.paused_until = self.start.elapsed() + PAUSE.of(self.throttles.min(LONGEST_PAUSE));
    }

    /// DynamoDB had capacity.
    pub(crate) fn go_on(&mut self) {
        self.throttles = 0;
    }
}

fn resources(units: &WriteUnits) -> impl Iterator<Item = (&str, f64)> {
    let indexes = units.indexes.iter().map(|(name, units)| (name.as_str(), *units));
    std::iter::once((TABLE, units.table)).chain(indexes)
}
