//! Reading both tables of a migration, to compare them. The leading table answers.
//!
//! Two reads see different moments. So a difference counts only if a second read of both tables finds the same two items
//! again: between the two reads there was a moment at which both were as they were read. The second read is the same as
//! the first one, so it needs no further permission, and compares the keys of index entries as well.
//!
//! A failure of the table beside never fails a request.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join;
use key_schema::layout::{COPIED, Consistency, Declaration, Direction, Index, Key, SortRange, entity_at};
use lambda::{Measure, chain, metrics_of_shop};
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::home::Home;
use crate::item::Item;
use crate::raw::Raw;
use crate::read::Batch;
use crate::transact_get::gets_in;
use crate::{Budget, Error, Reader};

/// The longest that a request waits for a read of the table beside.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pause before an eventually consistent read is repeated. Most writes reach the indexes much sooner.
const LAG: Duration = Duration::from_millis(500);

/// The items of a list, and the canonical sort key at which the read stopped.
type Listed<T> = (Vec<T>, Option<String>);

impl Reader {
    pub(crate) async fn query_both(
        &self,
        homes: [&Home; 2],
        declared: &Declaration,
        partition: String,
        range: SortRange,
        limit: Option<u8>,
    ) -> Result<Listed<Raw>, Error> {
        let read = |home| self.query_in(home, declared, partition.clone(), range.clone(), limit);
        let found = read(homes[0]);
        let (found, beside) = join(found, timeout(PATIENCE, read(homes[1]))).await;
        let found = found?;
        let Some(beside) = answer(beside) else { return Ok(found) };
        let first = differences(common(declared, &items_of(&found), &items_of(&beside)));
        if !first.is_empty() {
            pause(declared.consistency).await;
            if let Some((ours, theirs)) = Box::pin(again(read(homes[0]), read(homes[1]))).await {
                report(&first, differences(common(declared, &items_of(&ours), &items_of(&theirs))));
            }
        }
        Ok(found)
    }

    pub(crate) async fn batch_both(&self, homes: [&Home; 2], batch: Batch, budget: Budget) -> Result<Vec<Raw>, Error> {
        let read = |home| self.table.batch_in(home, batch.clone(), budget, self.meter.as_ref());
        let (found, beside) = join(read(homes[0]), timeout(PATIENCE, read(homes[1]))).await;
        let found = found?;
        let Some(beside) = answer(beside) else { return Ok(found) };
        let first = differences([&found, &beside].map(|items| maps(items)));
        if !first.is_empty() {
            pause(batch.consistency).await;
            if let Some((ours, theirs)) = Box::pin(again(read(homes[0]), read(homes[1]))).await {
                report(&first, differences([ours, theirs].map(|items| maps(&items))));
            }
        }
        Ok(found)
    }

    pub(crate) async fn snapshot_both(
        &self,
        homes: [&Home; 2],
        keys: Vec<Key>,
        budget: Budget,
    ) -> Result<Vec<Option<Item>>, Error> {
        let read = async |home| self.snapshot(gets_in(home, keys.clone())?, budget).await;
        let items = |home: &Home, found: &[Option<Item>]| {
            let mut items: Vec<_> = found.iter().flatten().cloned().collect();
            for item in &mut items {
                home.canonicalize(item);
            }
            items
        };
        let (found, beside) = join(read(homes[0]), timeout(PATIENCE, read(homes[1]))).await;
        let found = found?;
        let Some(beside) = answer(beside) else { return Ok(found) };
        let first = differences([items(homes[0], &found), items(homes[1], &beside)]);
        if !first.is_empty()
            && let Some((ours, theirs)) = Box::pin(again(read(homes[0]), read(homes[1]))).await
        {
            report(&first, differences([items(homes[0], &ours), items(homes[1], &theirs)]));
        }
        Ok(found)
    }
}

fn items_of((items, end): &Listed<Raw>) -> Listed<Item> {
    (maps(items), end.clone())
}

/// The items as maps. One that cannot be read is not compared.
fn maps(items: &[Raw]) -> Vec<Item> {
    items.iter().filter_map(|item| item.item().ok()).collect()
}

/// Waits until the indexes are likely to show what was written before the first read.
async fn pause(consistency: Consistency) {
    if consistency == Consistency::Eventual {
        sleep(LAG).await;
    }
}

/// The answer of the table beside. Logs why there is none.
fn answer<T, Late>(beside: Result<Result<T, Error>, Late>) -> Option<T> {
    match beside {
        Ok(Ok(answer)) => return Some(answer),
        Ok(Err(error)) => warn!(cause = chain(&error), "the tables could not be compared"),
        Err(_) => warn!("the tables could not be compared in time"),
    }
    None
}

