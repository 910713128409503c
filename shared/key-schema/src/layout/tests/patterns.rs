//! The access patterns: their declarations, and that each one finds exactly its entities.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use proptest::prelude::*;

use super::parts::{Parts, Take, any_parts, between, sample};
use super::strategies::{TIMES, any_time};
use crate::entity::{DayTotals, StockCell, ViewShard};
use crate::layout::{
    ADDRESSES_OF_CUSTOMER, Bound, CART_OF_CUSTOMER, CATEGORIES, CELLS_OF_STOCK, CUSTOMER_BY_EMAIL, CUSTOMER_BY_ID,
    CUSTOMER_BY_USERNAME, Consistency, DISCOUNT_BY_CODE, Declaration, ENTITIES, FLAGGED_ORDERS, GIFT_CARD_BY_CODE,
    IMPORTED_INVOICE_BY_ID, INVOICE_BY_ID, INVOICE_OF_ORDER, INVOICES_OF_CUSTOMER, Index, Item, Key, Layout,
    OPEN_RETURNS, ORDER_BY_ID, ORDERS_OF_CUSTOMER, ORDERS_OF_PRODUCT, ORDERS_OF_STATUS, PATTERNS, PAYMENTS_DUE,
    PAYMENTS_OF_INVOICE, PRODUCT_BY_ID, PRODUCTS_OF_CATEGORY, PRODUCTS_OF_CUSTOMER, PRODUCTS_OF_ORDER,
    PRODUCTS_OF_SHOP, PROFILE_AND_ORDERS, PlaceText, Query, RATES_OF_SHOP, SortRange, TAXES_OF_SHOP, TOTALS_OF_DAYS,
    VARIANTS_OF_PRODUCT, VIEWS_OF_PRODUCT,
};
use crate::value::{Day, Days, TimeRange};

// Declarations.

#[test]
fn the_patterns_are_numbered_in_their_order() {
    let mut numbers: Vec<_> = PATTERNS.iter().map(|declared| declared.number).collect();
    numbers.dedup();
    // 27 and 31 are patterns of the functions' own work.
    assert_eq!(numbers, (1..=26).chain(28..=30).chain([32]).collect::<Vec<_>>());
}

#[test]
fn no_question_is_declared_twice() {
    let questions: BTreeSet<_> = PATTERNS.iter().map(|declared| declared.question).collect();
    assert_eq!(questions.len(), PATTERNS.len());
}

#[test]
fn every_pattern_reads_a_place_of_each_of_its_entities() {
    for declared in PATTERNS {
        let Declaration { question, place, entities, .. } = *declared;
        let first = place_in(place.index, entities[0]);
        assert_eq!(first.partition, place.partition, "{question}");
        assert!([first.sort, ""].contains(&place.sort), "{question}");
        for entity in entities {
            let other = place_in(place.index, entity);
            // A batch reads each of its keys in a partition of its own.
            let is_in_reach = other.partition == place.partition && other.sort.starts_with(literal(place.sort));
            assert!(is_in_reach || is_batch(declared), "{question}: {entity}");
        }
    }
}

fn place_in(index: Index, entity: &str) -> PlaceText {
    let places = ENTITIES.iter().find(|(other, _)| *other == entity).map(|(_, places)| *places);
    let place = places.and_then(|places| places.iter().find(|place| place.index == index));
    *place.expect("an entry in the index")
}

/// The part of a template before the first placeholder.
fn literal(template: &str) -> &str {
    template.split('{').next().unwrap_or_default()
}

fn is_batch(declared: &Declaration) -> bool {
    [VIEWS_OF_PRODUCT, TOTALS_OF_DAYS, CELLS_OF_STOCK].iter().any(|batch| batch.number == declared.number)
}

#[test]
fn only_reads_of_the_table_are_strongly_consistent() {
    for declared in PATTERNS {
        assert!(
            declared.consistency == Consistency::Eventual || declared.place.index == Index::Table,
            "{}: reads of an index are eventually consistent",
            declared.question
        );
    }
}

#[test]
fn a_pattern_of_one_item_reads_one_kind() {
    for declared in PATTERNS.iter().filter(|declared| declared.bound == Bound::One) {
        assert_eq!(declared.entities.len(), 1, "{}", declared.question);
    }
}

// Answers.

struct Match {
    declared: Declaration,
    /// The sort keys of the pattern; none for a batch.
    range: Option<SortRange>,
    kind: &'static str,
    is_found: bool,
    is_expected: bool,
}

