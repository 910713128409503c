//! Simulates transactions on one item: each holds it for some time, and others are cancelled meanwhile and retried.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use lambda::longest_pause;

use crate::figures::as_float;

/// The results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contention {
    /// The share of first attempts with a conflict.
    pub(super) conflicts: f64,
    /// The mean number of attempts for each order. Each attempt is billed.
    pub(super) tries: f64,
    /// The share of orders that time out.
    pub(super) given_up: f64,
}

/// The number of simulated orders.
const ORDERS: usize = 20_000;

/// Simulates random orders of one item at this rate, where each transaction holds the item for `window` milliseconds.
/// They are retried like in Till, for `patience`, or not at all.
pub(super) fn contend(rate: f64, window: f64, patience: Option<Duration>, seed: u64) -> Contention {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tries = BinaryHeap::new();
    let mut now = 0.0;
    for _ in 0..ORDERS {
        now -= random.f64().max(f64::MIN_POSITIVE).ln() * 1_000.0 / rate;
        tries.push(Reverse(Try { at: now, number: 1, since: now }));
    }
    let (mut free_at, mut first, mut all, mut given_up) = (0.0, 0, 0, 0);
    while let Some(Reverse(Try { at, number, since })) = tries.pop() {
        all += 1;
        if at >= free_at {
            free_at = at + window;
            continue;
        }
        first += usize::from(number == 1);
        let next = at + random.f64() * milliseconds(longest_pause(number - 1));
        if patience.is_some_and(|patience| next - since < milliseconds(patience)) {
            tries.push(Reverse(Try { at: next, number: number + 1, since }));
        } else {
            given_up += 1;
        }
    }
    let of_orders = |count: usize| as_float(count) / as_float(ORDERS);
    Contention { conflicts: of_orders(first), tries: of_orders(all), given_up: of_orders(given_up) }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

struct Try {
    at: f64,
    number: u32,
    since: f64,
}

impl Ord for Try {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.total_cmp(&other.at)
    }
}

impl PartialOrd for Try {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Try {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Try {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATIENCE: Duration = Duration::from_secs(14);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Erlang's loss formula for one server.
        #[test]
        fn without_retries_as_many_meet_as_erlang_says(busy in 0.05_f64..3.0, window in 1.0_f64..20.0, seed: u64) {
            let rate = busy * 1_000.0 / window;
            let Contention { conflicts, .. } = contend(rate, window, None, seed);
            prop_assert!((conflicts - busy / (1.0 + busy)).abs() < 0.03, "{conflicts} at {busy}");
        }

        #[test]
        fn nobody_gives_up_while_the_item_is_half_free(window in 1.0_f64..20.0, seed: u64) {
            let contention = contend(500.0 / window, window, Some(PATIENCE), seed);
            prop_assert!(contention.given_up < 0.001, "{contention:?}");
        }

        #[test]
        fn more_than_one_transaction_at_a_time_is_more_than_an_item_takes(window in 1.0_f64..20.0, seed: u64) {
            let rate = 1_500.0 / window;
            // Retried orders are served late, so the simulation must be long compared with the retries.
            let contention = contend(rate, window, Some(PATIENCE), seed);
            let lasting = as_float(ORDERS) / rate * 1_000.0;
            prop_assume!(lasting > 3.0 * milliseconds(PATIENCE));
            prop_assert!(contention.given_up > 0.05, "{contention:?}");
        }
    }
}
