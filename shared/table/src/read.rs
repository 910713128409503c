//! Reading.

use std::collections::BTreeMap;
use std::slice;

use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::future::join_all;
use key_schema::cursor;
use key_schema::layout::{AccessPattern, Bound, Consistency, Direction, Key, SortRange, share_of_page};
use lambda::{Environment, FromEnvironment, Misconfigured};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::item::{self, Item};
use crate::{Budget, Error, ReadMeter, Table, Throttle};

/// May read the table: Query, BatchGetItem and TransactGetItems.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) table: Table,
    meter: Option<ReadMeter>,
}

impl FromEnvironment for Reader {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { table: Table::from_environment(environment)?, meter: None })
    }
}

/// Which page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// At most so many items, 1 to 100.
    pub limit: u8,
    /// Where the page before ended; absent for the first.
    pub cursor: Option<String>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page; `null` after the last one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// The page with each item shown another way.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(show).collect(), next: self.next }
    }
}

impl Reader {
    /// The same, and adds to the meter what its queries and batches consume.
    #[must_use]
    pub fn metered(self, meter: &ReadMeter) -> Self {
        Self { meter: Some(meter.clone()), ..self }
    }

    /// The one item that answers the pattern. One request.
    pub async fn one<P: AccessPattern>(&self, pattern: &P) -> Result<Option<P::Item>, Error> {
        debug_assert_eq!(P::DECLARED.bound, Bound::One);
        let (items, _) = self.query(pattern, pattern.range(), Some(1)).await?;
        items.into_iter().next().map(item::read).transpose()
    }

    /// The whole item collection that answers the pattern. One request for each megabyte.
    pub async fn collection<P: AccessPattern>(&self, pattern: &P) -> Result<Vec<P::Item>, Error> {
        let mut found = Vec::new();
        let mut range = pattern.range();
        loop {
            let (items, position) = self.query(pattern, range, None).await?;
            for item in items {
                found.push(item::read(item)?);
            }
            match position {
                Some(position) => range = pattern.rest(&position),
                None => return Ok(found),
            }
        }
    }

    /// One page of the list that answers the pattern. One request.
    pub async fn page<P: AccessPattern>(&self, pattern: &P, page: &PageRequest) -> Result<Page<P::Item>, Error> {
        self.merged(slice::from_ref(pattern), page).await
    }

    /// At most `limit` items of the list that answers the pattern, those after a position, and the position where
    /// it stopped if there may be more. One request. For whoever keeps positions to himself; clients have cursors.
    pub async fn after<P: AccessPattern>(
        &self,
        pattern: &P,
        position: Option<&str>,
        limit: u8,
    ) -> Result<(Vec<P::Item>, Option<String>), Error> {
        let (items, stopped) = self.query(pattern, rest(pattern, position), Some(limit)).await?;
        Ok((items.into_iter().map(item::read).collect::<Result<_, _>>()?, stopped))
    }

    /// One page of a list that is spread over shards, each with a pattern of its own and all with the same range,
    /// in the order of their sort keys. The requests are those of [`merged_after`](Self::merged_after).
    pub async fn merged<P: AccessPattern>(&self, shards: &[P], page: &PageRequest) -> Result<Page<P::Item>, Error> {
        // The cursor is that of the first shard: it stands for all of them.
        let Some(first) = shards.first() else { return Ok(Page { items: Vec::new(), next: None }) };
        let position = page.cursor.as_ref().map(|cursor| cursor::open(first, cursor)).transpose()?;
        let (items, stopped) = self.merged_after(shards, position.as_deref(), page.limit).await?;
        Ok(Page { items, next: stopped.map(|position| cursor::seal(first, &position)) })
    }

    /// [`after`](Self::after) of a list that is spread over shards, in the order of their sort keys. One request for
    /// each shard, all at once, for its share of the items; more for a shard that holds more than its share of what
    /// belongs to them. A single shard is asked once.
    ///
    /// A walk holds every item once that was there when it began: what is left of each shard is what sorts after
    /// the position, whichever shard that came from, and however many there were then.
    pub async fn merged_after<P: AccessPattern>(
        &self,
        shards: &[P],
        position: Option<&str>,
        limit: u8,
    ) -> Result<(Vec<P::Item>, Option<String>), Error> {
        if let [only] = shards {
            return self.after(only, position, limit).await;
        }
        debug_assert_eq!(P::DECLARED.direction, Direction::Ascending, "the merge takes the lowest of all shards first");
        let mut asked: Vec<_> = shards.iter().map(|shard| (shard, rest(shard, position))).collect();
        let mut share = share_of_page(limit, shards.len());

        let (_, sort) = P::DECLARED.place.index.attributes();
        let (mut found, mut stopped) = (BTreeMap::new(), Vec::new());
        let wanted = usize::from(limit);
        while !asked.is_empty() {
            let reads = asked.iter().map(|(shard, range)| self.query(*shard, range.clone(), Some(share)));
            for (answer, (shard, _)) in join_all(reads).await.into_iter().zip(&asked) {
                let (items, end) = answer?;
                stopped.extend(end.map(|end| (*shard, end)));
                for item in items {
                    if let Some(AttributeValue::S(position)) = item.get(sort) {
                        found.insert(position.clone(), item);
                    }
                }
            }
            // The page is certain, and whether there is another, once nothing that is not read yet comes before the
            // item after its last.
            let after = found.keys().nth(wanted);
            let is_behind = |(_, end): &(&P, String)| after.is_none_or(|after| end < after);
            let (behind, ahead) = stopped.into_iter().partition(is_behind);
            stopped = ahead;
            asked = behind.into_iter().map(|(shard, end)| (shard, rest(shard, Some(&end)))).collect();
            share = share.saturating_mul(2).min(limit);
        }

        let is_last = found.len() <= wanted;
        let (mut items, mut end) = (Vec::new(), None);
        for (position, item) in found.into_iter().take(wanted) {
            items.push(item::read(item)?);
            end = Some(position);
        }
        Ok((items, end.filter(|_| !is_last)))
    }