/// Matches every pattern, with the parts of `question`, against an entity made of `parts`.
fn ask_all(entity: &Item, parts: &Parts, question: &Parts, range: TimeRange) -> Vec<Match> {
    fn ask<T>(entity: &Item, query: &Query<T>, same: bool) -> Match {
        let Query { declared, partition, range, .. } = query;
        let index = declared.place.index;
        let is_read = |key: &Key| {
            let is_read = key.index == index && key.partition == *partition && range.contains(&key.sort);
            for layout in Layout::ALL {
                let (key, range) = (layout.key(key.clone()), layout.range(index, partition, range.clone()));
                let is_in_partition = key.index == index && key.partition == layout.partition(index, partition.clone());
                assert_eq!(is_in_partition && range.contains(&key.sort), is_read, "{layout}: {key:?}");
            }
            is_read
        };
        Match {
            declared: *declared,
            kind: entity.kind(),
            is_found: entity.keys().iter().any(is_read),
            is_expected: same && declared.entities.contains(&entity.kind()),
            range: Some(range.clone()),
        }
    }

    let Parts { customer, product, order, invoice, category, discount, gift_card, email, username, .. } = question;
    let (status, shard) = (question.status, question.shard);
    let is_in_time = range.contains(parts.moment());
    let (is_customer, is_product, is_order) =
        (parts.customer == *customer, parts.product == *product, parts.order == *order);
    let is_invoice = parts.invoice == *invoice;
    let days = days_from(question.moment().day());
    let is_in_shard = parts.status == status && parts.shard == shard;
    let is_line_in_shard = is_product && parts.shard == shard;
    let is_email = parts.email.to_string().to_lowercase() == email.to_string().to_lowercase();
    let is_username = parts.username.to_string().to_lowercase() == username.to_string().to_lowercase();
    let cells = question.cells();
    let is_counted = !matches!(entity, Item::ViewShard(part) if part.shard >= question.shards);
    let is_there = !matches!(entity, Item::StockCell(cell) if !(1..cells.get()).contains(&cell.cell));
    let is_unnumbered = matches!(entity, Item::Invoice(invoice) if invoice.unnumbered.is_some());
    vec![
        ask(entity, &CUSTOMER_BY_ID.ask(customer), is_customer),
        ask(entity, &PRODUCT_BY_ID.ask(product), is_product),
        ask(entity, &ORDER_BY_ID.ask(order), is_order),
        ask(entity, &PRODUCTS_OF_ORDER.ask(order), is_order),
        ask(entity, &INVOICE_OF_ORDER.ask(order), is_order),
        ask(entity, &ORDERS_OF_PRODUCT.ask((product, &shard, &range)), is_line_in_shard && is_in_time),
        ask(entity, &INVOICE_BY_ID.ask((order, invoice)), is_order && is_invoice),
        ask(entity, &IMPORTED_INVOICE_BY_ID.ask(invoice), is_invoice && !is_unnumbered),
        ask(entity, &PAYMENTS_OF_INVOICE.ask((order, invoice)), is_order && is_invoice),
        ask(entity, &INVOICES_OF_CUSTOMER.ask((customer, &range)), is_customer && is_in_time),
        ask(entity, &PRODUCTS_OF_CUSTOMER.ask((customer, &range)), is_customer && is_in_time),
        ask(entity, &ORDERS_OF_CUSTOMER.ask((customer, &range)), is_customer && is_in_time),
        ask(entity, &PROFILE_AND_ORDERS.ask(customer), is_customer),
        ask(entity, &CUSTOMER_BY_EMAIL.ask(email), is_email),
        ask(entity, &CUSTOMER_BY_USERNAME.ask(username), is_username),
        ask(entity, &PRODUCTS_OF_CATEGORY.ask(category), parts.category == *category),
        ask(entity, &VARIANTS_OF_PRODUCT.ask(product), is_product),
        ask(entity, &ORDERS_OF_STATUS.ask((&status, &shard, &range)), is_in_shard && is_in_time),
        ask(entity, &FLAGGED_ORDERS.ask(()), true),
        ask_batch(entity, VIEWS_OF_PRODUCT, &ViewShard::keys_of(product, question.shards), is_product && is_counted),
        ask(entity, &CART_OF_CUSTOMER.ask(customer), is_customer),
        ask(entity, &GIFT_CARD_BY_CODE.ask(gift_card), parts.gift_card == *gift_card),
        ask(entity, &DISCOUNT_BY_CODE.ask(discount), parts.discount == *discount),
        ask_batch(
            entity,
            TOTALS_OF_DAYS,
            &DayTotals::keys_of(days),
            days.each().any(|day| day == parts.moment().day()),
        ),
        ask(entity, &PAYMENTS_DUE.ask((&shard, &range)), parts.shard == shard && is_in_time),
        ask(entity, &OPEN_RETURNS.ask(&shard), parts.shard == shard),
        ask(entity, &CATEGORIES.ask(()), true),
        ask(entity, &PRODUCTS_OF_SHOP.ask(()), true),
        ask(entity, &ADDRESSES_OF_CUSTOMER.ask(customer), is_customer),
        ask(entity, &RATES_OF_SHOP.ask(()), true),
        ask(entity, &TAXES_OF_SHOP.ask(()), true),
        ask_batch(entity, CELLS_OF_STOCK, &StockCell::keys_of(product, cells), is_product && is_there),
    ]
}

