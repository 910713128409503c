//! Reading both tables of a move, to compare them. The leading table answers.
//!
//! The two reads see different moments, so a difference counts only if a snapshot read of both items bears it out. A
//! failure of the table beside never fails a request.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join;
use key_schema::layout::{AccessPattern, COPIED, Consistency, Index, Key, SortRange};
use lambda::{Measure, chain, metrics};
use tokio::time::timeout;
use tracing::warn;

use crate::home::Home;
use crate::item::Item;
use crate::transact_get::gets_in;
use crate::{Budget, Error, Reader};

/// The longest that a request waits for the comparison.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most keys of one snapshot read: each is read in two tables.
const MOST_PAIRS: usize = 50;

impl Reader {
    pub(crate) async fn query_both<P: AccessPattern>(
        &self,
        [leader, other]: [&Home; 2],
        pattern: &P,
        range: SortRange,
        limit: Option<u8>,
    ) -> Result<(Vec<Item>, Option<String>), Error> {
        let beside = timeout(PATIENCE, self.query_in(other, pattern, range.clone(), limit));
        let (found, beside) = join(self.query_in(leader, pattern, range, limit), beside).await;
        let found = found?;
        self.compare([leader, other], &found.0, beside.map(|read| read.map(|(items, _)| items))).await;
        Ok(found)
    }

    pub(crate) async fn batch_both(
        &self,
        [leader, other]: [&Home; 2],
        keys: Vec<Key>,
        consistency: Consistency,
        budget: Budget,
    ) -> Result<Vec<Item>, Error> {
        let read = |home, keys| self.table.batch_in(home, keys, consistency, budget, self.meter.as_ref());
        let (mut found, beside) = join(read(leader, keys.clone()), timeout(PATIENCE, read(other, keys))).await;
        if let Ok(items) = &mut found {
            items.iter_mut().for_each(|item| leader.canonicalize(item));
            self.compare([leader, other], items, beside).await;
        }
        found
    }

    pub(crate) async fn snapshot_both(
        &self,
        [leader, other]: [&Home; 2],
        keys: Vec<Key>,
        budget: Budget,
    ) -> Result<Vec<Option<Item>>, Error> {
        let (own, beside) = (gets_in(leader, keys.clone())?, gets_in(other, keys)?);
        let beside = timeout(PATIENCE, self.snapshot(beside, budget));
        let (found, beside) = join(self.snapshot(own, budget), beside).await;
        let found = found?;
        let items: Vec<_> = found.iter().flatten().cloned().collect();
        self.compare([leader, other], &items, beside.map(|read| Ok(read?.into_iter().flatten().collect()))).await;
        Ok(found)
    }

    /// Reports the items that differ between the two tables, by their canonical keys.
    async fn compare<T>(&self, homes: [&Home; 2], found: &[Item], beside: Result<Result<Vec<Item>, Error>, T>) {
        let beside = match beside {
            Ok(Ok(items)) => items,
            Ok(Err(error)) => return warn!(cause = chain(&error), "the table beside could not be read"),
            Err(_) => return warn!("the table beside did not answer in time"),
        };
        let suspects = differences(canonical(homes[0], found.to_vec()), canonical(homes[1], beside));
        if suspects.is_empty() {
            return;
        }
        match timeout(PATIENCE, self.settle(homes, suspects)).await {
            Ok(Ok(differ)) if differ.is_empty() => {}
            Ok(Ok(differ)) => {
                for (partition, sort) in &differ {
                    warn!(partition, sort, "an item and its copy differ");
                }
                metrics(&[("CopiesDiffer", Measure::Count(u64::try_from(differ.len()).unwrap_or(u64::MAX)))]);
            }
            Ok(Err(error)) => warn!(cause = chain(&error), "a difference could not be settled"),
            Err(_) => warn!("a difference was not settled in time"),
        }
    }

    /// Those of the keys whose items differ at one moment.
    async fn settle(&self, [leader, other]: [&Home; 2], keys: BTreeSet<Place>) -> Result<BTreeSet<Place>, Error> {
        let keys: Vec<_> = keys.into_iter().collect();
        let mut differ = BTreeSet::new();
        for keys in keys.chunks(MOST_PAIRS) {
            let keys = keys.iter().map(|(partition, sort)| Key {
                index: Index::Table,
                partition: partition.clone(),
                sort: sort.clone(),
            });
            let keys: Vec<_> = keys.collect();
            let gets = [gets_in(leader, keys.clone())?, gets_in(other, keys.clone())?].concat();
            let mut found = self.snapshot(gets, Budget::of(PATIENCE)).await?;
            let beside = found.split_off(keys.len().min(found.len()));
            let items = |home: &Home, found: Vec<Option<Item>>| canonical(home, found.into_iter().flatten().collect());
            differ.extend(differences(items(leader, found), items(other, beside)));
        }
        Ok(differ)
    }
}

/// A canonical partition key and sort key of the table.
type Place = (String, String);

/// The items of a table with their canonical keys, and without the mark of a copy.
fn canonical(home: &Home, items: Vec<Item>) -> BTreeMap<Place, Item> {
    let (partition, sort) = Index::Table.attributes();
    let placed = items.into_iter().filter_map(|mut item| {
        home.canonicalize(&mut item);
        item.remove(COPIED);
        match (item.get(partition), item.get(sort)) {
            (Some(AttributeValue::S(partition)), Some(AttributeValue::S(sort))) => {
                Some(((partition.clone(), sort.clone()), item))
            }
            _ => None,
        }
    });
    placed.collect()
}

/// The keys whose items are not the same in both.
fn differences(ours: BTreeMap<Place, Item>, mut theirs: BTreeMap<Place, Item>) -> BTreeSet<Place> {
    let mut differ = BTreeSet::new();
    for (place, item) in ours {
        if theirs.remove(&place) != Some(item) {
            differ.insert(place);
        }
    }
    differ.extend(theirs.into_keys());
    differ
}

#[cfg(test)]
mod tests {
    use key_schema::layout::Layout;

    use super::*;

    fn item(attributes: &[(&str, &str)]) -> Item {
        attributes.iter().map(|(name, text)| ((*name).to_owned(), AttributeValue::S((*text).to_owned()))).collect()
    }

    #[test]
    fn a_copy_in_another_layout_is_equal_and_every_other_difference_is_named() {
        let [first, next] = [Layout::V1, Layout::V2].map(|layout| Home { name: layout.name().into(), layout });
        let ours = |name: &str| item(&[("PK", "d#A"), ("SK", "d#A"), ("name", name)]);
        let theirs = item(&[("PK", "DISCOUNT#A"), ("SK", "META"), ("name", "x"), (COPIED, "1")]);
        let differ = |ours: &[Item], theirs: &[Item]| {
            differences(canonical(&first, ours.to_vec()), canonical(&next, theirs.to_vec()))
                .into_iter()
                .collect::<Vec<_>>()
        };
        let place = [("d#A".to_owned(), "d#A".to_owned())];
        assert_eq!(differ(&[ours("x")], &[theirs.clone()]), []);
        assert_eq!(differ(&[ours("y")], &[theirs.clone()]), place);
        assert_eq!(differ(&[], &[theirs]), place);
        assert_eq!(differ(&[ours("x")], &[]), place);
    }
}
