//! Starting runs and making steps.

use std::collections::BTreeMap;
use std::time::Duration;

use key_schema::entity::{CopyProgress, CopyTask, Migration, Phase, Repair, Side};
use key_schema::layout::{REPAIRS_DUE, Stored as _};
use key_schema::value::Timestamp;
use table::{Budget, Commit, Condition, Pairs, Write};

use crate::Error;
use crate::steps::{Facts, Obstacle};

/// The time limit of one change of the migration.
const BUDGET: Duration = Duration::from_secs(20);

/// The most repairs that are counted of each shard.
const REPAIRS: u8 = 100;

/// What is known about a migration.
pub type State = Facts;

/// Starts runs and makes steps, for the operator.
#[derive(Clone, Debug)]
pub struct Migrator {
    pairs: Pairs,
    settle: Duration,
}

impl Migrator {
    /// A migrator over these tables. After each step it lets this time pass.
    pub fn new(pairs: Pairs, settle: Duration) -> Self {
        Self { pairs, settle }
    }

    /// What is known about the migration, strongly consistent.
    pub async fn state(&self) -> Result<State, Error> {
        let budget = Budget::of(BUDGET);
        let migration = migration(&self.pairs, Side::First, budget).await?;
        let segments = self.segments().await?;
        let (repairs_in_first, repairs_in_next) = (self.repairs(Side::First).await?, self.repairs(Side::Next).await?);
        Ok(State { migration, segments, repairs_in_first, repairs_in_next })
    }

    async fn repairs(&self, side: Side) -> Result<usize, Error> {
        let mut number = 0;
        for shard in 0..Repair::SHARDS {
            number += self.pairs.list(side, &REPAIRS_DUE.ask(&shard), None, REPAIRS).await?.0.len();
        }
        Ok(number)
    }

    /// The segments of the last run, strongly consistent.
    pub async fn segments(&self) -> Result<Vec<CopyProgress>, Error> {
        let keys = (0..CopyProgress::MOST_SEGMENTS).map(CopyProgress::key_of).collect();
        let mut segments: Vec<CopyProgress> = self.pairs.read(Side::First, keys, Budget::of(BUDGET)).await?;
        segments.sort_unstable_by_key(|segment| segment.segment);
        Ok(segments)
    }

    /// The reasons why the migration cannot go to this phase yet.
    pub fn obstacles(&self, state: &State, to: Phase, old_release_is_gone: bool) -> Vec<Obstacle> {
        state.obstacles(to, Timestamp::now(), self.settle, old_release_is_gone)
    }

    /// The time until all functions work by the phase; `None` if they do.
    pub fn unsettled(&self, state: &State) -> Option<Duration> {
        state.unsettled(Timestamp::now(), self.settle)
    }

    /// The reasons why a run cannot start yet.
    pub fn obstacles_to_run(&self, state: &State, task: CopyTask) -> Vec<Obstacle> {
        state.obstacles_to_run(task, Timestamp::now(), self.settle)
    }

