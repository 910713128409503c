//! Carrying out repairs: copying what the shop could write in the leading table alone.

use std::time::Duration;

use key_schema::entity::{Repair, Side};
use key_schema::layout::{Key, RepairsDue, Stored as _};
use key_schema::value::Timestamp;
use table::{Budget, Condition, Write};
use tokio::time::Instant;
use tracing::error;

use crate::sync::Fence;
use crate::{Copier, Error};

/// The number of repairs that are read at once.
const PAGE: u8 = 25;

/// The time limit of one repair.
const ONE_REPAIR: Duration = Duration::from_secs(10);

/// The outcome of a round over all repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The number of repairs that were carried out.
    pub repairs: u64,
    /// The number of items that differed.
    pub items: u64,
    /// The number of repairs that could not be carried out. The log has the causes, and the next round tries again.
    pub failed: u64,
    /// The time since which the oldest repair was due.
    pub oldest: Option<Timestamp>,
}

impl Copier {
    /// Carries out the repairs that are due, until there is none left or until that time. Each is carried out from the
    /// table that it is in, which led when it was left.
    ///
    /// # Errors
    /// The repairs cannot be listed.
    pub async fn repair(&mut self, until: Instant) -> Result<Repaired, Error> {
        let mut round = Repaired::default();
        for side in [Side::First, Side::Next] {
            for shard in 0..Repair::SHARDS {
                self.repair_shard(side, shard, until, &mut round).await?;
            }
        }
        Ok(round)
    }

    async fn repair_shard(&mut self, side: Side, shard: u8, until: Instant, round: &mut Repaired) -> Result<(), Error> {
        loop {
            let due = self.pairs.list(side, &RepairsDue { shard }, PAGE).await?;
            let (number, failed_before) = (due.len(), round.failed);
            for repair in due {
                if Instant::now() >= until {
                    return Ok(());
                }
                round.oldest = Some(round.oldest.map_or(repair.since, |oldest| oldest.min(repair.since)));
                match self.carry_out(side, &repair).await {
                    Ok(items) => (round.repairs, round.items) = (round.repairs + 1, round.items + items),
                    // Another worker carried it out.
                    Err(Error::Superseded) => {}
                    Err(cause) => {
                        round.failed += 1;
                        error!(repair = %repair.repair_id, cause = lambda::chain(&cause), "a repair was not carried out");
                    }
                }
                self.pay().await;
            }
            // Those that failed are still in the list.
            if number < usize::from(PAGE) || round.failed > failed_before {
                return Ok(());
            }
        }
    }

    /// Makes the pairs of a repair equal, and deletes the repair.
    async fn carry_out(&self, side: Side, repair: &Repair) -> Result<u64, Error> {
        let budget = Budget::of(ONE_REPAIR);
        let (side, check) = repair_fence(side, repair);
        let fence = Fence(side, check);
        let mut changed = 0;
        for key in &repair.keys {
            changed += u64::from(fence.sync(&self.pairs, &Key::from(key.clone()), side, budget).await?);
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
