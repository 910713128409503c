//! The only Scan: the work lists of copying one table to another.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use key_schema::entity::{ItemKey, Side};
use key_schema::layout::{Index, Key};

use crate::Error;
use crate::item::{self, Item};
use crate::pair::Pairs;

/// One of several parts of a table that are scanned in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The segment's number, counted from 0.
    pub number: u8,
    /// The number of segments.
    pub of: u8,
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

impl Pairs {
    /// The next page of a segment of this table, strongly consistent. One request.
    pub async fn scan(
        &self,
        side: Side,
        Segment { number, of }: Segment,
        after: Option<&ItemKey>,
        limit: u16,
    ) -> Result<Scanned, Error> {
        let home = self.home(side);
        let scan = self.reader.table.client.scan().table_name(&*home.name).consistent_read(true).limit(limit.into());
        let scan = scan.segment(number.into()).total_segments(of.into());
        let scan = scan.set_exclusive_start_key(after.map(|key| item::key(key.clone().into()).into()));
        let answer = scan.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
        self.measure(answer.consumed_capacity.as_ref());

        let (mut items, mut strangers) = (Vec::new(), Vec::new());
        for mut item in answer.items.unwrap_or_default() {
            let Some(key) = key_of(&item) else { continue };
            match home.layout.canonical(key.clone()).filter(|canonical| self.has_place_for(canonical)) {
                Some(canonical) => {
                    home.canonicalize(&mut item);
                    items.push((canonical, item));
                }
                None => strangers.push(key.into()),
            }
        }
        let last = answer.last_evaluated_key.and_then(|last| key_of(&last)).map(ItemKey::from);
        Ok(Scanned { items, strangers, last })
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
