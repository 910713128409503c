//! Pairs: an item in one of the two tables of a migration, and its copy in the other one.
//!
//! Only the functions that copy use this module. Every other function reads and writes through [`Reader`](crate::Reader)
//! and [`Writer`](crate::Writer), and does not know that there are two tables.

use aws_sdk_dynamodb::types::ConsumedCapacity;
use key_schema::entity::Side;
use key_schema::layout::{COPIED, Key, MOST_ACTIONS, Query};
use lambda::{Environment, FromEnvironment, Misconfigured};
use serde::de::DeserializeOwned;

use crate::commit::Attempt;
use crate::home::Home;
use crate::item::Item;
use crate::raw::Raw;
use crate::read::Batch;
use crate::transact_get::gets_in;
use crate::{Budget, Commit, Condition, Error, Meter, ReadMeter, Reader, Write, Writer};

/// The same item in both tables, with canonical keys, as it was at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The canonical key.
    pub key: Key,
    /// The item in the table from which the shop migrates.
    pub first: Option<Item>,
    /// The item in the table to which the shop migrates.
    pub next: Option<Item>,
}

impl Pair {
    /// The item in this table.
    pub fn of(&self, side: Side) -> Option<&Item> {
        match side {
            Side::First => self.first.as_ref(),
            Side::Next => self.next.as_ref(),
        }
    }
}

/// Both tables of a migration. A clone is cheap and shares the connection and the meters.
#[derive(Clone, Debug)]
pub struct Pairs {
    pub(crate) reader: Reader,
    writer: Writer,
    next: Home,
    written: Meter,
    read: ReadMeter,
}

impl FromEnvironment for Pairs {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let next = Home {
            name: environment.required("NEXT_TABLE_NAME")?.into(),
            layout: crate::layout(environment, "NEXT_TABLE_LAYOUT")?,
        };
        let (written, read) = (Meter::default(), ReadMeter::default());
        let reader = Reader::from_environment(environment)?.metered(&read);
        if reader.table.home.name == next.name {
            return Err(Misconfigured::Invalid("NEXT_TABLE_NAME must not be TABLE_NAME".to_owned()));
        }
        let writer = Writer::from_environment(environment)?.metered(&written);
        Ok(Self { reader, writer, next, written, read })
    }
}

impl Pairs {
    /// The same tables, with meters of their own.
    #[must_use]
    pub fn unshared(&self) -> Self {
        let (written, read) = (Meter::default(), ReadMeter::default());
        let (reader, writer) = (self.reader.clone().metered(&read), self.writer.clone().metered(&written));
        Self { reader, writer, next: self.next.clone(), written, read }
    }

    /// About how many items this table has. DynamoDB counts them every six hours.
    pub async fn about_items(&self, side: Side) -> Result<u64, Error> {
        let describe = self.reader.table.client.describe_table().table_name(self.name(side));
        let about = describe.send().await?.table.and_then(|table| table.item_count);
        Ok(about.and_then(|items| u64::try_from(items).ok()).unwrap_or(0))
    }

    /// The most pairs of one snapshot read.
    pub const MOST: usize = MOST_ACTIONS / 2;

    pub(crate) fn home(&self, side: Side) -> &Home {
        match side {
            Side::First => &self.reader.table.home,
            Side::Next => &self.next,
        }
    }

    /// The name of this table.
    pub fn name(&self, side: Side) -> &str {
        &self.home(side).name
    }

    /// Whether items with this canonical key can be in both tables: both layouts spell it, and read it back.
    pub fn has_place_for(&self, key: &Key) -> bool {
        let spells = |side| {
            let layout = self.home(side).layout;
            layout.canonical(layout.key(key.clone())).as_ref() == Some(key)
        };
        spells(Side::First) && spells(Side::Next)
    }

    /// The read units and the write units that were consumed since the last call, in both tables together. The units of
    /// the busiest index count if they are more than those of the tables.
    pub fn consumed(&self) -> (f64, f64) {
        let written = self.written.take();
        (self.read.take(), written.indexes.values().copied().fold(written.table, f64::max))
    }