fn ask_batch(entity: &Item, declared: Declaration, keys: &[Key], same: bool) -> Match {
    Match {
        declared,
        kind: entity.kind(),
        is_found: entity.keys().iter().any(|key| keys.contains(key)),
        is_expected: same && declared.entities.contains(&entity.kind()),
        range: None,
    }
}

/// This day and the next one; only this day if it is the last possible one.
fn days_from(day: Day) -> Days {
    let next =
        jiff::civil::Date::from_str(&day.to_string()).and_then(|date| date.checked_add(jiff::Span::new().days(2)));
    let end = next.map_or("9999-12-31".to_owned(), |next| next.to_string());
    Days::new(day, end.parse().expect("a day")).expect("a range")
}

#[test]
fn every_pattern_finds_an_entity_of_exactly_the_kinds_that_it_declares() {
    let parts = sample();
    let asked =
        || parts.entities().into_iter().flat_map(|entity| ask_all(&entity, &parts, &parts, TimeRange::default()));
    let questions: BTreeSet<_> = asked().map(|asked| asked.declared.question).collect();
    let all = PATTERNS.iter().map(|declared| declared.question);
    assert_eq!(questions, all.collect(), "`ask_all` has every pattern");

    let found = asked().filter(|asked| asked.is_found).map(|asked| (asked.declared.question, asked.kind));
    let declared =
        PATTERNS.iter().flat_map(|declared| declared.entities.iter().map(|entity| (declared.question, *entity)));
    assert_eq!(found.collect::<BTreeSet<_>>(), declared.collect());
}

const IN_TIME: [u8; 5] = [6, 9, 10, 11, 15];

proptest! {
    #[test]
    fn a_pattern_finds_an_entity_exactly_if_its_parameters_match(
        parts in any_parts(), other in any_parts(), take in any::<Take>(),
        a in proptest::option::of(any_time()), b in proptest::option::of(any_time()),
    ) {
        let range = if a.zip(b).is_some_and(|(a, b)| a > b) { between(b, a) } else { between(a, b) };
        let question = parts.clone().mixed_with(other, take);
        for entity in parts.entities() {
            for Match { declared, is_found, is_expected, .. } in ask_all(&entity, &parts, &question, range) {
                prop_assert_eq!(is_found, is_expected, "{}: {:?}, {:?}", declared.question, entity, question);
            }
        }
    }

    #[test]
    fn a_range_of_time_includes_its_beginning_but_not_its_end(
        parts in any_parts(), at in TIMES.start + 1..TIMES.end - 1, length in 1..86_400_000_i64,
    ) {
        let parts = Parts { at, ..parts };
        let entities = parts.entities();
        let found = |from, to| {
            let asked = entities.iter().flat_map(|entity| ask_all(entity, &parts, &parts, between(from, to)));
            asked.filter(|asked| asked.is_found && IN_TIME.contains(&asked.declared.number)).count()
        };
        let (early, late) = ((at - length).max(TIMES.start), (at + length).min(TIMES.end - 1));
        prop_assert_eq!(found(Some(at), Some(late)), IN_TIME.len());
        prop_assert_eq!(found(Some(early), Some(at)), 0);
        prop_assert_eq!(found(Some(early), Some(at + 1)), IN_TIME.len());
        prop_assert_eq!(found(Some(at + 1), None), 0);
        prop_assert_eq!(found(None, Some(at)), 0);
        prop_assert_eq!(found(Some(at), Some(at)), 0);
        prop_assert_eq!(found(None, None), IN_TIME.len());
    }

    #[test]
    fn no_pattern_reads_an_empty_key(parts in any_parts()) {
        for range in [TimeRange::default(), between(Some(parts.at), None), between(None, Some(parts.at))] {
            for Match { declared, range, .. } in ask_all(&parts.entities()[0], &parts, &parts, range) {
                prop_assert!(!format!("{range:?}").contains("\"\""), "{}: {:?}", declared.question, range);
            }
        }
    }
}

#[test]
fn an_unbounded_range_of_time_contains_only_keys_with_a_time() {
    let (customer, since) = ("ada".parse().expect("an id"), between(Some(TIMES.start), None));
    for range in [&TimeRange::default(), &since] {
        let orders = ORDERS_OF_CUSTOMER.ask((&customer, range)).range;
        assert!(orders.contains("o#2026-11-21T09:30:00.000Z#first"));
        assert!(!orders.contains("o#~"), "the profile");
        assert!(!orders.contains("p#2026-11-21T09:30:00.000Z#first#teapot"), "a line");
    }
}
