//! The consumers of the shards, driven by events.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use counting::{Batch, Folding, MOST_COUNTERS, Next, PARKED_FOR, Step, Work};
use key_schema::layout::{Key, Stored as _};
use key_schema::value::{SequenceNumber, ShardId};
use lambda::longest_pause;

use super::event::{Event, Events, Happening};
use super::orders::{Orders, RECORDS};
use super::table::{Done, Table, parked_by};
use crate::figures::as_float;

/// The seconds after which a transaction is answered.
const TRANSACTION: f64 = 0.018;

/// The seconds after which any other request is answered, and for which Lambda takes to invoke a consumer.
const REQUEST: f64 = 0.005;

/// The most records of a batch, and the seconds for which Lambda waits for more, as in `template.yaml`.
const BATCH: u64 = 1_000;
const WINDOW: f64 = 5.0;

/// The seconds for which a consumer folds the counts of others, as in `count-orders`.
const TURN: f64 = 5.0;

/// The most writes of a transaction.
const MOST_WRITES: usize = MOST_COUNTERS + 1;

/// What a consumer does if its transaction meets another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// It tries the same transaction again after a pause, as release 0.1.0 did.
    TryAgain,
    /// It parks its counts, as `count-orders` does.
    Park,
}

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    pub(super) protocol: Protocol,
    pub(super) shards: u16,
    /// The orders that come in, a second.
    pub(super) rate: f64,
    /// The orders that wait in the stream at the beginning.
    pub(super) backlog: u32,
    /// The seconds before the measurement, and its seconds.
    pub(super) warm_up: f64,
    pub(super) measured: f64,
    /// The time within which a batch must be counted. Otherwise Lambda delivers it again.
    pub(super) patience: Duration,
    pub(super) seed: u64,
}

/// The outcome of a measurement.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// What was done in the measured time.
    pub(super) done: Done,
    pub(super) seconds: f64,
    /// The orders that came in and are not counted at the end.
    pub(super) left: f64,
}

/// A consumer of one shard.
struct Consumer {
    shard: ShardId,
    /// The orders that wait in the shard, and the time up to which they came in.
    waiting: u64,
    waiting_at: f64,
    /// The time since which Lambda waits for a batch.
    window: f64,
    /// The last sequence number.
    number: u64,
    mark: Option<SequenceNumber>,
    batch: Batch,
    /// The step of the next attempt.
    step: Option<Step>,
    began: f64,
    tries: u32,
    parks_until: f64,
    parked: BTreeMap<u8, Vec<Key>>,
    foldings: BTreeMap<u8, Run>,
}

/// The folding of one group by one consumer.
struct Run {
    folding: Folding,
    tries: u32,
    turn_ends: f64,
}

struct Simulation<'a> {
    scene: Scene,
    orders: &'a Orders,
    random: fastrand::Rng,
    events: Events,
    table: Table,
    consumers: Vec<Consumer>,
    came_in: f64,
}

/// Simulates the scene.
pub(super) fn simulate(scene: Scene, orders: &Orders) -> Result<Outcome> {
    let mut random = fastrand::Rng::with_seed(scene.seed);
    let mut consumers = Vec::new();
    let mut events = Events::default();
    let each = u64::from(scene.backlog / u32::from(scene.shards));
    for shard in 0..scene.shards {
        let window = -WINDOW * random.f64();
        let shard_id = format!("shardId-{shard:05}").parse()?;
        consumers.push(Consumer::new(shard_id, each, window));
        events.add(0.1 * random.f64(), usize::from(shard), Happening::Poll);
    }
    let came_in = as_float(usize::try_from(each)?) * f64::from(scene.shards);
    let table = Table::new(orders.day());
    let mut simulation = Simulation { scene, orders, random, events, table, consumers, came_in };
    simulation.run_until(scene.warm_up)?;
    let before = simulation.table.done.clone();
    simulation.run_until(scene.warm_up + scene.measured)?;
    simulation.arrive_everywhere(scene.warm_up + scene.measured);
    let counted = as_float(usize::try_from(simulation.table.done.counted)?);
    let done = simulation.table.done.since(&before);
    Ok(Outcome { done, seconds: scene.measured, left: simulation.came_in - counted })
}

