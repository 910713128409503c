//! The invariants of the layout, for every entity and every access pattern.
#![allow(clippy::expect_used, reason = "tests")]

mod any;
mod collections;
mod cursors;
mod json;
mod keys;
mod layouts;
mod lists;
mod parts;
mod patterns;
mod questions;
mod relations;
mod strategies;

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_dynamo::AttributeValue;

use super::{
    CELLS_OF_STOCK, CUSTOMER_BY_ID, Declaration, ENTITIES, ENTITY_TYPE, EXPIRES_AT, GIFT_CARD_BY_CODE, InCustomer,
    InGiftCard, InOrder, InProduct, InStock, InViews, Index, Item, Key, ORDER_BY_ID, PRODUCT_BY_ID, PROFILE_AND_ORDERS,
    ProfileOrOrder, VIEWS_OF_PRODUCT,
};
use any::any_entity;
use parts::{any_parts, sample};

// Places.

#[test]
fn every_entity_is_listed_once_with_its_places() {
    let listed: BTreeSet<_> = ENTITIES.iter().map(|(entity, _)| *entity).collect();
    assert_eq!(listed.len(), ENTITIES.len());
    let samples: Vec<_> = sample().entities().iter().map(|entity| (entity.kind(), entity.places())).collect();
    assert_eq!(samples, ENTITIES, "the sample has one entity of each kind");
}

#[test]
fn an_entity_is_in_the_table_and_at_most_once_in_each_index() {
    for (entity, places) in ENTITIES {
        assert_eq!(places[0].index, Index::Table, "{entity}");
        let indexes: Vec<_> = places.iter().map(|place| place.index).collect();
        assert!(indexes.is_sorted_by_key(|index| index.name()), "{entity}: {indexes:?}");
        assert!(indexes.windows(2).all(|pair| pair[0] != pair[1]), "{entity}: {indexes:?}");
    }
}

proptest! {
    #[test]
    fn the_keys_of_an_entity_match_its_places(entity in any_entity()) {
        let (keys, places) = (entity.keys(), entity.places_of_keys());
        prop_assert_eq!(keys.len(), places.len());
        for (key, place) in keys.iter().zip(places) {
            prop_assert!(place.is_of(key), "{:?} is not {:?}", key, place);
        }
    }

    #[test]
    fn every_key_fits_the_limits_of_dynamodb(parts in any_parts()) {
        for Key { partition, sort, .. } in parts.entities().iter().flat_map(Item::keys) {
            prop_assert!((1..=2048).contains(&partition.len()), "{}", partition);
            prop_assert!((1..=1024).contains(&sort.len()), "{}", sort);
        }
    }
}

/// An id has at most 64 bytes, a shard's id 128, a time 24, and an address 320, to which lower case can add half.
#[test]
fn the_longest_key_fits_the_limits_of_dynamodb() {
    let longest = |template: &str| {
        let address = if template.contains("{email}") { 480 } else { 128 };
        template.len() + template.matches('{').count() * address
    };
    for (entity, places) in ENTITIES {
        for place in *places {
            assert!(longest(place.partition) <= 2048 && longest(place.sort) <= 1024, "{entity}: {place:?}");
        }
    }
}

// Items.

proptest! {
    #[test]
    fn an_item_reads_as_the_entity_it_was_written_from(entity in any_entity(), extra in "[a-z]{20}") {
        let mut item = entity.item();
        item.inner_mut().insert(extra, AttributeValue::M(HashMap::default()));
        prop_assert_eq!(serde_dynamo::from_item::<_, Item>(item).expect("an entity"), entity);
    }

    #[test]
    fn keys_and_kind_overwrite_no_attribute_of_an_entity(entity in any_entity()) {
        let bare = entity.item().inner().len() - 1 - 2 * entity.places().len();
        let AttributeValue::M(attributes) = serde_dynamo::to_attribute_value(plain(&entity)).expect("a map") else {
            return Err(TestCaseError::fail("an entity is a map"));
        };
        prop_assert_eq!(bare, attributes.len());
    }

    #[test]
    fn a_collection_reads_exactly_the_entities_that_its_pattern_declares(entity in any_entity()) {
        agrees::<InCustomer>(&CUSTOMER_BY_ID.declared, &entity)?;
        agrees::<InProduct>(&PRODUCT_BY_ID.declared, &entity)?;
        agrees::<InStock>(&CELLS_OF_STOCK, &entity)?;
        agrees::<InViews>(&VIEWS_OF_PRODUCT, &entity)?;
        agrees::<InOrder>(&ORDER_BY_ID.declared, &entity)?;
        agrees::<ProfileOrOrder>(&PROFILE_AND_ORDERS.declared, &entity)?;
        agrees::<InGiftCard>(&GIFT_CARD_BY_CODE.declared, &entity)?;
    }

    #[test]
    fn an_item_of_an_unknown_kind_is_read_as_unknown(entity in any_entity(), kind in "[a-z]{0,8}New") {
        let mut item = entity.item();
        item.inner_mut().insert(ENTITY_TYPE.to_owned(), AttributeValue::S(kind));
        is_unknown::<InCustomer>(&item)?;
        is_unknown::<InProduct>(&item)?;
        is_unknown::<InStock>(&item)?;
        is_unknown::<InViews>(&item)?;
        is_unknown::<InOrder>(&item)?;
        is_unknown::<ProfileOrOrder>(&item)?;
        is_unknown::<InGiftCard>(&item)?;
    }
}

#[test]
fn only_carts_guests_marks_of_views_queued_orders_checkpoints_leases_and_stored_answers_have_a_time_to_live() {
    let time_to_live = |entity: &Item| entity.item().inner().get(EXPIRES_AT).cloned();
    let bearing: Vec<_> = sample().entities().iter().filter_map(|it| Some((it.kind(), time_to_live(it)?))).collect();
    let second = sample().moment().as_second().to_string();
    let number = AttributeValue::N(second);
    let kinds = ["cart", "guest", "viewMark", "queuedOrder", "streamCheckpoint", "foldLease", "idempotencyRecord"];
    let expected = kinds.map(|kind| (kind, number.clone()));
    assert_eq!(bearing, expected, "in seconds, as a number");
}

/// The attributes that the entity itself has.
fn plain(entity: &Item) -> serde_dynamo::Item {
    let mut item = entity.item();
    let keys = entity.places().iter().flat_map(|place| <[&str; 2]>::from(place.index.attributes()));
    for attribute in keys.chain([ENTITY_TYPE]) {
        item.inner_mut().remove(attribute);
    }
    item
}

fn agrees<Enum>(declared: &Declaration, entity: &Item) -> Result<(), TestCaseError>
where
    Enum: DeserializeOwned + Serialize,
{
    let read: Enum = serde_dynamo::from_item(entity.item()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let is_declared = declared.entities.contains(&entity.kind());
    prop_assert_eq!(as_item(&read), is_declared.then(|| entity.clone()), "pattern {}", declared.number);
    Ok(())
}

fn is_unknown<Enum: DeserializeOwned + Serialize>(item: &serde_dynamo::Item) -> Result<(), TestCaseError> {
    let read: Enum = serde_dynamo::from_item(item.clone()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(as_item(&read), None);
    Ok(())
}

/// The item that was read as one of a collection; `None` if it is of an unknown kind.
fn as_item(read: &impl Serialize) -> Option<Item> {
    serde_dynamo::from_item(serde_dynamo::to_item::<_, serde_dynamo::Item>(read).ok()?).ok()
}
