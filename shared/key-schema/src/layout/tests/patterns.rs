//! The access patterns: their declarations, and that each one finds exactly its entities.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use proptest::prelude::*;

use super::parts::{Parts, Take, any_parts, between, sample};
use super::strategies::{TIMES, any_time};
use crate::layout::{
    AccessPattern, AddressesOfCustomer, Bound, CartOfCustomer, Categories, CellsOfStock, Consistency, CustomerByEmail,
    CustomerById, CustomerByUsername, Declaration, DiscountByCode, ENTITIES, FlaggedOrders, GiftCardByCode,
    ImportedInvoiceById, Index, InvoiceById, InvoiceOfOrder, InvoicesOfCustomer, Item, Key, Layout, OpenReturns,
    OrderById, OrdersOfCustomer, OrdersOfProduct, OrdersOfStatus, PATTERNS, PaymentsDue, PaymentsOfInvoice, PlaceText,
    ProductById, ProductsOfCategory, ProductsOfCustomer, ProductsOfOrder, ProductsOfShop, ProfileAndOrders,
    RatesOfShop, SortRange, TaxesOfShop, TotalsOfDays, VariantsOfProduct, ViewsOfProduct,
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
    [ViewsOfProduct::DECLARED, TotalsOfDays::DECLARED, CellsOfStock::DECLARED]
        .iter()
        .any(|batch| batch.number == declared.number)
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

/// The result of matching one pattern against one entity.
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
    fn ask<P: AccessPattern>(entity: &Item, pattern: &P, same: bool) -> Match {
        let (declared, partition, range) = (P::DECLARED, pattern.partition(), pattern.range());
        let index = declared.place.index;
        let is_read = |key: &Key| {
            let is_read = key.index == index && key.partition == partition && range.contains(&key.sort);
            for layout in Layout::ALL {
                let (key, range) = (layout.key(key.clone()), layout.range(index, &partition, range.clone()));
                let is_in_partition = key.index == index && key.partition == layout.partition(index, partition.clone());
                assert_eq!(is_in_partition && range.contains(&key.sort), is_read, "{layout}: {key:?}");
            }
            is_read
        };
        Match {
            declared,
            kind: entity.kind(),
            is_found: entity.keys().iter().any(is_read),
            is_expected: same && declared.entities.contains(&entity.kind()),
            range: Some(range),
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
    let is_unnumbered = matches!(entity, Item::Invoice(invoice) if invoice.unnumbered.is_some());
    vec![
        ask(entity, &CustomerById { id: customer }, is_customer),
        ask(entity, &ProductById { id: product }, is_product),
        ask(entity, &OrderById { id: order }, is_order),
        ask(entity, &ProductsOfOrder { order }, is_order),
        ask(entity, &InvoiceOfOrder { order }, is_order),
        ask(entity, &OrdersOfProduct { product, shard, placed: &range }, is_line_in_shard && is_in_time),
        ask(entity, &InvoiceById { order, id: invoice }, is_order && is_invoice),
        ask(entity, &ImportedInvoiceById { id: invoice }, is_invoice && !is_unnumbered),
        ask(entity, &PaymentsOfInvoice { order, invoice }, is_order && is_invoice),
        ask(entity, &InvoicesOfCustomer { customer, issued: range }, is_customer && is_in_time),
        ask(entity, &ProductsOfCustomer { customer, placed: range }, is_customer && is_in_time),
        ask(entity, &OrdersOfCustomer { customer, placed: range }, is_customer && is_in_time),
        ask(entity, &ProfileAndOrders { customer }, is_customer),
        ask(entity, &CustomerByEmail { email }, is_email),
        ask(entity, &CustomerByUsername { username }, is_username),
        ask(entity, &ProductsOfCategory { category }, parts.category == *category),
        ask(entity, &VariantsOfProduct { product }, is_product),
        ask(entity, &OrdersOfStatus { status, shard, placed: &range }, is_in_shard && is_in_time),
        ask(entity, &FlaggedOrders, true),
        ask_views(entity, &ViewsOfProduct { product, shards: question.shards }, is_product),
        ask(entity, &CartOfCustomer { customer }, is_customer),
        ask(entity, &GiftCardByCode { code: gift_card }, parts.gift_card == *gift_card),
        ask(entity, &DiscountByCode { code: discount }, parts.discount == *discount),
        ask_totals(entity, &TotalsOfDays { days }, days.each().any(|day| day == parts.moment().day())),
        ask(entity, &PaymentsDue { shard, since: &range }, parts.shard == shard && is_in_time),
        ask(entity, &OpenReturns { shard }, parts.shard == shard),
        ask(entity, &Categories, true),
        ask(entity, &ProductsOfShop, true),
        ask(entity, &AddressesOfCustomer { customer }, is_customer),
        ask(entity, &RatesOfShop, true),
        ask(entity, &TaxesOfShop, true),
        ask_cells(entity, &CellsOfStock { product, cells: question.cells() }, is_product),
    ]
}

fn ask_views(entity: &Item, pattern: &ViewsOfProduct<'_>, same: bool) -> Match {
    let is_counted = !matches!(entity, Item::ViewShard(part) if part.shard >= pattern.shards);
    ask_batch(entity, ViewsOfProduct::DECLARED, &pattern.keys(), same && is_counted)
}

fn ask_totals(entity: &Item, pattern: &TotalsOfDays, same: bool) -> Match {
    ask_batch(entity, TotalsOfDays::DECLARED, &pattern.keys(), same)
}

fn ask_cells(entity: &Item, pattern: &CellsOfStock<'_>, same: bool) -> Match {
    let is_there = !matches!(entity, Item::StockCell(cell) if !(1..pattern.cells.get()).contains(&cell.cell));
    ask_batch(entity, CellsOfStock::DECLARED, &pattern.keys(), same && is_there)
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

/// The patterns that take a range of time.
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
