//! How much may be consumed, and when.

use std::time::Duration;

/// A token bucket that starts empty, and holds no more than what the next transaction needs.
///
/// Law: over any window of time, what is consumed is at most `rate` times the window, and one transaction. So neither a rest nor a new bucket
/// earns anybody a burst. (Buckets that hold a second's worth or more let every new environment begin with one.)
///
/// Time is whatever the caller says: a duration since any moment, never going back.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBucket {
    /// Units per second.
    rate: f64,
    /// Units at the time `at`; below zero when a transaction took more than was expected.
    level: f64,
    at: Duration,
}

impl TokenBucket {
    /// An empty bucket.
    ///
    /// `rate` is in units per second, and more than zero.
    pub fn new(rate: f64, now: Duration) -> Self {
        Self { rate, level: 0.0, at: now }
    }

    /// How long to wait before a transaction that is expected to take `units`. Zero: it may start now.
    pub fn wait(&mut self, units: f64, now: Duration) -> Duration {
        let earned = self.rate * now.saturating_sub(self.at).as_secs_f64();
        self.level = (self.level + earned).min(units.max(0.0));
        self.at = self.at.max(now);
        let missing = units - self.level;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        let wait = Duration::try_from_secs_f64(missing / self.rate).unwrap_or(Duration::MAX);
        wait.saturating_add(Duration::from_nanos(1))
    }

    /// Takes what a transaction has consumed.
    pub fn take(&mut self, units: f64) {
        self.level -= units;
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A transaction: what it is expected to take, what it takes more, how long it lasts, and the rest before it.
    type Transaction = (f64, f64, u64, u64);

    fn transactions(surplus: impl Strategy<Value = f64>) -> impl Strategy<Value = Vec<Transaction>> {
        vec((1.0..200.0, surplus, 0..2000_u64, prop_oneof![Just(0), 0..10_000_u64]), 1..60)
    }

    /// Does them one after another; the start of each with what it was expected to take and what it took.
    fn run(rate: f64, transactions: &[Transaction]) -> Vec<(Duration, f64, f64)> {
        let mut now = Duration::from_secs(5);
        let mut bucket = TokenBucket::new(rate, now);
        let mut done = Vec::new();
        for (expected, surplus, lasting, rest) in transactions {
            now += Duration::from_millis(*rest);
            loop {
                match bucket.wait(*expected, now) {
                    Duration::ZERO => break,
                    wait => now += wait,
                }
            }
            done.push((now, *expected, expected + surplus));
            now += Duration::from_millis(*lasting);
            bucket.take(expected + surplus);
        }
        done
    }

    /// The law, for every window that begins and ends with a transaction: no other holds more in less time.
    fn check(rate: f64, done: &[(Duration, f64, f64)]) -> Result<(), TestCaseError> {
        for (first, (begin, earned, _)) in done.iter().enumerate() {
            let mut consumed = 0.0;
            for (end, expected, took) in &done[first..] {
                consumed += took;
                let most = rate * end.saturating_sub(*begin).as_secs_f64() + earned + (took - expected);
                prop_assert!(
                    consumed <= most * (1.0 + 1e-9),
                    "{} of {} between {:?} and {:?}",
                    consumed,
                    most,
                    begin,
                    end
                );
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn over_any_window_no_more_is_consumed_than_the_rate_allows_and_one_transaction(
            rate in 1.0..2000.0, transactions in transactions(Just(0.0)),
        ) {
            check(rate, &run(rate, &transactions))?;
        }

        #[test]
        fn a_transaction_that_takes_more_than_expected_is_paid_for_by_the_next(
            rate in 1.0..2000.0, transactions in transactions(0.0..300.0),
        ) {
            check(rate, &run(rate, &transactions))?;
        }

        #[test]
        fn a_new_bucket_is_empty(rate in 1.0..2000.0, units in 1.0..200.0) {
            let wait = TokenBucket::new(rate, Duration::ZERO).wait(units, Duration::ZERO);
            prop_assert!((wait.as_secs_f64() - units / rate).abs() < 1e-6);
        }

        #[test]
        fn who_has_work_all_the_time_gets_the_whole_rate(rate in 10.0..2000.0, units in 1.0..200.0) {
            let done = run(rate, &[(units, 0.0, 0, 0); 50]);
            let lasted = done[49].0.saturating_sub(Duration::from_secs(5));
            prop_assert!((lasted.as_secs_f64() - 50.0 * units / rate).abs() < 1e-3);
        }
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_earns_nothing() {
        let mut bucket = TokenBucket::new(10.0, Duration::from_secs(9));
        let wait = bucket.wait(10.0, Duration::from_secs(9));
        assert_eq!(bucket.wait(10.0, Duration::from_secs(3)), wait);
        assert_eq!(bucket.wait(10.0, Duration::from_secs(9)), wait);
        assert_eq!(bucket.wait(10.0, Duration::from_secs(10)), Duration::ZERO);
    }
}
