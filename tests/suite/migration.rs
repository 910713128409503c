//! A shop that migrates from one table to another.

mod archive;
pub mod copying;
mod cost;
mod deployments;
mod faults;
mod functions;
mod in_step;
mod patterns;
mod phase;
mod repairs;
mod schedules;
mod whole_tables;

use devstack::Template;
use key_schema::entity::{ItemKey, Migration, Phase, Repair};
use key_schema::layout::{COPIED, ENTITY_TYPE, Index, Key, Layout, OF_A_MIGRATION};
use lambda::Environment;
use shop::payments::Payments;
use table::{Item, read_item};

use crate::prelude::*;

/// A shop whose functions know the next table, which has the second layout.
pub struct MigratingShop {
    pub shop: Shop,
    pub next: String,
}

/// The items of a table of the shop by their canonical keys, without the marks of copies.
pub type Items = BTreeMap<(String, String), Item>;

type Keys = BTreeSet<(String, String)>;

impl MigratingShop {
    /// Opens the shop. Its functions read the phase before each request.
    pub async fn open() -> Self {
        Self::open_with("0").await
    }

    /// Opens a shop whose functions use a phase for this number of milliseconds.
    pub async fn open_with(cache: &str) -> Self {
        Self::open_where(&[("MIGRATION_CACHE_MILLISECONDS", cache)]).await
    }

    /// Opens a shop whose functions have these variables in their environment. They read the phase before each request,
    /// unless a variable says otherwise.
    pub async fn open_where(variables: &[(&str, &str)]) -> Self {
        let change = |template: &mut Template| {
            for function in &mut template.functions {
                for (name, value) in [("MIGRATION_CACHE_MILLISECONDS", "0")].iter().chain(variables) {
                    function.environment.insert((*name).to_owned(), (*value).to_owned());
                }
            }
        };
        let (payments, tables) = (Payments::start().await, [("Tables", "v1-v2")]);
        Self::of(Shop::open_silently_paying_with(payments, &tables, change).await)
    }

    /// A shop with two tables.
    pub fn of(shop: Shop) -> Self {
        let next = shop.next_table().to_owned();
        Self { shop, next }
    }

    /// The environment of an operator of both tables, and of a function that keeps the phase for two seconds.
    pub fn environment(&self) -> Environment {
        let variables =
            [("TABLE_NAME", self.shop.table()), ("NEXT_TABLE_NAME", &self.next), ("NEXT_TABLE_LAYOUT", "v2")];
        self.shop.operator().with(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    pub async fn enter(&self, phase: Phase) {
        self.shop.put(&Migration { phase, version: 1, since: Timestamp::now() }).await;
    }

    async fn scan(&self, table: &str) -> Vec<Item> {
        self.shop.dump_of(table).await.iter().map(item).collect()
    }

    /// All items of the first table, and of the next one.
    async fn scan_both(&self) -> [Vec<Item>; 2] {
        [self.scan(self.shop.table()).await, self.scan(&self.next).await]
    }

    /// The items of the first table and of the next one, without those of the migration itself.
    pub async fn tables(&self) -> [Items; 2] {
        let [first, next] = self.scan_both().await;
        [canonical(Layout::V1, first), canonical(Layout::V2, next)]
    }

    /// The items that are due to be repaired, by the table that has the repair.
    pub async fn repairs(&self) -> [Keys; 2] {
        self.scan_both().await.map(|items| due(&items))
    }

    /// The keys of the items that are not the same in both tables.
    pub async fn differences(&self) -> Keys {
        let [first, next] = self.tables().await;
        different(&first, &next)
    }

    /// Checks the law of both tables: an item and its copy are equal, or a repair is due.
    pub async fn assert_in_step(&self, what: &str) {
        let [first, next] = self.scan_both().await;
        let due = &due(&first) | &due(&next);
        let differ = different(&canonical(Layout::V1, first), &canonical(Layout::V2, next));
        let unnoticed: Vec<_> = differ.difference(&due).collect();
        assert!(unnoticed.is_empty(), "{what}: {unnoticed:?} differ without a repair");
    }
}

fn due(items: &[Item]) -> Keys {
    let repairs = items.iter().filter(|item| kind(item) == Some("repair"));
    let repairs = repairs.map(|item| read_item::<Repair>(item.clone()).expect("a repair"));
    repairs.flat_map(|repair| repair.keys).map(|ItemKey { partition, sort }| (partition, sort)).collect()
}

/// The keys of the items that are not the same in both.
fn different(first: &Items, next: &Items) -> Keys {
    first.keys().chain(next.keys()).filter(|key| first.get(*key) != next.get(*key)).cloned().collect()
}

fn item(json: &Value) -> Item {
    let item: serde_dynamo::Item = serde_json::from_value(json.clone()).expect("an item");
    item.into()
}

fn kind(item: &Item) -> Option<&str> {
    item.get(ENTITY_TYPE).and_then(|kind| kind.as_s().ok()).map(String::as_str)
}

/// Respells the keys of all items.
fn canonical(layout: Layout, items: Vec<Item>) -> Items {
    let shops = items.into_iter().filter(|item| kind(item).is_none_or(|kind| !OF_A_MIGRATION.contains(&kind)));
    shops
        .map(|mut item| {
            item.remove(COPIED);
            for index in [Index::Table, Index::Gsi1, Index::Gsi2] {
                let (partition, sort) = index.attributes();
                let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
                let (Some(old_partition), Some(old_sort)) = (text(partition), text(sort)) else { continue };
                let key = Key { index, partition: old_partition, sort: old_sort };
                let key = layout.canonical(key.clone()).unwrap_or_else(|| panic!("{layout}: {key:?}"));
                item.insert(partition.to_owned(), table::AttributeValue::S(key.partition));
                item.insert(sort.to_owned(), table::AttributeValue::S(key.sort));
            }
            let text = |name: &str| item[name].as_s().expect("a text").clone();
            ((text("PK"), text("SK")), item)
        })
        .collect()
}
