//! How much may be consumed, and when.

use std::time::Duration;

/// A token bucket that starts empty, and holds what one transaction needs and no more.
///
/// Law: over any window of time, what is consumed is at most `rate` times the window, and one transaction. So
/// neither a rest nor a new bucket earns anybody a burst. (One that holds a second's worth would let every new
/// environment begin with a second's worth.)
///
/// It is kept as the moment up to which everything that started is paid for: a transaction starts when it has been
/// earned, and the next begins to earn from there. So a start that comes late, for timers are, makes none of the
/// following late.
///
/// Time is whatever the caller says: a duration since any moment.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBucket {
    /// Units per second.
    rate: f64,
    paid_until: Duration,
}

impl TokenBucket {
    /// An empty bucket.
    ///
    /// `rate` is in units per second, and more than zero.
    pub fn new(rate: f64, now: Duration) -> Self {
        Self { rate, paid_until: now }
    }

    /// The moment from which a transaction that takes `units` may start.
    pub fn earliest(&self, units: f64, now: Duration) -> Duration {
        self.paid_until.saturating_add(self.time(units)).max(now)
    }

    /// A transaction starts at this moment, which is not before its earliest.
    pub fn start(&mut self, at: Duration) {
        self.paid_until = at;
    }

    /// One that has started took more units than was said, or fewer: the difference.
    pub fn correct(&mut self, units: f64) {
        self.paid_until = if units < 0.0 {
            self.paid_until.saturating_sub(self.time(-units))
        } else {
            self.paid_until.saturating_add(self.time(units))
        };
    }

    /// How long it takes to earn so many units.
    fn time(&self, units: f64) -> Duration {
        Duration::try_from_secs_f64(units.max(0.0) / self.rate).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const BEGIN: Duration = Duration::from_secs(5);

    /// A transaction: what it is expected to take, what it takes more, and the rest before it is asked for.
    type Transaction = (f64, f64, u64);

    fn transactions(surplus: impl Strategy<Value = f64>) -> impl Strategy<Value = Vec<Transaction>> {
        vec((1.0..200.0, surplus, prop_oneof![Just(0), 0..10_000_u64]), 1..60)
    }

    /// Starts one after another, each as early as may be; the start of each with what it was expected to take and
    /// what it took.
    fn run(rate: f64, transactions: &[Transaction]) -> Vec<(Duration, f64, f64)> {
        let mut now = BEGIN;
        let mut bucket = TokenBucket::new(rate, now);
        let mut done = Vec::new();
        for (expected, surplus, rest) in transactions {
            now += Duration::from_millis(*rest);
            let start = bucket.earliest(*expected, now);
            bucket.start(start);
            bucket.correct(*surplus);
            done.push((start, *expected, expected + surplus));
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
                // A nanosecond is as fine as time goes here.
                prop_assert!(consumed <= most + rate * 1e-6, "{} of {} from {:?} to {:?}", consumed, most, begin, end);
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
        fn what_was_not_taken_after_all_is_there_for_the_next(rate in 1.0..2000.0, units in 10.0..200.0) {
            let done = run(rate, &[(units, 1.0 - units, 0), (units, 0.0, 0)]);
            let apart = done[1].0.saturating_sub(done[0].0);
            prop_assert!((apart.as_secs_f64() - 1.0 / rate).abs() < 1e-6, "{:?}", apart);
        }

        #[test]
        fn a_new_bucket_is_empty(rate in 1.0..2000.0, units in 1.0..200.0) {
            let wait = TokenBucket::new(rate, BEGIN).earliest(units, BEGIN).saturating_sub(BEGIN);
            prop_assert!((wait.as_secs_f64() - units / rate).abs() < 1e-6);
        }

        #[test]
        fn who_has_work_all_the_time_gets_the_whole_rate(rate in 10.0..2000.0, units in 1.0..200.0) {
            let done = run(rate, &[(units, 0.0, 0); 50]);
            let lasted = done[49].0.saturating_sub(BEGIN);
            prop_assert!((lasted.as_secs_f64() - 50.0 * units / rate).abs() < 1e-3);
        }
    }
}
