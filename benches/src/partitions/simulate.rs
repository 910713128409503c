//! Traffic over a table: what is throttled at first, and what still is when splitting has done all it can.

use std::collections::BTreeMap;

use key_schema::layout::PlaceText;

use super::demand::{Demand, Run};
use super::fleet::{Fleet, Throttled};
use super::limits::TICK;

/// More orders a second than anybody has.
pub(super) const MOST_ORDERS: f64 = 1_000_000.0;

/// For so many ticks at the end it counts what is throttled, and it is when most of them are.
const JUDGED: u32 = 5;
/// Splits double what is hot. After these there are more partitions than any account has.
const MOST_TICKS: u32 = 40;

/// What became of a table under so many orders a second.
#[derive(Debug)]
pub(super) struct Outcome {
    /// What a fresh table throttles in its first minute.
    pub(super) at_first: Option<Hot>,
    /// What is throttled for good.
    pub(super) for_good: Option<Hot>,
    /// After so many minutes nothing more was to be split.
    pub(super) minutes: u32,
    /// How many partitions there are in the end, of the table and of each index.
    pub(super) partitions: BTreeMap<&'static str, usize>,
}

/// What a partition is hot with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hot {
    pub(super) place: Option<PlaceText>,
    /// What is asked of its partition, where 1 is all that it can give.
    pub(super) usage: f64,
}

/// Lets so many orders a second come in until nothing changes any more.
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

/// The most orders a second at which nothing is throttled for good, to half a per cent, and what is beyond. None: that
/// is more than [`MOST_ORDERS`].
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

/// How far a tick is from the mean: as far as a Poisson process is.
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
