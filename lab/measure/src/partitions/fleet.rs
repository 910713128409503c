//! The partitions of one index, and their splits for heat.

use super::demand::{Heat, Load, Run};
use super::limits::{FIRST_PARTITIONS, HEAT, READ_UNITS, WRITE_UNITS};

/// Partitions, in the order of the hash.
pub(super) struct Fleet<'a> {
    load: &'a Load,
    partitions: Vec<Partition>,
    /// The cumulative heat of the runs.
    before: Vec<Heat>,
}

/// A range of hashes, and within the first and last hash a range of sort keys: the runs from one to another.
#[derive(Clone, Copy, Debug)]
struct Partition {
    low: f64,
    high: f64,
    first: usize,
    end: usize,
}

/// A throttled partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Throttled<'a> {
    /// The hottest run. `None`: only keys that occur once.
    pub(super) hottest: Option<&'a Run>,
    /// The demand on it, as a multiple of its limit.
    pub(super) usage: f64,
}

impl<'a> Fleet<'a> {
    /// The partitions of a new table.
    pub(super) fn fresh(load: &'a Load) -> Self {
        let count = f64::from(FIRST_PARTITIONS);
        let partitions = (0..FIRST_PARTITIONS).map(|number| {
            let (low, high) = (f64::from(number) / count, f64::from(number + 1) / count);
            let position = |hash: f64| load.runs.partition_point(|run| run.hash < hash);
            Partition { low, high, first: position(low), end: position(high) }
        });
        Self { load, partitions: partitions.collect(), before: vec![Heat::default(); load.runs.len() + 1] }
    }

    /// The number of partitions.
    pub(super) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// Sets the heat of each run at this rate of orders: its mean, multiplied by `noise`.
    pub(super) fn weigh(&mut self, rate: f64, mut noise: impl FnMut(&Run) -> f64) {
        let mut sum = Heat::default();
        for (position, run) in self.load.runs.iter().enumerate() {
            sum = sum.plus(run.heat.times(rate * noise(run)));
            self.before[position + 1] = sum;
        }
    }

    /// Write units a second of all partitions together.
    #[cfg(test)]
    pub(super) fn written(&self, rate: f64) -> f64 {
        self.partitions.iter().map(|partition| self.asked_of(partition, rate).written).sum()
    }

    /// The most throttled partition.
    pub(super) fn throttled(&self, rate: f64) -> Option<Throttled<'a>> {
        let usages = self.partitions.iter().map(|partition| (partition, self.usage(partition, rate)));
        let (partition, usage) = usages.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let runs = &self.load.runs[partition.first..partition.end];
        let hottest = runs.iter().max_by(|a, b| usage_of(a.heat).total_cmp(&usage_of(b.heat)));
        (usage > 1.0).then_some(Throttled { hottest, usage })
    }

    /// Splits every hot partition in two, if that helps. Returns whether any was split.
    pub(super) fn split(&mut self, rate: f64) -> bool {
        let before = std::mem::take(&mut self.partitions);
        let count = before.len();
        for partition in before {
            let is_hot = self.usage(&partition, rate) > HEAT;
            match is_hot.then(|| self.halves(&partition, rate)).flatten() {
                Some(halves) => self.partitions.extend(halves),
                None => self.partitions.push(partition),
            }
        }
        self.partitions.len() > count
    }

    fn asked_of(&self, partition: &Partition, rate: f64) -> Heat {
        let runs = self.before[partition.end].less(self.before[partition.first]);
        runs.plus(self.load.dust.times(rate * (partition.high - partition.low)))
    }

    fn usage(&self, partition: &Partition, rate: f64) -> f64 {
        usage_of(self.asked_of(partition, rate))
    }

    /// The split with the coolest hotter half. `None` if that is hardly cooler than the whole: then the heat is at one
    /// point, which is an item or the end of an item collection.
    fn halves(&self, whole: &Partition, rate: f64) -> Option<[Partition; 2]> {
        let cut = |at: f64, position: usize| {
            [Partition { high: at, end: position, ..*whole }, Partition { low: at, first: position, ..*whole }]
        };
        let hotter = |halves: &[Partition; 2]| halves.iter().map(|half| self.usage(half, rate)).fold(0.0, f64::max);
        let middle = whole.low.midpoint(whole.high);
        let runs = &self.load.runs[whole.first..whole.end];
        let in_the_middle = cut(middle, whole.first + runs.partition_point(|run| run.hash < middle));
        let at_a_run = runs
            .iter()
            .zip(whole.first..)
            .flat_map(|(run, position)| [cut(run.hash, position), cut(run.hash, position + 1)]);
        let candidates = at_a_run.chain([in_the_middle]).map(|halves| (hotter(&halves), halves));
        let (usage, halves) = candidates.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (usage < 0.99 * self.usage(whole, rate)).then_some(halves)
    }
}

/// The share of a partition's limits: the larger one of write and read units.
fn usage_of(heat: Heat) -> f64 {
    (heat.written / WRITE_UNITS).max(heat.read / READ_UNITS)
}
