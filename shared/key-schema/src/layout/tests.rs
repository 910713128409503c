//! The laws of the layout, for every entity and every access pattern.
#![allow(clippy::expect_used, reason = "tests")]

mod any;

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_dynamo::{AttributeValue, Item};

use crate::entity::TYPES;
use crate::value::{InvoiceId, TimeRange};

use super::{
    AccessPattern, CustomerById, DiscountByCode, ENTITIES, ENTITY_TYPE, GiftCardByCode, InCustomer, InGiftCard,
    InOrder, InProduct, Index, InvoiceById, InvoiceOfOrder, InvoicesOfCustomer, Key, OrderById, OrdersOfProduct,
    PATTERNS, PaymentsOfInvoice, ProductById, ProductsOfCategory, ProductsOfCustomer, ProductsOfOrder,
};
use any::{AnyEntity, Parts, TIMES, any_entity, any_parts, any_time, moment};

// Places.

#[test]
fn every_kind_of_entity_has_its_places_listed_once() {
    let listed: BTreeSet<_> = ENTITIES.iter().map(|(entity, _)| *entity).collect();
    assert_eq!(listed, TYPES.iter().copied().collect());
    assert_eq!(listed.len(), ENTITIES.len());
    let made: Vec<_> = sample().entities().iter().map(|entity| (entity.kind(), entity.places())).collect();
    assert_eq!(made, ENTITIES, "these tests make one of each");
}

#[test]
fn the_table_comes_first_and_no_index_twice() {
    for (entity, places) in ENTITIES {
        assert_eq!(places[0].index, Index::Table, "{entity}");
        let indexes: Vec<_> = places.iter().map(|place| place.index).collect();
        assert!(indexes.is_sorted_by_key(|index| index.name()), "{entity}: {indexes:?}");
        assert!(indexes.windows(2).all(|pair| pair[0] != pair[1]), "{entity}: {indexes:?}");
    }
}

#[test]
fn every_pattern_reads_a_place_of_each_of_its_entities() {
    for declared in PATTERNS {
        for entity in declared.entities {
            let places = ENTITIES.iter().find(|(other, _)| other == entity).map(|(_, places)| *places);
            let place = places.and_then(|places| places.iter().find(|place| place.index == declared.place.index));
            let (partition, sort) = place.map(|place| (place.partition, place.sort)).expect("an entry in the index");
            assert_eq!(partition, declared.place.partition, "pattern {}", declared.number);
            assert!([sort, ""].contains(&declared.place.sort), "pattern {}", declared.number);
        }
    }
}

#[test]
fn the_patterns_are_in_the_order_of_their_numbers() {
    assert!(PATTERNS.windows(2).all(|pair| pair[0].number < pair[1].number));
}

proptest! {
    #[test]
    fn the_keys_of_an_entity_are_those_its_places_promise(entity in any_entity()) {
        let (keys, places) = (entity.keys(), entity.places());
        prop_assert_eq!(keys.len(), places.len());
        for (key, place) in keys.iter().zip(places) {
            prop_assert_eq!(key.index, place.index);
            prop_assert!(is_spelled(place.partition, &key.partition), "{:?} is not {:?}", key, place);
            prop_assert!(is_spelled(place.sort, &key.sort), "{:?} is not {:?}", key, place);
        }
    }

    #[test]
    fn every_key_fits_the_limits_of_dynamodb(parts in any_parts()) {
        for Key { partition, sort, .. } in parts.entities().iter().flat_map(AnyEntity::keys) {
            prop_assert!((1..=2048).contains(&partition.len()), "{}", partition);
            prop_assert!((1..=1024).contains(&sort.len()), "{}", sort);
        }
    }
}

/// However long its values are: an identifier has at most 64 bytes, a moment 24, an address 320, which lower case can make
/// half as long again.
#[test]
fn the_longest_key_fits_the_limits_of_dynamodb() {
    let longest = |template: &str| {
        let address = if template.contains("{email}") { 480 } else { 64 };
        template.len() + template.matches('{').count() * address
    };
    for (entity, places) in ENTITIES {
        for place in *places {
            assert!(longest(place.partition) <= 2048 && longest(place.sort) <= 1024, "{entity}: {place:?}");
        }
    }
}

/// Whether the template, filled in, can read so.
fn is_spelled(template: &str, key: &str) -> bool {
    match template.split_once('{') {
        None => template == key,
        Some((literal, rest)) => {
            let after = rest.split_once('}').map_or("", |(_, after)| after);
            key.strip_prefix(literal).is_some_and(|value| {
                let (part, key) = value.split_at(value.find('#').unwrap_or(value.len()));
                !part.is_empty() && is_spelled(after, key)
            })
        }
    }
}

