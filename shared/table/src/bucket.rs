//! A token bucket that paces transactions by the capacity they consume.

use std::time::Duration;

/// A token bucket that starts empty and holds at most the units of one transaction.
///
/// Invariant: over any window of time, the units consumed are at most `rate` times the window, plus one transaction.
/// Neither an idle period nor a new bucket permits a burst. (If a bucket held a second's worth of units, every new
/// execution environment would start with a burst of one second's worth.)
///
/// The state is one moment: everything that has started is paid for up to `paid_until`. A transaction starts once its
/// units have been earned, and the next one earns from that moment on. A start that a timer delays therefore does not
/// delay the starts after it.
///
/// The caller supplies the time, as a duration since any fixed moment.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBucket {
    /// Units per second.
    rate: f64,
    paid_until: Duration,
}

impl TokenBucket {
    /// An empty bucket. `rate` is in units per second and must be positive.
    pub fn new(rate: f64, now: Duration) -> Self {
        Self { rate, paid_until: now }
    }

    /// The earliest moment at which a transaction of `units` may start.
    pub fn earliest(&self, units: f64, now: Duration) -> Duration {
        self.paid_until.saturating_add(self.time(units)).max(now)
    }

    /// Records that a transaction starts at `at`, which must not be before its [`earliest`](Self::earliest) moment.
    pub fn start(&mut self, at: Duration) {
        self.paid_until = at;
    }

    /// Corrects the estimate of a transaction that has started: `units` is what was consumed minus what was estimated.
    pub fn correct(&mut self, units: f64) {
        self.paid_until = if units < 0.0 {
            self.paid_until.saturating_sub(self.time(-units))
        } else {
            self.paid_until.saturating_add(self.time(units))
        };
    }

    /// The time it takes to earn `units`.
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

    /// A transaction: its estimated units, the units that it consumes beyond the estimate, and the idle time before it.
    #[derive(Clone, Copy, Debug)]
    struct Transaction {
        estimate: f64,
        surplus: f64,
        idle: Duration,
    }

    fn transactions(surplus: impl Strategy<Value = f64>) -> impl Strategy<Value = Vec<Transaction>> {
        let idle = prop_oneof![Just(0), 0..10_000_u64].prop_map(Duration::from_millis);
        let transaction = (1.0..200.0, surplus, idle);
        vec(transaction.prop_map(|(estimate, surplus, idle)| Transaction { estimate, surplus, idle }), 1..60)
    }

    /// Starts each transaction as early as the bucket allows. Returns the time of each start.
    fn starts(rate: f64, transactions: &[Transaction]) -> Vec<Duration> {
        let mut now = BEGIN;
        let mut bucket = TokenBucket::new(rate, now);
        let starts = transactions.iter().map(|transaction| {
            now += transaction.idle;
            let start = bucket.earliest(transaction.estimate, now);
            bucket.start(start);
            bucket.correct(transaction.surplus);
            start
        });
        starts.collect()
    }

    /// Checks the invariant for every window that begins and ends with a transaction. Any other window is longer or
    /// contains fewer transactions.
    fn check(rate: f64, transactions: &[Transaction]) -> Result<(), TestCaseError> {
        let started: Vec<_> = starts(rate, transactions).into_iter().zip(transactions).collect();
        for (at, (begin, first)) in started.iter().enumerate() {
            let mut consumed = 0.0;
            for (end, last) in &started[at..] {
                consumed += last.estimate + last.surplus;
                let most = rate * end.saturating_sub(*begin).as_secs_f64() + first.estimate + last.surplus;
                // Durations are rounded to nanoseconds.
                prop_assert!(consumed <= most + rate * 1e-6, "{} of {} from {:?} to {:?}", consumed, most, begin, end);
            }
        }
        Ok(())
    }

    /// A transaction right after the one before.
    fn immediate(estimate: f64, surplus: f64) -> Transaction {
        Transaction { estimate, surplus, idle: Duration::ZERO }
    }

    proptest! {
        #[test]
        fn over_any_window_consumption_is_at_most_the_rate_plus_one_transaction(
            rate in 1.0..2000.0, transactions in transactions(Just(0.0)),
        ) {
            check(rate, &transactions)?;
        }

        #[test]
        fn a_transaction_that_consumes_more_than_estimated_delays_the_next(
            rate in 1.0..2000.0, transactions in transactions(0.0..300.0),
        ) {
            check(rate, &transactions)?;
        }

        #[test]
        fn units_that_a_transaction_did_not_consume_are_left_for_the_next(rate in 1.0..2000.0, units in 10.0..200.0) {
            let starts = starts(rate, &[immediate(units, 1.0 - units), immediate(units, 0.0)]);
            let [first, second] = *starts else { panic!("two starts") };
            let apart = second.saturating_sub(first);
            prop_assert!((apart.as_secs_f64() - 1.0 / rate).abs() < 1e-6, "{:?}", apart);
        }

        #[test]
        fn a_new_bucket_is_empty(rate in 1.0..2000.0, units in 1.0..200.0) {
            let wait = TokenBucket::new(rate, BEGIN).earliest(units, BEGIN).saturating_sub(BEGIN);
            prop_assert!((wait.as_secs_f64() - units / rate).abs() < 1e-6);
        }

        #[test]
        fn back_to_back_transactions_get_the_whole_rate(rate in 10.0..2000.0, units in 1.0..200.0) {
            let starts = starts(rate, &[immediate(units, 0.0); 50]);
            let lasted = starts.last().expect("50 starts").saturating_sub(BEGIN);
            prop_assert!((lasted.as_secs_f64() - 50.0 * units / rate).abs() < 1e-3);
        }
    }
}
