//! Comparing the two tables, pair by pair.

use std::collections::HashSet;
use std::time::Duration;

use key_schema::entity::{CopyProgress, ItemKey, Repair, Side};
use key_schema::layout::{Key, REPAIRS_DUE, entity_at};
use key_schema::value::Timestamp;
use table::{Budget, Item, Pair};
use tracing::warn;

use crate::batches::MOST_PAIRS;
use crate::copier::Differences as _;
use crate::item::{is_expired, kind, same};
use crate::sums::sum;
use crate::sync::{BATCH, is_contention};
use crate::{Copier, Error};

/// The time limit of one snapshot read.
const ONE_READ: Duration = Duration::from_secs(15);

/// The number of times that a pair is read before it counts as different. Between a read of the pair and a read of the
/// repairs, a repair may have been carried out and another one left.
const MOST_READS: usize = 5;

/// The number of repairs that are read at once.
const PAGE: u8 = 100;

impl Copier {
    /// Adds the pairs with these keys to the checksums, and counts those that differ although no repair is due.
    pub(crate) async fn compare(&mut self, progress: &mut CopyProgress, keys: Vec<Key>) -> Result<(), Error> {
        let is_leading = progress.scanned == progress.leader;
        for keys in keys.chunks(MOST_PAIRS) {
            let mut different = Vec::new();
            let (pairs, now) = (self.snapshot(keys).await?, Timestamp::now());
            for pair in pairs {
                // The scan of the leading table has counted this pair.
                if !is_leading && pair.of(progress.leader).is_some() {
                    continue;
                }
                add(progress, &pair, now);
                if is_different(&pair, now) {
                    different.push(pair.key);
                }
            }
            for key in self.without_repairs(different).await? {
                warn!(kind = entity_at(&key), "an item and its copy differ");
                progress.add_difference(key.into());
            }
        }
        Ok(())
    }

    /// The pairs with these keys, at one moment, or each at a moment of its own if others are always writing some of them.
    async fn snapshot(&mut self, keys: &[Key]) -> Result<Vec<Pair>, Error> {
        let found = self.pairs.snapshot(keys.to_vec(), Budget::of(BATCH)).await.map_err(Error::from);
        self.pay().await;
        let mut pairs = match found {
            Err(error) if is_contention(&error) => Vec::new(),
            found => return found,
        };
        for key in keys {
            pairs.extend(self.pairs.snapshot(vec![key.clone()], Budget::of(ONE_READ)).await?);
            self.pay().await;
        }
        Ok(pairs)
    }

    /// Those of these pairs that differ although no repair is due for them.
    async fn without_repairs(&mut self, mut keys: Vec<Key>) -> Result<Vec<Key>, Error> {
        let mut retries = Budget::of(ONE_READ).retries();
        for _ in 0..MOST_READS {
            if keys.is_empty() {
                break;
            }
            // First the pairs: what differs now had a repair before.
            let (pairs, now) = (self.snapshot(&keys).await?, Timestamp::now());
            keys = pairs.into_iter().filter(|pair| is_different(pair, now)).map(|pair| pair.key).collect();
            let due = self.due().await?;
            keys.retain(|key| !due.contains(&ItemKey::from(key.clone())));
            if keys.is_empty() || !retries.pause().await {
                break;
            }
        }
        Ok(keys)
    }

    /// The keys of all items that are due to be repaired.
    pub(crate) async fn due(&mut self) -> Result<HashSet<ItemKey>, Error> {
        let mut due = HashSet::new();
        for (side, shard) in
            [Side::First, Side::Next].into_iter().flat_map(|side| (0..Repair::SHARDS).map(move |shard| (side, shard)))
        {
            let mut after = None;
            loop {
                let (repairs, stopped) =
                    self.pairs.list(side, &REPAIRS_DUE.ask(&shard), after.as_deref(), PAGE).await?;
                due.extend(repairs.into_iter().flat_map(|repair| repair.keys));
                if stopped.is_none() {
                    break;
                }
                after = stopped;
            }
            self.pay().await;
        }
        Ok(due)
    }
}

/// Whether what has not expired of a pair differs: each table deletes expired items at a time of its own.
pub fn is_different(pair: &Pair, now: Timestamp) -> bool {
    match (lasting(pair.first.as_ref(), now), lasting(pair.next.as_ref(), now)) {
        (Some(first), Some(next)) => !same(first, next),
        (first, next) => first.is_some() || next.is_some(),
    }
}

fn lasting(item: Option<&Item>, now: Timestamp) -> Option<&Item> {
    item.filter(|item| !is_expired(item, now))
}

/// Adds a pair to the checksums, without what has expired.
fn add(progress: &mut CopyProgress, pair: &Pair, now: Timestamp) {
    if let Some(item) = lasting(pair.first.as_ref(), now) {
        progress.sums.entry(kind(item).to_owned()).or_default().first += sum(item);
    }
    if let Some(item) = lasting(pair.next.as_ref(), now) {
        progress.sums.entry(kind(item).to_owned()).or_default().next += sum(item);
    }
}
