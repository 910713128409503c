//! Layouts of the table's items.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::layout::{ENTITIES, ENTITY_TYPE, Item, Key};
use sample_items::{Sample, SampleSizes};
use serde_dynamo::{AttributeValue, from_item, to_item};
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
    pub item: serde_dynamo::Item,
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

fn placed(keys: impl IntoIterator<Item = Key>) -> serde_dynamo::Item {
    let mut attributes = serde_dynamo::Item::default();
    for key in keys {
        let (partition, sort) = key.index.attributes();
        attributes.insert(partition.to_owned(), AttributeValue::S(key.partition));
        attributes.insert(sort.to_owned(), AttributeValue::S(key.sort));
    }
    attributes
}

/// The item as it is stored: its attributes, its type and its keys.
pub fn image(state: &str, of: impl Into<Item>) -> Image {
    let of = of.into();
    let mut item: serde_dynamo::Item = to_item(&of).expect("an item");
    for (name, value) in placed(of.keys()).into_inner() {
        item.insert(name, value);
    }
    Image { entity: of.kind().to_owned(), state: state.to_owned(), item }
}

fn read(item: &serde_dynamo::Item) -> Item {
    let read: Item = from_item(item.clone()).unwrap_or_else(|error| panic!("{error}: {item:?}"));
    for (name, value) in placed(read.keys().into_iter().take(1)).into_inner() {
        assert_eq!(item.get(&name), Some(&value), "{}: where it lies", read.kind());
    }
    read
}

#[test]
fn every_entity_has_fixtures() {
    let entities: BTreeSet<_> = ENTITIES.iter().map(|(entity, _)| (*entity).to_owned()).collect();
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
    for (entity, _) in ENTITIES {
        for (version, states) in fixtures("items", entity) {
            for (state, item) in states.as_object().expect("states") {
                let item: serde_dynamo::Item = serde_json::from_value(item.clone()).expect("an item");
                let again = image("", read(&item)).item;
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
            let item = serde_json::from_value(item.clone()).expect("an item");
            collect(&format!("{:#?}", read(&item)), &mut fields);
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
