//! Cursors of the lists of the shop.

use crate::cursor::{open, seal};
use crate::layout::{INVOICES_OF_CUSTOMER, ORDER_BY_ID, PRODUCTS_OF_CUSTOMER, PRODUCTS_OF_ORDER};
use crate::value::{CustomerId, OrderId, TimeRange};
use proptest::prelude::*;

fn customer(id: &str) -> CustomerId {
    id.parse().expect("an id")
}

fn range(from: &str, to: &str) -> TimeRange {
    TimeRange::parse(Some(from), Some(to)).expect("a range")
}

/// A position among invoices of the year 2026.
fn any_position() -> impl Strategy<Value = String> {
    (1..=12_u8, "[A-Za-z0-9_-]{1,64}").prop_map(|(month, id)| format!("i#2026-{month:02}-21T09:30:00.000Z#{id}"))
}

proptest! {
    #[test]
    fn an_opened_cursor_holds_the_position_it_was_sealed_with(position in any_position()) {
        let ada = customer("ada");
        for issued in [TimeRange::default(), range("2026-01-01", "2027-01-01")] {
            let pattern = INVOICES_OF_CUSTOMER.ask((&ada, &issued));
            prop_assert_eq!(open(&pattern, &seal(&pattern, &position)), Ok(position.clone()));
        }
    }

    #[test]
    fn a_cursor_with_another_character_is_refused(
        position in any_position(), at in any::<prop::sample::Index>(), other in "[A-Za-z0-9_-]",
    ) {
        let ada = customer("ada");
        let pattern = INVOICES_OF_CUSTOMER.ask((&ada, &TimeRange::default()));
        let mut cursor = seal(&pattern, &position);
        let at = at.index(cursor.len());
        prop_assume!(cursor[at..=at] != other);
        cursor.replace_range(at..=at, &other);
        prop_assert!(open(&pattern, &cursor).is_err());
    }

    #[test]
    fn a_cursor_of_another_list_is_refused(position in any_position(), id in "[A-Za-z0-9_-]{1,8}") {
        let (ada, other) = (customer("ada"), customer(&id));
        prop_assume!(ada != other);
        let invoices = |customer| INVOICES_OF_CUSTOMER.ask((customer, &TimeRange::default()));
        let products = PRODUCTS_OF_CUSTOMER.ask((&ada, &TimeRange::default()));
        let cursor = seal(&invoices(&ada), &position);
        prop_assert!(open(&invoices(&other), &cursor).is_err());
        prop_assert!(open(&products, &cursor).is_err());
        prop_assert!(open(&products, &seal(&products, &position)).is_err(), "the position is not in the products' range");
    }

    #[test]
    fn any_text_is_a_position_of_the_list_or_an_error(cursor in any::<String>(), position in any::<String>()) {
        let (ada, order) = (customer("ada"), "first".parse::<OrderId>().expect("an id"));
        let pattern = INVOICES_OF_CUSTOMER.ask((&ada, &TimeRange::default()));
        prop_assert!(open(&pattern, &cursor).is_err());
        // The checksum is not a secret, so a client can forge any cursor.
        let whole = ORDER_BY_ID.ask(&order);
        if let Ok(opened) = open(&whole, &seal(&whole, &position)) {
            prop_assert!(opened == position && !whole.rest(Some(&position)).is_empty());
        }
    }
}

#[test]
fn a_cursor_of_another_pattern_over_the_same_partition_is_refused() {
    let order = "first".parse().expect("an id");
    let cursor = seal(&ORDER_BY_ID.ask(&order), "p#teapot");
    assert!(open(&ORDER_BY_ID.ask(&order), &cursor).is_ok());
    assert!(open(&PRODUCTS_OF_ORDER.ask(&order), &cursor).is_err());
}

#[test]
fn a_position_outside_the_range_is_refused() {
    let ada = customer("ada");
    let january = INVOICES_OF_CUSTOMER.ask((&ada, &range("2026-01-01", "2026-02-01")));
    let opens = |position: &str| open(&january, &seal(&january, position)).is_ok();
    assert!(opens("i#2026-01-31T23:59:59.999Z#a"));
    for position in
        ["", "i#", "i#2025-12-31T23:59:59.999Z#a", "i#2026-02-01T00:00:00.000Z#a", "p#2026-01-31T00:00:00.000Z#a"]
    {
        assert!(!opens(position), "{position}");
    }
}

#[test]
fn a_forged_position_that_dynamodb_would_refuse_is_refused_here() {
    let ada = customer("ada");
    let january = INVOICES_OF_CUSTOMER.ask((&ada, &range("2026-01-01", "2026-02-01")));
    let opens = |position: &str| open(&january, &seal(&january, position)).is_ok();
    assert!(!opens("i#2026-02-01T00:00:00.000Z#"), "nothing follows the end of the range");
    let long = |bytes: usize| format!("{:a<bytes$}", "i#2026-01-02#");
    assert!(opens(&long(1007)));
    assert!(!opens(&long(1008)), "the next page's first key would be too long");
    assert!(!opens("i#2026-01-02#é"), "keys are ASCII");
}