    /// The items with these keys, at most 100, in no order; those that do not exist are left out.
    ///
    /// What DynamoDB leaves unprocessed is asked for again, within the budget.
    pub async fn batch<T: DeserializeOwned>(
        &self,
        keys: Vec<Key>,
        consistency: Consistency,
        budget: Budget,
    ) -> Result<Vec<T>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys = keys.into_iter().map(|key| Item::from(item::key(key))).collect();
        let ask = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(consistency == Consistency::Strong);
        let mut asked = ask.build().map_err(|error| Error::Refused(error.into()))?;
        let mut found = Vec::new();
        let mut retries = budget.retries();
        loop {
            let batch = self.table.client.batch_get_item().request_items(&*self.table.name, asked);
            let answer = batch.set_return_consumed_capacity(self.report()).send().await?;
            self.measure(answer.consumed_capacity());
            for item in answer.responses.into_iter().flatten().flat_map(|(_, items)| items) {
                found.push(item::read(item)?);
            }
            match answer.unprocessed_keys.into_iter().flatten().map(|(_, keys)| keys).next() {
                Some(left) if !left.keys().is_empty() => asked = left,
                _ => return Ok(found),
            }
            if !retries.pause().await {
                return Err(Error::Throttled { by: Throttle::Capacity, source: "keys were left unprocessed".into() });
            }
        }
    }

    /// One Query, and the sort key it stopped at if it did not reach the end.
    async fn query<P: AccessPattern>(
        &self,
        pattern: &P,
        range: SortRange,
        limit: Option<u8>,
    ) -> Result<(Vec<Item>, Option<String>), Error> {
        let declared = P::DECLARED;
        let (partition, sort) = declared.place.index.attributes();
        let mut query = self
            .table
            .client
            .query()
            .table_name(&*self.table.name)
            .set_index_name(declared.place.index.name().map(str::to_owned))
            .expression_attribute_names("#partition", partition)
            .expression_attribute_values(":partition", AttributeValue::S(pattern.partition()))
            .consistent_read(declared.consistency == Consistency::Strong)
            .scan_index_forward(declared.direction == Direction::Ascending)
            .set_limit(limit.map(i32::from))
            .set_return_consumed_capacity(self.report());
        let (condition, values) = match range {
            SortRange::Whole => ("", vec![]),
            SortRange::Exactly(key) => (" AND #sort = :key", vec![(":key", key)]),
            SortRange::BeginsWith(prefix) => (" AND begins_with(#sort, :prefix)", vec![(":prefix", prefix)]),
            SortRange::Between { low, high } => {
                (" AND #sort BETWEEN :low AND :high", vec![(":low", low), (":high", high)])
            }
        };
        if !condition.is_empty() {
            query = query.expression_attribute_names("#sort", sort);
        }
        for (name, value) in values {
            query = query.expression_attribute_values(name, AttributeValue::S(value));
        }

        let answer = query.key_condition_expression(format!("#partition = :partition{condition}")).send().await?;
        self.measure(answer.consumed_capacity.as_slice());
        let position = match answer.last_evaluated_key.and_then(|mut key| key.remove(sort)) {
            Some(AttributeValue::S(position)) => Some(position),
            _ => None,
        };
        Ok((answer.items.unwrap_or_default(), position))
    }

    /// What DynamoDB is asked to report.
    fn report(&self) -> Option<ReturnConsumedCapacity> {
        self.meter.as_ref().map(|_| ReturnConsumedCapacity::Total)
    }

    fn measure(&self, consumed: &[ConsumedCapacity]) {
        if let Some(meter) = &self.meter {
            meter.add(consumed);
        }
    }
}

/// The whole range of a list, or what is left of it after a position.
fn rest<P: AccessPattern>(pattern: &P, position: Option<&str>) -> SortRange {
    position.map_or_else(|| pattern.range(), |position| pattern.rest(position))
}
