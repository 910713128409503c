//! The operator of a migration, whose workers are killed and fall asleep.

use std::pin::Pin;
use std::sync::Mutex;
use std::time::Instant;

use copying::{Error, Migrator, State};
use fastrand::Rng;
use key_schema::entity::{CopyProgress, CopyTask, Phase};
use shop::kills::for_steps;
use table::Pairs;

use shop::{PATIENCE, until_some};

use super::background::{pairs, worker};
use super::laws;
use super::world::{CACHE, World};
use crate::prelude::*;

/// The most steps that a worker takes before it is killed or falls asleep.
const MOST_STEPS: usize = 250;

type Work = Pin<Box<dyn Future<Output = Result<CopyProgress, Error>> + Send>>;

pub struct Operator {
    world: Arc<World>,
    pairs: Pairs,
    migrator: Migrator,
    random: Rng,
    phase: Phase,
    /// When the last step was done.
    stepped: Instant,
    /// Whether an item and its copy are known to be equal, or a repair to be due.
    pub is_in_step: bool,
    /// Workers that stopped in the middle, and go on later. The lock makes the operator `Sync`.
    asleep: Mutex<Vec<Work>>,
    awake: JoinSet<Result<CopyProgress, Error>>,
}

/// The phases through which a migration goes that never turns back, up to the one before the last.
pub const FORWARDS: [Phase; 5] = [Phase::Both, Phase::Compare, Phase::Handover, Phase::Takeover, Phase::NextLeads];

/// The phases through which the migration of this seed goes, up to the one before the last.
pub fn route(seed: u64) -> Vec<Phase> {
    use Phase::{Both, Compare, First, Handover, Next, NextLeads, Takeover};

    let line = FORWARDS;
    match seed % 3 {
        // To the end, back to the beginning, and forwards again.
        1 => [&line[..], &[Next, NextLeads, Takeover, Handover, Compare, Both, First], &line].concat(),
        // From each phase one step back, and forwards again.
        2 => {
            let mut route = vec![Both, First, Both];
            for pair in line.windows(2) {
                route.extend([pair[1], pair[0], pair[1]]);
            }
            route.extend([Next, NextLeads]);
            route
        }
        // Somewhere.
        _ => {
            let (mut random, mut route) = (Rng::with_seed(seed), vec![Both]);
            while route.len() < 12 || route.last() != Some(&NextLeads) {
                let last = route[route.len() - 1];
                let is_forwards = random.u8(..100) < 62;
                let next = if is_forwards { last.forwards() } else { last.back() };
                route.extend(next.or(last.forwards()).or(last.back()));
            }
            route
        }
    }
}

impl Operator {
    pub fn new(world: &Arc<World>) -> Self {
        let pairs = pairs(world);
        let migrator = Migrator::new(pairs.clone(), CACHE);
        let random = world.random(4);
        Self {
            world: Arc::clone(world),
            pairs,
            migrator,
            random,
            phase: Phase::First,
            stepped: Instant::now(),
            is_in_step: false,
            asleep: Mutex::default(),
            awake: JoinSet::new(),
        }
    }

    /// Goes through these phases, and does in each what the next one needs.
    pub async fn walk(&mut self, route: &[Phase]) {
        for (at, phase) in route.iter().enumerate() {
            self.step(*phase).await;
            self.wake_some();
            // Functions of both phases work side by side.
            tokio::time::sleep(Duration::from_millis(self.random.u64(20..150))).await;
            self.settle().await;
            self.prepare(route.get(at + 1).copied()).await;
            if self.random.u8(..3) == 0 {
                let world = Arc::clone(&self.world);
                let _closed = world.gate.write().await;
                laws::in_between(&world, self).await;
                world.fail();
            }
        }
    }

    /// Does what the next step needs, and sometimes more.
    async fn prepare(&mut self, next: Option<Phase>) {
        let is_extra = self.random.u8(..5) == 0;
        let (must_copy, may_copy) = match self.phase {
            Phase::Both => (next == Some(Phase::Compare), true),
            Phase::Compare => (false, true),
            Phase::NextLeads => (!self.is_in_step && next != Some(Phase::Next), true),
            _ => (false, false),
        };
        if must_copy || is_extra && may_copy {
            self.run(CopyTask::Copy).await;
            self.is_in_step = true;
        }
        let (must_compare, may_compare) = match self.phase {
            Phase::Compare => (next == Some(Phase::Handover), true),
            Phase::NextLeads => (next == Some(Phase::Takeover), self.is_in_step),
            _ => (false, false),
        };
        if must_compare || is_extra && may_compare {
            self.compare().await;
        }
    }

