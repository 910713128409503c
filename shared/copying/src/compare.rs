//! Comparing the two tables, pair by pair.

use std::time::Duration;

use key_schema::entity::{CopyProgress, ItemKey, Repair, Side};
use key_schema::layout::{Key, RepairsDue};
use key_schema::value::Timestamp;
use table::{Budget, Pair};
use tracing::warn;

use crate::batches::MOST_PAIRS;
use crate::copier::Differences as _;
use crate::item::{is_expired, kind};
use crate::plan::{Plan, plan};
use crate::sums::sum;
use crate::{Copier, Error};

/// The time limit of one snapshot read.
const ONE_READ: Duration = Duration::from_secs(15);

/// The number of times that a pair is read before it counts as different. Between a read of the pair and a read of the
/// repairs, a repair may have been carried out and another one left.
const MOST_READS: usize = 5;

/// The most repairs that are read of each shard.
const REPAIRS: u8 = 100;

impl Copier {
    /// Adds the pairs with these keys to the checksums, and counts those that differ although no repair is due.
    pub(crate) async fn compare(&mut self, progress: &mut CopyProgress, keys: Vec<Key>) -> Result<(), Error> {
        let is_leading = progress.scanned == progress.leader;
        for keys in keys.chunks(MOST_PAIRS) {
            let pairs = self.pairs.snapshot(keys.to_vec(), Budget::of(ONE_READ)).await?;
            self.pay().await;
            for pair in pairs {
                // The scan of the leading table has counted this pair.
                if !is_leading && pair.of(progress.leader).is_some() {
                    continue;
                }
                add(progress, &pair);
                if is_different(&pair, progress.leader) && self.stays_different(&pair.key, progress.leader).await? {
                    warn!(partition = pair.key.partition, sort = pair.key.sort, "an item and its copy differ");
                    progress.add_difference(pair.key.into());
                }
            }
        }
        Ok(())
    }

    /// Whether a pair differs although no repair is due for it.
    async fn stays_different(&mut self, key: &Key, leader: Side) -> Result<bool, Error> {
        let budget = Budget::of(ONE_READ);
        let mut retries = budget.retries();
        for _ in 0..MOST_READS {
            let pairs = self.pairs.snapshot(vec![key.clone()], budget).await?;
            if !pairs.iter().any(|pair| is_different(pair, leader)) || self.is_repair_due(key).await? {
                return Ok(false);
            }
            self.pay().await;
            if !retries.pause().await {
                break;
            }
        }
        Ok(true)
    }

    pub(crate) async fn is_repair_due(&self, key: &Key) -> Result<bool, Error> {
        let key = ItemKey::from(key.clone());
        for side in [Side::First, Side::Next] {
            for shard in 0..Repair::SHARDS {
                let (repairs, _) = self.pairs.list(side, &RepairsDue { shard }, None, REPAIRS).await?;
                if repairs.iter().any(|repair| repair.keys.contains(&key)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether a pair differs. An item that has expired does not count: each table deletes such items at a time of its own.
fn is_different(pair: &Pair, leader: Side) -> bool {
    let now = Timestamp::now();
    match (plan(pair, leader), pair.of(leader), pair.of(leader.other())) {
        (Plan::Equal, ..) => false,
        (_, Some(item), None) | (_, None, Some(item)) => !is_expired(item, now),
        _ => true,
    }
}

fn add(progress: &mut CopyProgress, pair: &Pair) {
    if let Some(item) = &pair.first {
        progress.sums.entry(kind(item).to_owned()).or_default().first += sum(item);
    }
    if let Some(item) = &pair.next {
        progress.sums.entry(kind(item).to_owned()).or_default().next += sum(item);
    }
}
