//! The migration from this table to another, if there is one: its phase, and the tables to use in it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use key_schema::entity::{self, Phase, Side};
use lambda::{Environment, Misconfigured};
use tokio::sync::Mutex as Turn;

use crate::home::Home;
use crate::raw::Raw;
use crate::read::Batch;
use crate::{Budget, Error, Table};

/// The longest time for which a phase is used after it was read. A step of a migration waits longer than this.
const LIFETIME: Duration = Duration::from_secs(2);

/// The time for reading the phase, with retries.
const READING: Duration = Duration::from_secs(3);

/// A migration that is prepared or under way. All parts of a function share one.
#[derive(Clone, Debug)]
pub(crate) struct Migration(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    next: Home,
    lifetime: Duration,
    seen: Mutex<Option<Seen>>,
    /// Held while the phase is read, so that concurrent requests share one read.
    turn: Turn<()>,
}

/// A phase, and the moment before it was read on two clocks. The monotonic clock stands still while Lambda freezes the
/// execution environment, and the wall clock may be set back.
#[derive(Clone, Copy, Debug)]
struct Seen {
    phase: Phase,
    at: (Instant, SystemTime),
}

/// The tables that one request uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Homes<'a> {
    /// The table that is read, and whose conditions decide about a write.
    pub(crate) leader: &'a Home,
    /// The table that is written as well.
    pub(crate) follower: Option<&'a Home>,
    /// Whether a write that cannot be done in both tables is not done.
    pub(crate) is_strict: bool,
    /// The table that is read as well, to compare the two.
    pub(crate) beside: Option<&'a Home>,
}

impl Migration {
    /// The migration for which this environment is prepared; `None` if it names no other table.
    pub(crate) fn from_environment(environment: &Environment) -> Result<Option<Self>, Misconfigured> {
        let Some(name) = environment.optional("NEXT_TABLE_NAME") else { return Ok(None) };
        let layout = crate::layout(environment, "NEXT_TABLE_LAYOUT")?;
        let lifetime = match environment.optional("MIGRATION_CACHE_MILLISECONDS") {
            Some(_) => Duration::from_millis(environment.number("MIGRATION_CACHE_MILLISECONDS", 0..=2000)?),
            None => LIFETIME,
        };
        let make = || {
            let next = Home { name: name.into(), layout };
            Self(Arc::new(Shared { next, lifetime, seen: Mutex::default(), turn: Turn::default() }))
        };
        Ok(Some(environment.shared(make)))
    }

    /// The tables to use now.
    ///
    /// # Errors
    /// Those of reading the phase. A phase that is too old is never used.
    pub(crate) async fn homes<'a>(&'a self, table: &'a Table) -> Result<Homes<'a>, Error> {
        let phase = match self.seen() {
            Some(phase) => phase,
            None => Box::pin(self.refresh(table)).await?,
        };
        Ok(Homes::of(phase, &table.home, &self.0.next))
    }

    /// The phase as it was read, unless that is too long ago.
    fn seen(&self) -> Option<Phase> {
        let seen = *self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.filter(|seen| seen.is_fresh(self.0.lifetime)).map(|seen| seen.phase)
    }

    async fn refresh(&self, table: &Table) -> Result<Phase, Error> {
        let _turn = self.0.turn.lock().await;
        if let Some(phase) = self.seen() {
            return Ok(phase);
        }
        let at = (Instant::now(), SystemTime::now());
        let phase = read(table).await?;
        *self.0.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Seen { phase, at });
        Ok(phase)
    }
}

impl Seen {
    fn is_fresh(&self, lifetime: Duration) -> bool {
        let (monotonic, wall) = self.at;
        monotonic.elapsed() < lifetime && wall.elapsed().is_ok_and(|age| age < lifetime)
    }
}

/// Reads the phase. Without an item it is the first one.
async fn read(table: &Table) -> Result<Phase, Error> {
    let budget = Budget::of(READING);
    let mut retries = budget.retries();
    loop {
        let found = table.batch_in(&table.home, Batch::strong(vec![entity::Migration::only_key()]), budget, None).await;
        match found {
            Ok(items) => {
                let found = items.first().map(Raw::read::<entity::Migration>).transpose()?;
                return Ok(found.map_or(Phase::First, |found| found.phase));
            }
            Err(Error::Throttled { .. } | Error::Unanswered(_)) if retries.pause().await => {}
            Err(error) => return Err(error),
        }
    }
}

impl<'a> Homes<'a> {
    /// The only table.
    pub(crate) fn alone(home: &'a Home) -> Self {
        Self { leader: home, follower: None, is_strict: false, beside: None }
    }

    fn of(phase: Phase, first: &'a Home, next: &'a Home) -> Self {
        let (leader, other) = match phase.leader() {
            Side::First => (first, next),
            Side::Next => (next, first),
        };
        Self {
            leader,
            follower: phase.writes_both().then_some(other),
            is_strict: phase.is_strict(),
            beside: phase.reads_beside().then_some(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_old_if_either_clock_says_so_or_the_wall_clock_was_set_back() {
        let (now, wall, second) = (Instant::now(), SystemTime::now(), Duration::from_secs(1));
        let is_fresh = |at| Seen { phase: Phase::Both, at }.is_fresh(2 * second);
        assert!(is_fresh((now, wall)));
        assert!(!is_fresh((now.checked_sub(2 * second).expect("a moment"), wall)));
        assert!(!is_fresh((now, wall - 2 * second)), "frozen");
        assert!(!is_fresh((now, wall + 2 * second)), "set back");
    }
}
