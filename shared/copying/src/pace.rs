//! The rate at which a worker may consume the capacity of the tables.

use std::time::Duration;

use lambda::{Environment, FromEnvironment, Misconfigured};
use table::TokenBucket;
use tokio::time::Instant;

/// The smallest share of a function, in units per second. A page of a scan has at most a megabyte, which takes some 2,500
/// write units to copy, and has to be done within the time that the function keeps for it.
const LEAST_SHARE: f64 = 50.0;

/// A worker's share of the capacity. What was consumed is paid before the next request starts, so over any window of
/// time, the units consumed are at most the rate times the window, plus those of one batch of pairs.
#[derive(Clone, Debug)]
pub struct Pace {
    start: Instant,
    reads: TokenBucket,
    writes: TokenBucket,
}

impl FromEnvironment for Pace {
    /// The share of one of the functions that copy.
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let workers: u32 = environment.number("COPY_CONCURRENCY", 1..=1000)?;
        let share = |name: &str| -> Result<f64, Misconfigured> {
            let share = f64::from(environment.number(name, 1..=1_000_000_u32)?) / f64::from(workers);
            if share < LEAST_SHARE {
                let message = format!("{name} must be at least {LEAST_SHARE} for each of the COPY_CONCURRENCY");
                return Err(Misconfigured::Invalid(message));
            }
            Ok(share)
        };
        Ok(Self::new(share("COPY_READ_UNITS")?, share("COPY_WRITE_UNITS")?))
    }
}

impl Pace {
    /// A pace of at most these read units and write units per second. Both must be positive.
    pub fn new(reads: f64, writes: f64) -> Self {
        let bucket = |rate| TokenBucket::new(rate, Duration::ZERO);
        Self { start: Instant::now(), reads: bucket(reads), writes: bucket(writes) }
    }

    /// Records the units that a request consumed, and waits until they are paid.
    pub async fn pay(&mut self, (reads, writes): (f64, f64)) {
        let until = self.paid_at(reads, writes, self.start.elapsed());
        tokio::time::sleep_until(self.start + until).await;
    }

    fn paid_at(&mut self, reads: f64, writes: f64, now: Duration) -> Duration {
        let paid = [(&mut self.reads, reads), (&mut self.writes, writes)].map(|(bucket, units)| {
            // Units that were not used in the past are lost.
            bucket.start(bucket.earliest(0.0, now));
            bucket.correct(units);
            bucket.earliest(0.0, now)
        });
        paid[0].max(paid[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_scarcer_capacity_decides_and_idle_time_earns_nothing() {
        let mut pace = Pace::new(100.0, 10.0);
        let second = Duration::from_secs;
        assert_eq!(pace.paid_at(100.0, 10.0, second(0)), second(1));
        assert_eq!(pace.paid_at(300.0, 10.0, second(1)), second(4));
        assert_eq!(pace.paid_at(0.0, 10.0, second(100)), second(101), "the time from 4 to 100 is lost");
        assert_eq!(pace.paid_at(0.0, 0.0, second(102)), second(102));
    }
}