    /// Waits until no function works by the phase before.
    async fn settle(&self) {
        self.world.settled(self.stepped).await;
    }

    async fn state(&self) -> State {
        until_some("the state can be read", async || self.migrator.state().await.ok()).await
    }

    /// Makes a step, as soon as nothing stands in its way but what passes by itself.
    pub async fn step(&mut self, to: Phase) {
        self.settle().await;
        let begin = Instant::now();
        loop {
            let state = self.state().await;
            if state.phase() == to {
                break;
            }
            let obstacles = self.migrator.obstacles(&state, to, true);
            if let Some(lasting) = obstacles.iter().find(|obstacle| !obstacle.passes_by_itself()) {
                panic!("no step from {:?} to {to:?}: {lasting}", self.phase);
            }
            if obstacles.is_empty() {
                self.world.phase_begins(to);
            }
            // Somebody else may stand in the way again, and a step that was not answered may have been made.
            let stepped = self.migrator.step(&state, to, true).await;
            assert!(begin.elapsed() < PATIENCE, "no step to {to:?}: {stepped:?}, {obstacles:?}");
            if stepped.is_err() {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        }
        self.world.phase_began();
        self.is_in_step &= to.writes_both();
        (self.phase, self.stepped) = (to, Instant::now());
    }

    /// Compares the tables. Nothing may differ.
    pub async fn compare(&mut self) -> Vec<CopyProgress> {
        let segments = self.run(CopyTask::Compare).await;
        let differences: u64 = segments.iter().map(|segment| segment.differences).sum();
        if differences > 0 {
            let keys: Vec<_> = segments.iter().flat_map(|segment| &segment.differing).collect();
            self.world.complain(format!("in {:?}, {differences} items differ: {keys:?}", self.phase));
        }
        segments
    }

    /// Starts a run, and works it off.
    async fn run(&mut self, task: CopyTask) -> Vec<CopyProgress> {
        let number = self.random.u8(1..=4);
        let starts = async || self.migrator.start(&self.state().await, task, number).await.is_ok();
        until("a run starts", starts).await;
        let begin = Instant::now();
        loop {
            let state = self.state().await;
            if state.segments.iter().all(|segment| segment.is_done) {
                let copied: u64 = state.segments.iter().map(|segment| segment.copied).sum();
                self.world.figures().copied += copied;
                return state.segments;
            }
            assert!(begin.elapsed() < PATIENCE, "the run does not end");
            self.work(state.segments.into_iter().filter(|segment| !segment.is_done)).await;
        }
    }

    /// Workers try their luck with these segments. Some of them are killed, and some segments have two workers.
    async fn work(&mut self, segments: impl Iterator<Item = CopyProgress>) {
        let mut working = JoinSet::new();
        for segment in segments {
            let workers = if self.random.u8(..6) == 0 { 2 } else { 1 };
            for _ in 0..workers {
                let (mut worker, segment) = (worker(&self.pairs), segment.clone());
                let mut work: Work = Box::pin(async move { worker.work(segment, None, |_| {}).await });
                let steps = if self.random.bool() { self.random.usize(0..MOST_STEPS) } else { usize::MAX };
                working.spawn(async move {
                    match for_steps(steps, &mut work).await {
                        Some(outcome) => Ok(outcome),
                        None => Err(work),
                    }
                });
            }
        }
        while let Some(ended) = working.join_next().await {
            match ended.expect("no worker panics") {
                // Another worker was faster, or requests failed for too long.
                Ok(Ok(_) | Err(Error::Superseded | Error::Table(_))) => {}
                Ok(Err(error)) => self.world.complain(format!("a worker stopped: {error}")),
                Err(work) if self.random.u8(..3) == 0 => {
                    self.world.figures().asleep += 1;
                    self.asleep().push(work);
                }
                Err(_) => self.world.figures().workers_killed += 1,
            }
        }
    }

    fn asleep(&mut self) -> &mut Vec<Work> {
        self.asleep.get_mut().expect("no panic with the lock")
    }

    /// Some of the workers that fell asleep go on, in whatever phase this is.
    fn wake_some(&mut self) {
        if self.random.bool() {
            for work in std::mem::take(self.asleep()) {
                self.awake.spawn(work);
            }
        }
    }

    /// All workers that fell asleep go on and end. None of them has anything to do.
    pub async fn wake_all(&mut self) {
        for work in std::mem::take(self.asleep()) {
            self.awake.spawn(work);
        }
        while let Some(ended) = self.awake.join_next().await {
            _ = ended.expect("no worker panics");
        }
    }
}
