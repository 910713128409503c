//! Carrying out repairs: copying what the shop could write in the leading table alone.

use std::time::Duration;

use key_schema::entity::{Phase, Repair, Side};
use key_schema::layout::{Key, REPAIRS_DUE, Stored as _};
use key_schema::value::Timestamp;
use table::{Budget, Condition, Pairs, Write};
use tokio::time::Instant;
use tracing::error;

use crate::batches::MOST_PAIRS;
use crate::migrator::migration;
use crate::steps::SETTLE;
use crate::sync::Fence;
use crate::{Error, Pace};

/// The number of repairs that are read at once.
const PAGE: u8 = 25;

/// The number of lists: one for each shard in each table.
const LISTS: u8 = 2 * Repair::SHARDS;

/// The time limit of reading the phase.
const READING: Duration = Duration::from_secs(3);

/// The longest time that one repair takes.
pub const ONE_REPAIR: Duration = Duration::from_secs(10);

// A repair is deleted by what was read of its items some time before. If a step settled in between, and the step began or
// ended the writing of one table alone, a comparison would have taken the items for repaired.
const _: () = assert!(ONE_REPAIR.as_secs() < SETTLE.as_secs());

/// Carries out repairs, round after round.
#[derive(Clone, Debug)]
pub struct Repairs {
    pairs: Pairs,
    pace: Pace,
    /// Where the next round begins. A round goes on where the one before was cut off, so repairs that fail slowly hold up
    /// none that come after them.
    next: Place,
}

#[derive(Clone, Debug, Default)]
struct Place {
    list: u8,
    /// The sort key of the last repair that was tried in this list.
    after: Option<String>,
}

/// The outcome of a round over all repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The number of repairs that were carried out.
    pub repairs: u64,
    /// The number of items that differed.
    pub items: u64,
    /// The number of repairs that could not be carried out. The log has the causes, and the next round tries again.
    pub failed: u64,
    /// The time since which the oldest repair of the round was due.
    pub oldest: Option<Timestamp>,
    /// Whether the round tried every repair that was due when it began.
    pub is_whole: bool,
}

impl Repairs {
    /// The repairs of these tables, at this pace.
    pub fn new(pairs: Pairs, pace: Pace) -> Self {
        Self { pairs, pace, next: Place::default() }
    }

    /// The phase of the migration, strongly consistent.
    ///
    /// # Errors
    /// The phase cannot be read.
    pub async fn phase(&self) -> Result<Phase, Error> {
        let migration = migration(&self.pairs, Side::First, Budget::of(READING)).await?;
        Ok(migration.map_or(Phase::First, |migration| migration.phase))
    }

    /// Tries every repair that is due once, until that time. Each is carried out from the table that it is in, which led
    /// when it was left.
    ///
    /// # Errors
    /// The repairs cannot be listed.
    pub async fn round(&mut self, until: Instant) -> Result<Repaired, Error> {
        let (mut round, begin) = (Repaired::default(), self.next.clone());
        for _ in 0..LISTS {
            if !self.try_list(None, until, &mut round).await? {
                return Ok(round);
            }
            self.next = Place { list: (self.next.list + 1) % LISTS, after: None };
        }
        // What comes before the place in its list.
        round.is_whole = match &begin.after {
            Some(last) => self.try_list(Some(last), until, &mut round).await?,
            None => true,
        };
        Ok(round)
    }

    /// Tries the rest of a list, up to this sort key. Returns `false` if there was not enough time.
    async fn try_list(&mut self, last: Option<&str>, until: Instant, round: &mut Repaired) -> Result<bool, Error> {
        let shard = self.next.list % Repair::SHARDS;
        let side = if self.next.list < Repair::SHARDS { Side::First } else { Side::Next };
        loop {
            let after = self.next.after.as_deref();
            let (due, stopped) = self.pairs.list(side, &REPAIRS_DUE.ask(&shard), after, PAGE).await?;
            for repair in due {
                let place = repair.key().sort;
                if last.is_some_and(|last| place.as_str() > last) {
                    return Ok(true);
                }
                if Instant::now() >= until {
                    return Ok(false);
                }
                self.next.after = Some(place);
                self.try_one(side, &repair, round).await;
            }
            if stopped.is_none() {
                return Ok(true);
            }
        }
    }

    async fn try_one(&mut self, side: Side, repair: &Repair, round: &mut Repaired) {
        round.oldest = Some(round.oldest.map_or(repair.since, |oldest| oldest.min(repair.since)));
        match self.carry_out(side, repair).await {
            Ok(items) => (round.repairs, round.items) = (round.repairs + 1, round.items + items),
            // Another worker carried it out.
            Err(Error::Superseded) => {}
            Err(cause) => {
                round.failed += 1;
                error!(repair = %repair.repair_id, cause = lambda::chain(&cause), "a repair was not carried out");
            }
        }
        self.pace.pay(self.pairs.consumed()).await;
    }

    /// Makes the pairs of a repair equal, and deletes the repair.
    async fn carry_out(&self, side: Side, repair: &Repair) -> Result<u64, Error> {
        let budget = Budget::of(ONE_REPAIR);
        let (side, check) = repair_fence(side, repair);
        let fence = Fence(side, check);
        let mut changed = 0;
        let keys: Vec<Key> = repair.keys.iter().cloned().map(Key::from).collect();
        for keys in keys.chunks(MOST_PAIRS) {
            changed += fence.equalise(&self.pairs, keys, side, || budget).await?;
        }
        // Deleting it a second time does nothing.
        _ = self.pairs.commit(vec![(side, Write::delete(repair.key()))], budget).await?;
        Ok(changed)
    }
}

/// The check that each transaction of a repair begins with: the repair is still there. A step that changes the lead
/// needs all repairs to be carried out, so a worker that slept through the step copies nothing from a table that no
/// longer leads.
pub fn repair_fence(side: Side, repair: &Repair) -> (Side, Write) {
    (side, Write::check(repair.key(), Condition::present()))
}