/// Reads both tables again.
async fn again<T>(
    leader: impl Future<Output = Result<T, Error>>,
    other: impl Future<Output = Result<T, Error>>,
) -> Option<(T, T)> {
    let (ours, theirs) =
        answer(timeout(PATIENCE, join(leader, other)).await.map(|(ours, theirs)| Ok((ours?, theirs?))))?;
    Some((ours, theirs))
}

/// Reports the differences that two reads found. Keys are not for a log: a gift card's has the code that spends it.
fn report(first: &Differences, mut second: Differences) {
    second.retain(|place, items| first.get(place) == Some(items));
    if second.is_empty() {
        return;
    }
    for (partition, sort) in second.keys().cloned() {
        let kind = entity_at(&Key { index: Index::Table, partition, sort });
        warn!(kind, "an item and its copy differ");
    }
    metrics_of_shop(&[("CopiesDiffer", Measure::Count(u64::try_from(second.len()).unwrap_or(u64::MAX)))], None);
}

/// The items of the part of a list that both reads have covered. A read with a limit stops earlier in the table that has
/// more items.
fn common(declared: &Declaration, ours: &Listed<Item>, theirs: &Listed<Item>) -> [Vec<Item>; 2] {
    let (_, sort) = declared.place.index.attributes();
    let ends = [&ours.1, &theirs.1].into_iter().flatten();
    let (end, is_ascending) = match declared.direction {
        Direction::Ascending => (ends.min(), true),
        Direction::Descending => (ends.max(), false),
    };
    let is_covered = |item: &&Item| match (end, item.get(sort)) {
        (Some(end), Some(AttributeValue::S(position))) if is_ascending => position <= end,
        (Some(end), Some(AttributeValue::S(position))) => position >= end,
        _ => true,
    };
    [ours, theirs].map(|(items, _)| items.iter().filter(is_covered).cloned().collect())
}

/// A canonical partition key and sort key of the table.
type Place = (String, String);

/// The items by their canonical keys, without the mark of a copy.
fn placed(items: Vec<Item>) -> BTreeMap<Place, Item> {
    let (partition, sort) = Index::Table.attributes();
    let placed = items.into_iter().filter_map(|mut item| {
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

/// The items of the leading table and of the other one that are not the same, by their canonical keys.
type Differences = BTreeMap<Place, (Option<Item>, Option<Item>)>;

fn differences([ours, theirs]: [Vec<Item>; 2]) -> Differences {
    let (ours, mut theirs) = (placed(ours), placed(theirs));
    let mut differ = BTreeMap::new();
    for (place, item) in ours {
        let other = theirs.remove(&place);
        if other.as_ref() != Some(&item) {
            differ.insert(place, (Some(item), other));
        }
    }
    differ.extend(theirs.into_iter().map(|(place, item)| (place, (None, Some(item)))));
    differ
}

#[cfg(test)]
mod tests {
    use key_schema::layout::ORDERS_OF_CUSTOMER;

    use super::*;

    fn item(attributes: &[(&str, &str)]) -> Item {
        attributes.iter().map(|(name, text)| ((*name).to_owned(), AttributeValue::S((*text).to_owned()))).collect()
    }

    #[test]
    fn a_copy_is_equal_and_every_other_difference_is_named() {
        let ours = |name: &str| item(&[("PK", "d#A"), ("SK", "d#A"), ("name", name)]);
        let theirs = item(&[("PK", "d#A"), ("SK", "d#A"), ("name", "x"), (COPIED, "1")]);
        let differ = |ours: &[Item], theirs: &[Item]| {
            differences([ours.to_vec(), theirs.to_vec()]).into_keys().collect::<Vec<_>>()
        };
        let place = [("d#A".to_owned(), "d#A".to_owned())];
        assert_eq!(differ(&[ours("x")], std::slice::from_ref(&theirs)), []);
        assert_eq!(differ(&[ours("y")], std::slice::from_ref(&theirs)), place);
        assert_eq!(differ(&[], &[theirs]), place);
        assert_eq!(differ(&[ours("x")], &[]), place);
    }

    #[test]
    fn only_the_part_of_a_list_that_both_reads_cover_is_compared() {
        let listed = |keys: &[&str], end: Option<&str>| {
            let items = keys.iter().map(|key| item(&[("PK", key), ("SK", key), ("GSI2SK", key)])).collect();
            (items, end.map(str::to_owned))
        };
        // Newest first. The second table lacks an order, so its page goes further.
        let (ours, theirs) = (listed(&["o#4", "o#3"], Some("o#3")), listed(&["o#4", "o#2"], Some("o#2")));
        let differ = differences(common(&ORDERS_OF_CUSTOMER.declared, &ours, &theirs));
        assert_eq!(differ.into_keys().collect::<Vec<_>>(), [("o#3".to_owned(), "o#3".to_owned())]);
    }
}
