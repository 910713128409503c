//! Reading by access patterns and by batches of keys.

use std::slice;

use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity};
use key_schema::layout::{Bound, Consistency, Declaration, Direction, Index, Key, Query, SortRange};
use key_schema::page::{Page, PageRequest};
use lambda::{Environment, FromEnvironment, Misconfigured};
use serde::de::DeserializeOwned;

use crate::home::Home;
use crate::item::{self, Item};
use crate::raw::{self, Raw};
use crate::{Budget, Error, ReadMeter, Table, Throttle};

/// Reads the table, with Query, BatchGetItem and TransactGetItems.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) table: Table,
    pub(crate) meter: Option<ReadMeter>,
}

/// The keys of a BatchGetItem, and what is read of their items.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) keys: Vec<Key>,
    pub(crate) consistency: Consistency,
    pub(crate) keys_only: bool,
}

impl Batch {
    /// The whole items, strongly consistent.
    pub(crate) fn strong(keys: Vec<Key>) -> Self {
        Self { keys, consistency: Consistency::Strong, keys_only: false }
    }
}

impl FromEnvironment for Reader {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { table: Table::from_environment(environment)?, meter: None })
    }
}

impl Reader {
    /// A reader that adds the read units that it consumes to the meter.
    #[must_use]
    pub fn metered(self, meter: &ReadMeter) -> Self {
        Self { meter: Some(meter.clone()), ..self }
    }

    /// The only item of an answer. One request.
    pub async fn one<T: DeserializeOwned>(&self, query: &Query<T>) -> Result<Option<T>, Error> {
        debug_assert_eq!(query.declared.bound, Bound::One);
        let (items, _) = self.query(query, query.range.clone(), Some(1)).await?;
        items.first().map(Raw::read).transpose()
    }

