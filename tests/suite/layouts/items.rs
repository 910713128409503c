//! Layouts of the table's items.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use key_schema::entity::{
    Cart, CategoryCount, CopyProgress, Customer, CustomerAddresses, CustomerStats, DayTotals, Discount, EmailClaim,
    Entity as _, FoldLease, GiftCard, GiftCardEntry, Guest, IdempotencyRecord, Invoice, InvoiceCounter, Move, Order,
    OrderAddress, OrderFlag, OrderItem, ParkedCounts, PaymentDue, Product, ProductDescription, ProductStats,
    QueuedOrder, Reconciliation, Repair, Return, Shipment, ShippingRates, Stock, StockCell, StreamCheckpoint, Taxes,
    UsernameClaim, ViewMark, ViewShard,
};
use key_schema::layout::{ENTITIES, ENTITY_TYPE, Key, Stored};
use sample_items::{Sample, SampleSizes};
use serde_dynamo::{AttributeValue, Item, from_item, to_item};
use serde_json::{Value, json};

use super::fields::{camel_case, collect};
use super::states::rare;
use super::{VERSION, assert_own, fixtures};

/// Small items with every optional part.
const SIZES: SampleSizes = SampleSizes {
    id: 8,
    name: 8,
    description: 16,
    lines: 1,
    gift_cards: 1,
    discount: true,
    cart_lines: 1,
    ..SampleSizes::TYPICAL
};

/// An item as this version writes it.
pub struct Image {
    pub entity: String,
    pub state: String,
    pub item: Item,
}

/// One item of each entity in each of its states, as this version writes it.
fn written() -> BTreeMap<String, BTreeMap<String, Value>> {
    let sample = Sample::new(SIZES).expect("a sample");
    let typical = sample.images().map(|(kind, item)| {
        let Some(AttributeValue::S(entity)) = item.get(ENTITY_TYPE) else { panic!("{kind:?} is of no entity") };
        Image { entity: entity.clone(), state: format!("{kind:?}"), item: item.clone() }
    });
    let typical: Vec<_> = typical.collect();
    let mut written: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for Image { entity, state, item } in rare(&typical).into_iter().chain(typical) {
        written.entry(entity).or_default().insert(state, json!(item));
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

/// The item of an entity: its attributes, its type and its keys.
pub fn image<T: Stored>(state: &str, entity: &T) -> Image {
    let mut item: Item = to_item(entity).expect("an item");
    item.insert(ENTITY_TYPE.to_owned(), AttributeValue::S(T::TYPE.to_owned()));
    for (name, value) in placed([entity.key()].into_iter().chain(entity.index_keys())).into_inner() {
        item.insert(name, value);
    }
    Image { entity: T::TYPE.to_owned(), state: state.to_owned(), item }
}

/// An item that was read.
struct Read {
    /// The item after it is read and written again.
    again: Item,
    /// The entity with all its fields.
    printed: String,
}

fn read<T: Stored + Debug>(item: Item) -> Read {
    let stored = item.clone();
    let entity: T = from_item(item).unwrap_or_else(|error| panic!("{}: {error}: {stored:?}", T::TYPE));
    for (name, value) in placed([entity.key()]).into_inner() {
        assert_eq!(stored.get(&name), Some(&value), "{}: where it lies", T::TYPE);
    }
    Read { again: image("", &entity).item, printed: format!("{entity:#?}") }
}

macro_rules! by_type {
    ($($entity:ident)+) => {
        const KNOWN: &[&str] = &[$($entity::TYPE),+];

        fn read_as(entity: &str, item: Item) -> Read {
            match entity {
                $($entity::TYPE => read::<$entity>(item),)+
                _ => panic!("{entity} is no entity"),
            }
        }
    };
}

by_type! {
    Customer CustomerStats Cart CustomerAddresses Guest EmailClaim UsernameClaim
    Product ProductDescription Stock StockCell ProductStats ViewShard ViewMark CategoryCount
    Order OrderItem Invoice InvoiceCounter PaymentDue Return OrderFlag QueuedOrder OrderAddress Shipment
    Discount GiftCard GiftCardEntry ShippingRates
    Taxes DayTotals StreamCheckpoint ParkedCounts FoldLease Reconciliation IdempotencyRecord
    Move Repair CopyProgress
}

#[test]
fn every_entity_has_fixtures() {
    let entities: BTreeSet<_> = ENTITIES.iter().map(|(entity, _)| (*entity).to_owned()).collect();
    assert_eq!(KNOWN.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), entities);
    assert_eq!(written().into_keys().collect::<BTreeSet<_>>(), entities);
}

#[test]
fn this_version_writes_its_fixture() {
    for (entity, states) in written() {
        assert_own("items", &entity, &json!(states));
    }
}

#[test]
fn items_of_every_release_can_be_read() {
    for entity in KNOWN {
        for (version, states) in fixtures("items", entity) {
            for (state, item) in states.as_object().expect("states") {
                let item: Item = serde_json::from_value(item.clone()).expect("an item");
                let Read { again, .. } = read_as(entity, item.clone());
                // An attribute that this version does not know would be lost here.
                assert!(version != VERSION || again == item, "{entity} {state}: {again:?} instead of {item:?}");
            }
        }
    }
}

/// A field that is in no fixture could change or get lost unnoticed.
#[test]
fn every_field_is_in_a_fixture() {
    for (entity, states) in written() {
        let mut fields = BTreeMap::new();
        for item in states.values() {
            let item: Item = serde_json::from_value(item.clone()).expect("an item");
            collect(&read_as(&entity, item).printed, &mut fields);
        }
        let text = json!(states).to_string();
        let missing: Vec<_> = fields
            .iter()
            .filter(|((_, field), holds)| !**holds && !text.contains(&format!("\"{}\":", camel_case(field))))
            .map(|((of, field), _)| format!("{of}::{field}"))
            .collect();
        assert!(missing.is_empty(), "{entity}: no state in layouts/states.rs holds {missing:?}");
    }
}
