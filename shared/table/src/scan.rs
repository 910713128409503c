//! The only Scan: the work lists of copying one table to another, and a whole table for an operator.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity, ReturnConsumedCapacity};
use key_schema::entity::{ItemKey, Side};
use key_schema::layout::{Index, Key};
use lambda::{Environment, FromEnvironment, Misconfigured};

use crate::home::Home;
use crate::item::{self, Item};
use crate::pair::Pairs;
use crate::{Error, Table};

/// The most items of a page. DynamoDB ends a page at 1 MB; the embedded engine reads all that is left for a page without a
/// limit.
const PAGE: u16 = 1_000;

/// One of several parts of a table that are scanned in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The segment's number, counted from 0.
    pub number: u32,
    /// The number of segments.
    pub of: u32,
}

/// One page of a scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Scanned {
    /// The items with their canonical keys. Also the keys in the items are canonical.
    pub items: Vec<(Key, Item)>,
    /// The keys, as the table spells them, of items that have no place in the other table.
    pub strangers: Vec<ItemKey>,
    /// The key at which the scan stopped, as the table spells it. `None` at the end of the segment.
    pub last: Option<ItemKey>,
}

/// One table as a whole, in the layout that the environment names. For operators: no function's role allows a scan.
#[derive(Clone, Debug)]
pub struct WholeTable(Table);

/// What DynamoDB says about a table. It counts items and bytes every six hours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The table's ARN.
    pub arn: String,
    /// The size of all items.
    pub bytes: u64,
}

impl FromEnvironment for WholeTable {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Table::from_environment(environment).map(Self)
    }
}

impl WholeTable {
    /// The same, but the table that leads now, if the environment names the two tables of a migration.
    ///
    /// # Errors
    /// Those of reading the phase of the migration.
    pub async fn leading(mut self) -> Result<Self, Error> {
        self.0.home = self.0.homes().await?.leader.clone();
        Ok(self)
    }

    /// The next page of a segment, strongly consistent: the items as the table has them, the key after which the next page
    /// begins, and the read units consumed. One request.
    ///
    /// # Errors
    /// DynamoDB refuses the request, or does not answer.
    pub async fn page(
        &self,
        segment: Segment,
        after: Option<&ItemKey>,
    ) -> Result<(Vec<Item>, Option<ItemKey>, f64), Error> {
        let Page { items, last, consumed } = self.0.scan(&self.0.home, segment, after, PAGE).await?;
        Ok((items, last, consumed.and_then(|consumed| consumed.capacity_units).unwrap_or_default()))
    }

    /// An item of this table, with canonical keys. Keys that no entity has stay as the table spells them.
    #[must_use]
    pub fn canonical(&self, mut item: Item) -> Item {
        self.0.home.canonicalize(&mut item);
        item
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.0.home.name
    }

    /// What DynamoDB says about the table; `None` if there is no such table.
    pub async fn describe(&self) -> Result<Option<Description>, Error> {
        let answer = match self.0.client.describe_table().table_name(self.name()).send().await {
            Err(SdkError::ServiceError(error)) if error.err().is_resource_not_found_exception() => return Ok(None),
            answer => answer?,
        };
        Ok(answer.table.map(|table| Description {
            bytes: table.table_size_bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default(),
            arn: table.table_arn.unwrap_or_default(),
        }))
    }
}

impl Pairs {
    /// The next page of a segment of this table, strongly consistent. One request.
    pub async fn scan(
        &self,
        side: Side,
        segment: Segment,
        after: Option<&ItemKey>,
        limit: u16,
    ) -> Result<Scanned, Error> {
        let home = self.home(side);
        let page = self.reader.table.scan(home, segment, after, limit).await?;
        self.measure(page.consumed.as_ref());

        let (mut items, mut strangers) = (Vec::new(), Vec::new());
        for mut item in page.items {
            let Some(key) = key_of(&item) else { continue };
            match home.layout.canonical(key.clone()).filter(|canonical| self.has_place_for(canonical)) {
                Some(canonical) => {
                    home.canonicalize(&mut item);
                    items.push((canonical, item));
                }
                None => strangers.push(key.into()),
            }
        }
        Ok(Scanned { items, strangers, last: page.last })
    }
}

/// The answer to one Scan. Items and keys are as the table spells them.
struct Page {
    items: Vec<Item>,
    last: Option<ItemKey>,
    consumed: Option<ConsumedCapacity>,
}

impl Table {
    async fn scan(
        &self,
        home: &Home,
        Segment { number, of }: Segment,
        after: Option<&ItemKey>,
        limit: u16,
    ) -> Result<Page, Error> {
        let scan = self.client.scan().table_name(&*home.name).consistent_read(true).limit(limit.into());
        let scan = scan.segment(number.cast_signed()).total_segments(of.cast_signed());
        let scan = scan.set_exclusive_start_key(after.map(|key| item::key(key.clone().into()).into()));
        let answer = scan.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
        Ok(Page {
            items: answer.items.unwrap_or_default(),
            last: answer.last_evaluated_key.and_then(|last| key_of(&last)).map(ItemKey::from),
            consumed: answer.consumed_capacity,
        })
    }
}

/// The key of an item in the table, as it is spelled there.
fn key_of(item: &Item) -> Option<Key> {
    let (partition, sort) = Index::Table.attributes();
    match (item.get(partition), item.get(sort)) {
        (Some(AttributeValue::S(partition)), Some(AttributeValue::S(sort))) => {
            Some(Key { index: Index::Table, partition: partition.clone(), sort: sort.clone() })
        }
        _ => None,
    }
}