    /// All items of an answer. One request for each megabyte.
    pub async fn collection<T: DeserializeOwned>(&self, query: &Query<T>) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        let mut range = query.range.clone();
        loop {
            let (items, position) = self.query(query, range, None).await?;
            for item in items {
                found.push(item.read()?);
            }
            match position {
                Some(position) => range = query.rest(Some(&position)),
                None => return Ok(found),
            }
        }
    }

    /// One page of a list. One request.
    pub async fn page<T: DeserializeOwned>(&self, query: &Query<T>, page: &PageRequest) -> Result<Page<T>, Error> {
        self.merged(slice::from_ref(query), page).await
    }

    /// At most `limit` items of a list after a position, and the position of the last of them if there may be more. One
    /// request.
    ///
    /// Positions are sort keys and stay inside the system. Clients get cursors: [`page`](Self::page).
    pub async fn after<T: DeserializeOwned>(
        &self,
        query: &Query<T>,
        position: Option<&str>,
        limit: u8,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        self.merged_after(slice::from_ref(query), position, limit).await
    }

    /// The items with these keys, at most 100, in no order. Items that do not exist are left out.
    ///
    /// If DynamoDB leaves keys unprocessed, they are requested again within the budget.
    pub async fn batch<T: DeserializeOwned>(
        &self,
        keys: Vec<Key>,
        consistency: Consistency,
        budget: Budget,
    ) -> Result<Vec<T>, Error> {
        let found = self.found(Batch { keys, consistency, keys_only: false }, budget).await?;
        found.iter().map(Raw::read).collect()
    }

    /// Those of these keys, at most 100, that an item has, in no order. No attribute of the items is read besides the keys,
    /// so the function's role can withhold all others ([`Access::exists`](key_schema::access::Access::exists)).
    pub async fn existing(&self, keys: Vec<Key>, consistency: Consistency, budget: Budget) -> Result<Vec<Key>, Error> {
        let found = self.found(Batch { keys, consistency, keys_only: true }, budget).await?;
        Ok(found.iter().filter_map(|item| item.key(Index::Table)).collect())
    }

    async fn found(&self, batch: Batch, budget: Budget) -> Result<Vec<Raw>, Error> {
        if batch.keys.is_empty() {
            return Ok(Vec::new());
        }
        let (homes, meter) = (self.table.homes().await?, self.meter.as_ref());
        match homes.beside {
            None => self.table.batch_in(homes.leader, batch, budget, meter).await,
            Some(other) => Box::pin(self.batch_both([homes.leader, other], batch, budget)).await,
        }
    }

    /// The items of one Query, and the canonical sort key at which it stopped if it did not reach the end of the range.
    pub(crate) async fn query<T>(
        &self,
        query: &Query<T>,
        range: SortRange,
        limit: Option<u8>,
    ) -> Result<(Vec<Raw>, Option<String>), Error> {
        let homes = self.table.homes().await?;
        let (declared, partition) = (&query.declared, query.partition.clone());
        match homes.beside {
            None => self.query_in(homes.leader, declared, partition, range, limit).await,
            Some(other) => Box::pin(self.query_both([homes.leader, other], declared, partition, range, limit)).await,
        }
    }

    /// The same in one of the tables. The partition is canonical.
    pub(crate) async fn query_in(
        &self,
        home: &Home,
        declared: &Declaration,
        canonical: String,
        range: SortRange,
        limit: Option<u8>,
    ) -> Result<(Vec<Raw>, Option<String>), Error> {
        let index = declared.place.index;
        let (partition, sort) = index.attributes();
        let range = home.range(index, &canonical, range);
        // Needed to respell the answer; most tables have nothing to respell.
        let respelled = (!home.is_canonical()).then(|| canonical.clone());
        let stored = home.layout.partition(index, canonical);
        let mut query = self
            .table
            .client
            .query()
            .table_name(&*home.name)
            .set_index_name(index.name().map(str::to_owned))
            .expression_attribute_names("#partition", partition)
            .expression_attribute_values(":partition", AttributeValue::S(stored))
            .consistent_read(declared.consistency == Consistency::Strong)
            .scan_index_forward(declared.direction == Direction::Ascending)
            .set_limit(limit.map(i32::from))
            .set_return_consumed_capacity(self.report());
        let (of_sort, values) = range.condition();
        let mut condition = "#partition = :partition".to_owned();
        if !of_sort.is_empty() {
            condition = format!("{condition} AND {of_sort}");
            query = query.expression_attribute_names("#sort", sort);
        }
        for (name, value) in values {
            query = query.expression_attribute_values(name, AttributeValue::S(value.to_owned()));
        }

        let query = query.key_condition_expression(condition);
        let (answer, items) = raw::split(query.send(), home).await?;
        self.measure(answer.consumed_capacity.as_slice());
        let position = match answer.last_evaluated_key.and_then(|mut key| key.remove(sort)) {
            Some(AttributeValue::S(position)) => Some(position),
            _ => None,
        };
        Ok((
            items,
            match respelled {
                Some(canonical) => position.map(|position| home.layout.position(index, &canonical, position)),
                None => position,
            },
        ))
    }

    /// The report of consumed capacity to request: none without a meter.
    pub(crate) fn report(&self) -> Option<ReturnConsumedCapacity> {
        self.meter.as_ref().map(|_| ReturnConsumedCapacity::Total)
    }

    pub(crate) fn measure(&self, consumed: &[ConsumedCapacity]) {
        if let Some(meter) = &self.meter {
            meter.add(consumed);
        }
    }
}

impl Table {
    /// The items with these keys in one of the tables.
    pub(crate) async fn batch_in(
        &self,
        home: &Home,
        batch: Batch,
        budget: Budget,
        meter: Option<&ReadMeter>,
    ) -> Result<Vec<Raw>, Error> {
        let Batch { keys, consistency, keys_only } = batch;
        let keys = keys.into_iter().map(|key| Item::from(item::key(home.key(key)))).collect();
        let mut request = KeysAndAttributes::builder().set_keys(Some(keys));
        if keys_only {
            let (partition, sort) = Index::Table.attributes();
            request = request.projection_expression(format!("{partition}, {sort}"));
        }
        let request = request.consistent_read(consistency == Consistency::Strong);
        let mut request = request.build().map_err(|error| Error::Refused(error.into()))?;
        let mut found = Vec::new();
        let mut retries = budget.retries();
        loop {
            let batch = self.client.batch_get_item().request_items(&*home.name, request);
            let report = meter.map(|_| ReturnConsumedCapacity::Total);
            let (answer, items) = raw::split(batch.set_return_consumed_capacity(report).send(), home).await?;
            found.extend(items);
            if let Some(meter) = meter {
                meter.add(answer.consumed_capacity());
            }
            match answer.unprocessed_keys.into_iter().flatten().map(|(_, keys)| keys).next() {
                Some(unprocessed) if !unprocessed.keys().is_empty() => request = unprocessed,
                _ => return Ok(found),
            }
            if !retries.pause().await {
                return Err(Error::Throttled { by: Throttle::Capacity, source: "keys were left unprocessed".into() });
            }
        }
    }
}