impl Simulation<'_> {
    fn run_until(&mut self, end: f64) -> Result<()> {
        while let Some(Event { at, consumer, happening, .. }) = self.events.next_before(end) {
            let next = match happening {
                Happening::Poll => self.poll(consumer, at)?,
                Happening::Count => self.count(consumer, at),
                Happening::Fold(group) => self.fold(consumer, group, at),
            };
            if let Some((after, next)) = next {
                self.events.add(at + after, consumer, next);
            }
        }
        Ok(())
    }

    /// The orders that came in since the last look.
    fn arrive(&mut self, at: usize, now: f64) {
        let consumer = &mut self.consumers[at];
        let mean = (now - consumer.waiting_at) * self.scene.rate / f64::from(self.scene.shards);
        let arrived = poisson(mean, &mut self.random);
        consumer.waiting += arrived;
        consumer.waiting_at = now;
        self.came_in += as_float(usize::try_from(arrived).unwrap_or(usize::MAX));
    }

    fn arrive_everywhere(&mut self, now: f64) {
        (0..self.consumers.len()).for_each(|at| self.arrive(at, now));
    }

    /// Lambda invokes the consumer if a batch is full, or the batching window is over.
    fn poll(&mut self, at: usize, now: f64) -> Result<Option<(f64, Happening)>> {
        self.arrive(at, now);
        let consumer = &mut self.consumers[at];
        let is_full = consumer.waiting * RECORDS >= BATCH;
        let window_ends = consumer.window + WINDOW;
        if consumer.waiting == 0 || !is_full && now < window_ends {
            return Ok(Some(((window_ends - now).clamp(0.05, 0.5), Happening::Poll)));
        }
        let orders = consumer.waiting.min(BATCH / RECORDS);
        consumer.waiting -= orders;
        let mut records = Vec::new();
        for _ in 0..orders {
            records.extend(self.orders.next(consumer.number + 1, &mut self.random)?);
            consumer.number += RECORDS;
        }
        consumer.batch = Batch::new(records, consumer.mark.clone());
        (consumer.began, consumer.tries, consumer.window) = (now, 0, now);
        if self.scene.protocol == Protocol::Park && now < consumer.parks_until {
            consumer.batch.park();
        }
        Ok(Some((REQUEST, Happening::Count)))
    }

    /// The consumer's next request for its batch.
    fn count(&mut self, at: usize, now: f64) -> Option<(f64, Happening)> {
        let consumer = &mut self.consumers[at];
        let step = match consumer.step.take() {
            Some(step) => step,
            None => match consumer.batch.next() {
                Next::Apply(step) => step,
                Next::Mark => {
                    consumer.batch.found(consumer.mark.clone());
                    return Some((REQUEST, Happening::Count));
                }
                Next::Fold => {
                    self.begin_to_fold(at, now);
                    return None;
                }
                // Every record is readable, and no order is cancelled.
                Next::Done | Next::Lines(_) | Next::GiveUp(_) => return Some((0.0, Happening::Poll)),
            },
        };
        if self.table.count(&consumer.shard, &step, now) {
            for item in parked_by(&consumer.shard, &step, now) {
                consumer.parked.entry(item.group).or_default().push(item.key());
            }
            consumer.mark = Some(step.mark.clone());
            consumer.batch.applied(step);
            consumer.tries = 0;
            return Some((TRANSACTION, Happening::Count));
        }
        if self.scene.protocol == Protocol::Park && !step.parks {
            consumer.batch.met_another();
            if consumer.batch.parks() {
                consumer.parks_until = now + PARKED_FOR.as_secs_f64();
                return Some((TRANSACTION, Happening::Count));
            }
            return Some((TRANSACTION + pause(0, &mut self.random), Happening::Count));
        }
        consumer.step = Some(step);
        if now - consumer.began > self.scene.patience.as_secs_f64() {
            (consumer.began, consumer.tries) = (now, 0);
        }
        let pause = pause(consumer.tries, &mut self.random);
        consumer.tries += 1;
        Some((TRANSACTION + pause, Happening::Count))
    }

    fn begin_to_fold(&mut self, at: usize, now: f64) {
        let consumer = &mut self.consumers[at];
        for (group, keys) in std::mem::take(&mut consumer.parked) {
            let folding = Folding::of(keys, MOST_WRITES);
            consumer.foldings.insert(group, Run { folding, tries: 0, turn_ends: 0.0 });
            self.events.add(now + REQUEST, at, Happening::Fold(group));
        }
    }

    /// The consumer's next request for folding a group.
    fn fold(&mut self, at: usize, group: u8, now: f64) -> Option<(f64, Happening)> {
        let consumer = &mut self.consumers[at];
        let run = consumer.foldings.get_mut(&group)?;
        let again = Happening::Fold(group);
        match run.folding.next() {
            Work::Done => {
                consumer.foldings.remove(&group);
                return consumer.foldings.is_empty().then(|| {
                    consumer.batch.folded();
                    (0.0, Happening::Count)
                });
            }
            Work::Wait => {
                run.folding.waited();
                let pause = pause(run.tries, &mut self.random);
                run.tries += 1;
                return Some((pause, again));
            }
            Work::Look => {
                let (existing, is_free) = self.table.look(group, run.folding.awaited(), now);
                run.folding.looked(&existing, is_free);
            }
            Work::Take => {
                run.folding.took(self.table.take(group, now));
                (run.turn_ends, run.tries) = (now + TURN, 0);
            }
            Work::List => run.folding.listed(&self.table.list(group, now)),
            Work::Release => {
                self.table.release(group);
                run.folding.released();
            }
            Work::Fold(fold) => {
                let Some(is_written) = self.table.fold(group, &fold, now) else {
                    let pause = pause(run.tries, &mut self.random);
                    run.tries += 1;
                    return Some((TRANSACTION + pause, again));
                };
                run.tries = 0;
                if now >= run.turn_ends {
                    run.folding.stop();
                }
                run.folding.folded(is_written);
                return Some((TRANSACTION, again));
            }
        }
        Some((REQUEST, again))
    }
}

impl Consumer {
    fn new(shard: ShardId, waiting: u64, window: f64) -> Self {
        Self {
            shard,
            waiting,
            waiting_at: 0.0,
            window,
            number: 0,
            mark: None,
            batch: Batch::new(Vec::new(), None),
            step: None,
            began: 0.0,
            tries: 0,
            parks_until: 0.0,
            parked: BTreeMap::new(),
            foldings: BTreeMap::new(),
        }
    }
}

fn pause(retries: u32, random: &mut fastrand::Rng) -> f64 {
    longest_pause(retries).mul_f64(random.f64()).as_secs_f64()
}

/// A random number of arrivals, of which there are this many in the mean.
fn poisson(mean: f64, random: &mut fastrand::Rng) -> u64 {
    let (mut time, mut arrivals) = (0.0, 0);
    loop {
        time -= random.f64().max(f64::MIN_POSITIVE).ln();
        if time > mean {
            return arrivals;
        }
        arrivals += 1;
    }
}
