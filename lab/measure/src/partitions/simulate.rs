//! Simulates traffic over a table: what is throttled at first, and what is still throttled after all useful splits.

use std::collections::BTreeMap;

use key_schema::layout::PlaceText;

use super::demand::{Demand, Run};
use super::fleet::{Fleet, Throttled};
use super::limits::TICK;

/// The upper bound of simulated orders a second.
pub(super) const MOST_ORDERS: f64 = 1_000_000.0;

/// The number of ticks at the end that are judged. A partition counts as throttled if it is in most of them.
const JUDGED: u32 = 5;
/// The most ticks. Each can double the hot partitions, so this is enough for any account.
const MOST_TICKS: u32 = 40;

/// The result for a table at a rate of orders.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The hottest throttled key of a new table in its first minute.
    pub(super) at_first: Option<Hot>,
    /// The hottest key that stays throttled.
    pub(super) for_good: Option<Hot>,
    /// The number of minutes with a split.
    pub(super) minutes: u32,
    /// The final number of partitions of the table and of each index.
    pub(super) partitions: BTreeMap<&'static str, usize>,
}

/// The key that makes a partition hot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hot {
    pub(super) place: Option<PlaceText>,
    /// The demand on its partition, as a multiple of its limit.
    pub(super) usage: f64,
}

/// Simulates this rate of orders until the partitions do not change any more.
pub(super) fn simulate(demand: &Demand, rate: f64, seed: u64) -> Outcome {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut outcome = Outcome { at_first: None, for_good: None, minutes: 0, partitions: BTreeMap::new() };
    for (&index, load) in &demand.0 {
        let mut fleet = Fleet::fresh(load);
        let mut tick = |fleet: &mut Fleet<'_>| fleet.weigh(rate, |run| noise(&mut random, run, rate));
        let mut minutes = 0;
        loop {
            tick(&mut fleet);
            if minutes == 0 {
                hotter(&mut outcome.at_first, fleet.throttled(rate));
            }
            minutes += 1;
            if !fleet.split(rate) || minutes == MOST_TICKS {
                break;
            }
        }
        let judged: Vec<_> = (0..JUDGED)
            .filter_map(|_| {
                tick(&mut fleet);
                fleet.throttled(rate)
            })
            .collect();
        if judged.len() > JUDGED as usize / 2 {
            hotter(&mut outcome.for_good, judged.last().copied());
        }
        outcome.minutes = outcome.minutes.max(minutes - 1);
        outcome.partitions.insert(index, fleet.len());
    }
    outcome
}

/// The highest rate of orders without permanent throttling, to half a per cent, and the key that throttles above it.
/// `None`: the rate is above [`MOST_ORDERS`].
pub(super) fn failing_rate(demand: &Demand, seed: u64) -> Option<(f64, Hot)> {
    let hot_at = |rate: f64| simulate(demand, rate, seed).for_good;
    let (mut low, mut high, mut hot) = (1.0, MOST_ORDERS, hot_at(MOST_ORDERS)?);
    while high / low > 1.005 {
        let middle = f64::sqrt(low * high);
        match hot_at(middle) {
            Some(found) => (high, hot) = (middle, found),
            None => low = middle,
        }
    }
    Some((low, hot))
}

/// The deviation of a tick from the mean, as in a Poisson process.
fn noise(random: &mut fastrand::Rng, run: &Run, rate: f64) -> f64 {
    let events = (rate * TICK * run.heat.written.max(run.heat.read)).max(1.0);
    let normal = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    (1.0 + normal / events.sqrt()).max(0.0)
}

fn hotter(hot: &mut Option<Hot>, throttled: Option<Throttled<'_>>) {
    let Some(Throttled { hottest, usage }) = throttled else { return };
    if hot.as_ref().is_none_or(|hot| hot.usage < usage) {
        *hot = Some(Hot { place: hottest.map(|run| run.place), usage });
    }
}