// Items.

proptest! {
    #[test]
    fn every_entity_survives_the_way_through_an_item(entity in any_entity(), extra in "[a-z]{20}") {
        let mut item = entity.item();
        item.inner_mut().insert(extra, AttributeValue::M(HashMap::default()));
        prop_assert_eq!(entity.read_alike(item), entity);
    }

    #[test]
    fn no_attribute_of_an_entity_is_overwritten_by_its_keys_or_its_kind(entity in any_entity()) {
        let bare = entity.item().inner().len() - 1 - 2 * entity.places().len();
        let AttributeValue::M(attributes) = serde_dynamo::to_attribute_value(plain(&entity)).expect("a map") else {
            return Err(TestCaseError::fail("an entity is a map"));
        };
        prop_assert_eq!(bare, attributes.len());
    }

    #[test]
    fn a_collection_is_read_into_the_entities_its_pattern_declares_and_into_nothing_else(entity in any_entity()) {
        agrees::<CustomerById, InCustomer>(&entity)?;
        agrees::<ProductById, InProduct>(&entity)?;
        agrees::<OrderById, InOrder>(&entity)?;
        agrees::<GiftCardByCode, InGiftCard>(&entity)?;
    }

    #[test]
    fn an_item_of_an_unknown_kind_is_read_as_unknown(entity in any_entity(), kind in "[a-z]{0,8}New") {
        let mut item = entity.item();
        item.inner_mut().insert(ENTITY_TYPE.to_owned(), AttributeValue::S(kind));
        prop_assert_eq!(serde_dynamo::from_item::<_, InCustomer>(item.clone()).expect("read"), InCustomer::Unknown);
        prop_assert_eq!(serde_dynamo::from_item::<_, InProduct>(item.clone()).expect("read"), InProduct::Unknown);
        prop_assert_eq!(serde_dynamo::from_item::<_, InOrder>(item.clone()).expect("read"), InOrder::Unknown);
        prop_assert_eq!(serde_dynamo::from_item::<_, InGiftCard>(item).expect("read"), InGiftCard::Unknown);
    }
}

/// The attributes that the entity itself has.
fn plain(entity: &AnyEntity) -> Item {
    let mut item = entity.item();
    let keys = entity.places().iter().flat_map(|place| <[&str; 2]>::from(place.index.attributes()));
    for attribute in keys.chain([ENTITY_TYPE]) {
        item.inner_mut().remove(attribute);
    }
    item
}

