//! The items of the table.

use std::collections::{BTreeMap, BTreeSet};

use capacity::sample::{Extent, Sample};
use key_schema::entity::{
    Cart, Customer, CustomerStats, DayTotals, Discount, EmailClaim, Entity as _, GiftCard, GiftCardEntry,
    IdempotencyRecord, Invoice, Order, OrderFlag, OrderItem, Product, ProductStats, QueuedOrder, Reconciliation, Stock,
    StockCell, StreamCheckpoint, UsernameClaim, ViewShard,
};
use key_schema::layout::{ENTITIES, ENTITY_TYPE, Key, Stored};
use serde_dynamo::{AttributeValue, Item, from_item, to_item};
use serde_json::{Value, json};

use super::{assert_newest, fixtures};

/// Small, and with everything in it that an item can hold.
const EXTENT: Extent = Extent {
    id: 8,
    name: 8,
    description: 16,
    lines: 1,
    gift_cards: 1,
    discount: true,
    cart_lines: 1,
    ..Extent::TYPICAL
};

/// One of each kind of item in each of its states, as this release writes it, by entity and state.
fn written() -> BTreeMap<String, BTreeMap<String, Value>> {
    let sample = Sample::new(EXTENT).expect("a sample");
    let mut written: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for (kind, item) in sample.images() {
        let item = json!(item);
        let entity = item[ENTITY_TYPE]["S"].as_str().expect("its kind").to_owned();
        written.entry(entity).or_default().insert(format!("{kind:?}"), item);
    }
    written
}

fn placed(keys: impl IntoIterator<Item = Key>) -> Item {
    let mut attributes = Item::default();
    for key in keys {
        let (partition, sort) = key.index.attributes();
        attributes.insert(partition.to_owned(), AttributeValue::S(key.partition));
        attributes.insert(sort.to_owned(), AttributeValue::S(key.sort));
    }
    attributes
}

/// What reading the item and writing it again leaves of it.
fn written_again<T: Stored>(item: Item) -> Item {
    let stored = item.clone();
    let entity: T = from_item(item).unwrap_or_else(|error| panic!("{}: {error}: {stored:?}", T::TYPE));
    for (name, value) in placed([entity.key()]).into_inner() {
        assert_eq!(stored.get(&name), Some(&value), "{}: where it lies", T::TYPE);
    }
    let mut again: Item = to_item(&entity).expect("an item");
    again.insert(ENTITY_TYPE.to_owned(), AttributeValue::S(T::TYPE.to_owned()));
    for (name, value) in placed([entity.key()].into_iter().chain(entity.index_keys())).into_inner() {
        again.insert(name, value);
    }
    again
}

macro_rules! by_type {
    ($($entity:ident)+) => {
        const KNOWN: &[&str] = &[$($entity::TYPE),+];

        fn read_and_written(entity: &str, item: Item) -> Item {
            match entity {
                $($entity::TYPE => written_again::<$entity>(item),)+
                _ => panic!("{entity} is no entity"),
            }
        }
    };
}

by_type! {
    Customer CustomerStats Cart EmailClaim UsernameClaim
    Product Stock StockCell ProductStats ViewShard
    Order OrderItem Invoice OrderFlag QueuedOrder
    Discount GiftCard GiftCardEntry
    DayTotals StreamCheckpoint Reconciliation IdempotencyRecord
}

#[test]
fn every_entity_has_fixtures() {
    let entities: BTreeSet<_> = ENTITIES.iter().map(|(entity, _)| (*entity).to_owned()).collect();
    assert_eq!(KNOWN.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), entities);
    assert_eq!(written().into_keys().collect::<BTreeSet<_>>(), entities);
}

#[test]
fn what_is_written_is_the_newest_fixture() {
    for (entity, states) in written() {
        assert_newest("items", &entity, &json!(states));
    }
}

#[test]
fn what_every_release_wrote_is_read() {
    for entity in KNOWN {
        let fixtures = fixtures("items", entity);
        let newest = fixtures.last_key_value().map(|(day, _)| day.clone()).expect("a fixture");
        for (day, states) in fixtures {
            for (state, item) in states.as_object().expect("states") {
                let item: Item = serde_json::from_value(item.clone()).expect("an item");
                let again = read_and_written(entity, item.clone());
                // An attribute that this release does not know would be lost here.
                assert!(day != newest || again == item, "{entity} {state}: {again:?} instead of {item:?}");
            }
        }
    }
}