    /// The pairs with these canonical keys, at most [`MOST`](Self::MOST), in the order of the keys. A snapshot read: as
    /// both tables are at one moment at which no transaction is writing any of the items. If one is, the read is
    /// retried within the budget.
    pub async fn snapshot(&self, keys: Vec<Key>, budget: Budget) -> Result<Vec<Pair>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (first, next) = (self.home(Side::First), self.home(Side::Next));
        let gets = [gets_in(first, keys.clone())?, gets_in(next, keys.clone())?].concat();
        let mut firsts = self.reader.snapshot(gets, budget).await?;
        let nexts = firsts.split_off(keys.len().min(firsts.len()));
        let canonical = |home: &Home, item: Option<Item>| {
            item.filter(|item| !item.is_empty()).map(|mut item| {
                home.canonicalize(&mut item);
                item
            })
        };
        let pairs = keys.into_iter().zip(firsts.into_iter().zip(nexts));
        let pairs = pairs.map(|(key, (of_first, of_next))| Pair {
            key,
            first: canonical(first, of_first),
            next: canonical(next, of_next),
        });
        Ok(pairs.collect())
    }

    /// Does all of these writes or none, each in its table: at most 100. A transaction that was cancelled by a conflict
    /// is retried within the budget.
    ///
    /// # Errors
    /// [`Error::Unanswered`] if the outcome is unknown. The caller reads the pairs again.
    pub async fn commit(&self, writes: Vec<(Side, Write)>, budget: Budget) -> Result<Commit, Error> {
        let actions = writes.into_iter().map(|(side, write)| write.into_action(self.home(side)));
        let actions: Vec<_> = actions.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut retries = budget.retries();
        loop {
            match self.writer.attempt(&actions, actions.len(), &mut retries).await? {
                Attempt::Done => return Ok(Commit::Done),
                Attempt::Cancelled(causes) => return Ok(Commit::Cancelled(causes)),
                Attempt::Conflict(_) if retries.pause().await => {}
                Attempt::Conflict(error) | Attempt::FollowerThrottled(error) => return Err(error),
            }
        }
    }

    /// The items with these canonical keys in this table, at most 100, strongly consistent. Items that do not exist are
    /// left out. If DynamoDB leaves keys unprocessed, they are requested again within the budget.
    pub async fn read<T: DeserializeOwned>(&self, side: Side, keys: Vec<Key>, budget: Budget) -> Result<Vec<T>, Error> {
        let table = &self.reader.table;
        let items = table.batch_in(self.home(side), Batch::strong(keys), budget, Some(&self.read)).await?;
        items.iter().map(Raw::read).collect()
    }

    /// The first items of a list in this table after a position, and the position of the last of them if there
    /// may be more. One request.
    pub async fn list<T: DeserializeOwned>(
        &self,
        side: Side,
        query: &Query<T>,
        position: Option<&str>,
        limit: u8,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        let (partition, range) = (query.partition.clone(), query.rest(position));
        let read = self.reader.query_in(self.home(side), &query.declared, partition, range, Some(limit));
        let (items, stopped) = read.await?;
        Ok((items.iter().map(Raw::read).collect::<Result<_, _>>()?, stopped))
    }

    pub(crate) fn measure(&self, consumed: Option<&ConsumedCapacity>) {
        self.read.add(consumed.map(std::slice::from_ref).unwrap_or_default());
    }
}

impl Write {
    /// Puts an item with canonical keys, if the condition holds.
    pub fn put_item(item: Item, condition: Condition) -> Self {
        Self { act: crate::write::Act::Put(item), condition: Some(condition) }
    }
}

impl Condition {
    /// The most attributes of one condition. DynamoDB takes at most 300 operators and 4 KB of text.
    const MOST_ATTRIBUTES: usize = 100;

    /// The item must exist, and every attribute that it had when it was read must have the same value. If the item was
    /// not a copy, it must not have become one.
    ///
    /// An attribute that the item did not have may have been added: no condition can say that there is none. The caller
    /// must be safe without that. Keys do not change, and are left out.
    pub fn unchanged(item: &Item) -> Self {
        let is_key = |name: &str| name.ends_with("PK") || name.ends_with("SK");
        let mut read: Vec<_> = item.iter().filter(|(name, _)| !is_key(name)).collect();
        // The attribute that changes with each write of a copy comes first.
        read.sort_unstable_by_key(|(name, _)| (*name != COPIED, *name));
        let mut condition = Self::present();
        let mut terms = vec![condition.expression.into_owned()];
        if !item.contains_key(COPIED) {
            terms.push(format!("attribute_not_exists(#{COPIED})"));
        }
        for (at, (name, value)) in read.into_iter().take(Self::MOST_ATTRIBUTES).enumerate() {
            terms.push(format!("#u{at} = :u{at}"));
            condition.names.push((format!("#u{at}"), name.clone()));
            condition.values.push((format!(":u{at}"), value.clone()));
        }
        condition.expression = terms.join(" AND ").into();
        condition
    }
}