fn agrees<P: AccessPattern<Item = Enum>, Enum>(entity: &AnyEntity) -> Result<(), TestCaseError>
where
    Enum: DeserializeOwned + Into<Option<AnyEntity>>,
{
    let read: Enum = serde_dynamo::from_item(entity.item()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let declared = P::DECLARED.entities.contains(&entity.kind());
    prop_assert_eq!(read.into(), declared.then(|| entity.clone()), "pattern {}", P::DECLARED.number);
    Ok(())
}

// Access patterns.

/// What became of asking one pattern for one entity.
struct Asked {
    number: u8,
    kind: &'static str,
    found: bool,
    is_meant: bool,
}

/// Asks every pattern with the parts of `question` for an entity that is made of `parts`.
fn ask_all(entity: &AnyEntity, parts: &Parts, question: &Parts, range: TimeRange) -> Vec<Asked> {
    fn ask<P: AccessPattern>(entity: &AnyEntity, pattern: &P, same: bool) -> Asked {
        let (partition, range) = (pattern.partition(), pattern.range());
        let lies_within =
            |key: &Key| key.index == P::DECLARED.place.index && key.partition == partition && range.contains(&key.sort);
        Asked {
            number: P::DECLARED.number,
            kind: entity.kind(),
            found: entity.keys().iter().any(lies_within),
            is_meant: same && P::DECLARED.entities.contains(&entity.kind()),
        }
    }

    let Parts { customer, product, order, invoice, category, discount, gift_card, .. } = question;
    let is_in_time = range.contains(parts.moment());
    let (is_customer, is_product, is_order) =
        (parts.customer == *customer, parts.product == *product, parts.order == *order);
    let is_invoice = parts.invoice == *invoice;
    vec![
        ask(entity, &CustomerById { id: customer }, is_customer),
        ask(entity, &ProductById { id: product }, is_product),
        ask(entity, &OrderById { id: order }, is_order),
        ask(entity, &ProductsOfOrder { order }, is_order),
        ask(entity, &InvoiceOfOrder { order }, is_order),
        ask(entity, &OrdersOfProduct { product, placed: range }, is_product && is_in_time),
        ask(entity, &InvoiceById { id: invoice }, is_invoice),
        ask(entity, &PaymentsOfInvoice { invoice }, is_invoice),
        ask(entity, &InvoicesOfCustomer { customer, issued: range }, is_customer && is_in_time),
        ask(entity, &ProductsOfCustomer { customer, placed: range }, is_customer && is_in_time),
        ask(entity, &ProductsOfCategory { category }, parts.category == *category),
        ask(entity, &GiftCardByCode { code: gift_card }, parts.gift_card == *gift_card),
        ask(entity, &DiscountByCode { code: discount }, parts.discount == *discount),
    ]
}

fn between(from: Option<i64>, to: Option<i64>) -> TimeRange {
    let [from, to] = [from, to].map(|end| end.map(|millisecond| moment(millisecond).to_string()));
    TimeRange::parse(from.as_deref(), to.as_deref()).expect("a range")
}

#[test]
fn every_pattern_finds_an_entity_of_each_kind_it_declares_and_of_no_other() {
    let parts = sample();
    let asked =
        || parts.entities().into_iter().flat_map(|entity| ask_all(&entity, &parts, &parts, TimeRange::default()));
    let numbers: BTreeSet<_> = asked().map(|asked| asked.number).collect();
    assert_eq!(numbers, PATTERNS.iter().map(|declared| declared.number).collect(), "every pattern is asked here");

    let found: BTreeSet<_> = asked().filter(|asked| asked.found).map(|asked| (asked.number, asked.kind)).collect();
    let declared =
        PATTERNS.iter().flat_map(|declared| declared.entities.iter().map(|entity| (declared.number, *entity)));
    assert_eq!(found, declared.collect());
}

proptest! {
    #[test]
    fn a_pattern_finds_an_entity_exactly_when_it_asks_for_it(
        parts in any_parts(), other in any_parts(), take in any::<[bool; 8]>(),
        a in proptest::option::of(any_time()), b in proptest::option::of(any_time()),
    ) {
        let range = if a.zip(b).is_some_and(|(a, b)| a > b) { between(b, a) } else { between(a, b) };
        let question = parts.clone().mixed_with(other, take);
        for entity in parts.entities() {
            for asked in ask_all(&entity, &parts, &question, range) {
                prop_assert_eq!(asked.found, asked.is_meant, "pattern {}, {:?}, {:?}", asked.number, entity, question);
            }
        }
    }

    #[test]
    fn a_range_of_time_holds_its_beginning_and_not_its_end(
        parts in any_parts(), at in TIMES.start + 1..TIMES.end - 1, length in 1..86_400_000_i64,
    ) {
        let parts = Parts { at, ..parts };
        let found = |from, to| {
            let asked = parts.entities().into_iter().flat_map(|entity| ask_all(&entity, &parts, &parts, between(from, to)));
            asked.filter(|asked| asked.found && [6, 9, 10].contains(&asked.number)).count()
        };
        let (early, late) = ((at - length).max(TIMES.start), (at + length).min(TIMES.end - 1));
        prop_assert_eq!(found(Some(at), Some(late)), 3);
        prop_assert_eq!(found(Some(early), Some(at)), 0);
        prop_assert_eq!(found(Some(early), Some(at + 1)), 3);
        prop_assert_eq!(found(Some(at + 1), None), 0);
        prop_assert_eq!(found(None, Some(at)), 0);
        prop_assert_eq!(found(Some(at), Some(at)), 0);
        prop_assert_eq!(found(None, None), 3);
    }

    #[test]
    fn no_pattern_asks_for_an_empty_key(parts in any_parts()) {
        let ends = |range: TimeRange| [
            OrdersOfProduct { product: &parts.product, placed: range }.range(),
            InvoicesOfCustomer { customer: &parts.customer, issued: range }.range(),
            ProductsOfCustomer { customer: &parts.customer, placed: range }.range(),
        ];
        for range in [TimeRange::default(), between(Some(parts.at), None), between(None, Some(parts.at))] {
            for range in ends(range) {
                prop_assert!(!format!("{range:?}").contains("\"\""), "{:?}", range);
            }
        }
    }
}

// Keys among each other.

proptest! {
    #[test]
    fn different_entities_share_no_key_in_the_table_or_in_an_index(
        parts in any_parts(), other in any_parts(), take in any::<[bool; 8]>(),
    ) {
        // Often alike in all but a part or two, such as two lines of one order.
        let mut alike = parts.clone().mixed_with(other, take);
        alike.invoice = InvoiceId::of(&alike.order);
        for (a, b) in pairs(&parts, &alike) {
            let is_same = identity(&a, &parts) == identity(&b, &alike);
            prop_assert_eq!(a.keys()[0] == b.keys()[0], is_same, "{:?} and {:?}", a, b);
            if !is_same {
                prop_assert!(a.keys().iter().all(|key| !b.keys().contains(key)), "{:?} and {:?}", a, b);
            }
        }
    }

    #[test]
    fn what_is_sorted_by_time_comes_in_the_order_of_time(parts in any_parts(), other in any_parts()) {
        for (a, b) in parts.entities().iter().zip(other.entities()) {
            for ((place, ours), theirs) in a.places().iter().zip(a.keys()).zip(b.keys()) {
                if is_sorted_by_time(place.sort) && parts.at != other.at {
                    prop_assert_eq!(ours.sort.cmp(&theirs.sort), parts.at.cmp(&other.at), "{:?}", place);
                }
            }
        }
    }

    #[test]
    fn nothing_of_a_customer_lies_between_the_newest_order_and_the_profile(order in any_parts(), other in any_parts()) {
        let other = Parts { customer: order.customer.clone(), ..other };
        let of_customer = |entity: &AnyEntity| entity.keys().into_iter().find(|key| key.index == Index::Gsi2);
        let position = |kind: &str| order.entities().iter().find(|entity| entity.kind() == kind).and_then(of_customer);
        let (profile, newest) = position("customer").zip(position("order")).expect("entries in GSI2");
        prop_assert_eq!(&profile.partition, &newest.partition);
        prop_assert!(newest.sort < profile.sort);
        for entity in other.entities() {
            if let Some(key) = of_customer(&entity).filter(|_| !["customer", "order"].contains(&entity.kind())) {
                prop_assert_eq!(&key.partition, &profile.partition);
                prop_assert!(key.sort < newest.sort || profile.sort < key.sort, "{:?}", key);
            }
        }
    }
}

/// The entities of two sets of parts, each of one with each of the other.
fn pairs(parts: &Parts, other: &Parts) -> Vec<(AnyEntity, AnyEntity)> {
    let others = other.entities();
    parts.entities().into_iter().flat_map(|a| others.iter().map(move |b| (a.clone(), b.clone()))).collect()
}

/// What makes an entity the one it is.
fn identity(entity: &AnyEntity, parts: &Parts) -> (&'static str, Vec<String>) {
    let Parts { customer, product, order, discount, gift_card, email, username, .. } = parts;
    let ids: Vec<&dyn ToString> = match entity {
        AnyEntity::Customer(_) | AnyEntity::CustomerStats(_) => vec![customer],
        AnyEntity::EmailClaim(_) => return (entity.kind(), vec![email.to_string().to_lowercase()]),
        AnyEntity::UsernameClaim(_) => return (entity.kind(), vec![username.to_string().to_lowercase()]),
        AnyEntity::Product(_) | AnyEntity::Stock(_) | AnyEntity::ProductStats(_) => vec![product],
        AnyEntity::Order(_) | AnyEntity::Invoice(_) | AnyEntity::OrderFlag(_) => vec![order],
        AnyEntity::OrderItem(_) => vec![order, product],
        AnyEntity::Discount(_) => vec![discount],
        AnyEntity::GiftCard(_) => vec![gift_card],
        AnyEntity::GiftCardEntry(_) => vec![gift_card, order],
    };
    (entity.kind(), ids.into_iter().map(ToString::to_string).collect())
}

/// Whether a time is the first part of a sort key: all of them are named so.
fn is_sorted_by_time(template: &str) -> bool {
    template.split_once('{').and_then(|(_, rest)| rest.split_once('}')).is_some_and(|(name, _)| name.ends_with("At"))
}

#[test]
fn orders_lines_invoices_and_flags_are_sorted_by_time_somewhere() {
    let sorted = ENTITIES.iter().filter(|(_, places)| places.iter().any(|place| is_sorted_by_time(place.sort)));
    assert_eq!(sorted.map(|(entity, _)| *entity).collect::<Vec<_>>(), ["order", "orderItem", "invoice", "orderFlag"]);
}

/// Parts that are all different, always the same ones.
fn sample() -> Parts {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let parts = any_parts().new_tree(&mut TestRunner::deterministic()).expect("parts").current();
    Parts {
        customer: "ada".parse().expect("an id"),
        product: "teapot".parse().expect("an id"),
        order: "first".parse().expect("an id"),
        ..parts
    }
}

#[test]
fn only_the_table_is_read_strongly() {
    for declared in PATTERNS {
        assert!(
            declared.consistency == super::Consistency::Eventual || declared.place.index == Index::Table,
            "{}: an index offers eventual reads only",
            declared.question
        );
    }
}