    /// Starts a run of this many segments, which replaces the one before. A worker of that one writes nothing more.
    ///
    /// # Errors
    /// [`Error::NotNow`] if the phase has no such run yet, or if somebody else changed the migration meanwhile.
    pub async fn start(&self, state: &State, task: CopyTask, segments: u8) -> Result<Vec<CopyProgress>, Error> {
        refuse(&self.obstacles_to_run(state, task))?;
        let Some(migration) = &state.migration else { return Err(Error::NotNow("no migration has begun".to_owned())) };
        let segments = segments.clamp(1, CopyProgress::MOST_SEGMENTS);
        let now = Timestamp::now();
        let run = state.segments.iter().map(|segment| segment.run).max().unwrap_or(0) + 1;
        let leader = migration.phase.leader();
        let begin = |segment| CopyProgress {
            segment,
            segments,
            run,
            task,
            migration_version: migration.version,
            leader,
            scanned: leader,
            last: None,
            pages: 0,
            is_done: false,
            items: 0,
            copied: 0,
            differences: 0,
            differing: Vec::new(),
            sums: BTreeMap::new(),
            started_at: now,
            updated_at: now,
        };
        let new: Vec<_> = (0..segments).map(begin).collect();
        let mut writes = vec![Write::check(Migration::only_key(), Condition::version(migration.version)?)];
        for progress in &new {
            let old = state.segments.iter().find(|old| old.segment == progress.segment);
            writes.push(Write::put_if(progress, old.map_or_else(|| Ok(Condition::absent()), is_of_run)?)?);
        }
        for old in state.segments.iter().filter(|old| usize::from(old.segment) >= new.len()) {
            writes.push(Write::delete_if(old.key(), is_of_run(old)?));
        }
        self.commit(writes.into_iter().map(|write| (Side::First, write)).collect()).await?;
        Ok(new)
    }

    /// Makes a step, in both tables at once: the next table says the same of the migration from its own side. So
    /// functions that are deployed with the tables the other way round have the same leader at every moment, and no
    /// migration that is over misleads a later one.
    ///
    /// # Errors
    /// [`Error::NotNow`] if there is an obstacle, or if somebody else changed the migration meanwhile.
    pub async fn step(&self, state: &State, to: Phase, old_release_is_gone: bool) -> Result<Migration, Error> {
        refuse(&self.obstacles(state, to, old_release_is_gone))?;
        let now = Timestamp::now();
        let begun = state.migration.clone().unwrap_or(Migration { phase: Phase::First, version: 0, since: now });
        let other = migration(&self.pairs, Side::Next, Budget::of(BUDGET)).await?;
        let Some(mut next) = begun.step(to, now) else {
            return Err(Error::NotNow("there is no such step".to_owned()));
        };
        // The runs in either table are of versions that neither has any more.
        next.version = next.version.max(other.as_ref().map_or(0, |other| other.version + 1));
        let seen = Migration { phase: to.from_the_other_side(), ..next.clone() };
        let mut writes = vec![
            (Side::First, Write::put_if(&next, unchanged(state.migration.as_ref())?)?),
            (Side::Next, Write::put_if(&seen, unchanged(other.as_ref())?)?),
        ];
        // No run has started since the state was read.
        if let Some(first) = state.segments.first() {
            writes.push((Side::First, Write::check(first.key(), is_of_run(first)?)));
        }
        self.commit(writes).await?;
        Ok(next)
    }

    async fn commit(&self, writes: Vec<(Side, Write)>) -> Result<(), Error> {
        match self.pairs.commit(writes, Budget::of(BUDGET)).await? {
            Commit::Done => Ok(()),
            Commit::Cancelled(_) => {
                Err(Error::NotNow("somebody else changed the migration: look at its status".to_owned()))
            }
        }
    }
}

/// The migration as this table sees it, strongly consistent; `None` if it has seen none.
pub(crate) async fn migration(pairs: &Pairs, side: Side, budget: Budget) -> Result<Option<Migration>, Error> {
    let found: Vec<Migration> = pairs.read(side, vec![Migration::only_key()], budget).await?;
    Ok(found.into_iter().next())
}

/// Nobody has made a step since this was read.
fn unchanged(migration: Option<&Migration>) -> Result<Condition, table::Error> {
    migration.map_or_else(|| Ok(Condition::absent()), |migration| Condition::version(migration.version))
}

fn is_of_run(progress: &CopyProgress) -> Result<Condition, table::Error> {
    Condition::new("#run = :run").value(":run", progress.run)
}

fn refuse(obstacles: &[Obstacle]) -> Result<(), Error> {
    if obstacles.is_empty() {
        return Ok(());
    }
    let texts: Vec<_> = obstacles.iter().map(Obstacle::to_string).collect();
    Err(Error::NotNow(texts.join("; ")))
}
