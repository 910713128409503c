//! Cases of returns: the period for withdrawal, repeated requests and receipts, and units that are left.

use key_schema::entity::{LineUnits, Order, Shortfall};
use key_schema::value::{ReturnId, Timestamp};

use super::super::*;
use super::{FORTNIGHT, at, sold};

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn to(step: Step) -> WholeOrder {
    if let Step::To(next) = step { *next } else { panic!("no change: {step:?}") }
}

fn units(product: &str, units: i64) -> LineUnits {
    LineUnits { product_id: product.parse().expect("an id"), quantity: units.try_into().expect("a quantity") }
}

/// A delivered order of three p0 and one p1, paid by gift card.
fn delivered() -> WholeOrder {
    let placed = sold(&[(3, 100), (1, 50)], 350, &[350]);
    let shipped = to(advance(&placed, OrderStatus::Shipped, false, at(1)));
    to(advance(&shipped, OrderStatus::Delivered, false, time("2026-11-22T23:30:00Z")))
}

fn id(key: &str) -> ReturnId {
    ReturnId::of(&delivered().order.order_id, &key.parse().expect("a key"))
}

fn ask(whole: &WholeOrder, key: &str, lines: &[LineUnits], now: &str) -> Step {
    let request = ReturnRequest { id: &id(key), lines, reason: None, within: Some(&FORTNIGHT) };
    request_return(whole, request, time(now))
}

fn receive(whole: &WholeOrder, key: &str, verdict: ReturnVerdict<'_>) -> Step {
    receive_return(whole, Receipt { id: &id(key), verdict }, time("2026-12-24T00:00:00Z"))
}

const ACCEPT: ReturnVerdict<'static> = ReturnVerdict::Accept { restock: true, with_shipping: true };

#[test]
fn a_customer_may_withdraw_until_the_end_of_the_last_day_and_staff_at_any_time() {
    let whole = delivered();
    let last_day = "2026-12-06".parse().expect("a day");
    assert!(matches!(ask(&whole, "k", &[units("p0", 1)], "2026-12-06T23:59:59.999Z"), Step::To(_)));
    let late = ask(&whole, "k", &[units("p0", 1)], "2026-12-07T00:00:00Z");
    assert_eq!(late, Step::Deny(Denial::TooLate { last_day }));
    let lines = [units("p0", 1)];
    let by_staff = ReturnRequest { id: &id("k"), lines: &lines, reason: None, within: None };
    assert!(matches!(request_return(&whole, by_staff, time("2027-11-22T00:00:00Z")), Step::To(_)));
}

/// Delivered at 00:30 in Berlin, an order has the whole of its last day there, however long the days in between are.
#[test]
fn days_end_at_midnight_of_the_shop() {
    let placed = sold(&[(3, 100), (1, 50)], 350, &[350]);
    let shipped = to(advance(&placed, OrderStatus::Shipped, false, at(1)));
    let within = Withdrawal { days: 14, zone: "Europe/Berlin".parse().expect("a zone") };
    let lines = [units("p0", 1)];
    for (delivered, last_moment, last_day) in [
        ("2027-01-09T23:30:00Z", "2027-01-24T22:59:59.999Z", "2027-01-24"),
        // Clocks go forward on 28 March, and back on 31 October.
        ("2027-03-19T23:30:00Z", "2027-04-03T21:59:59.999Z", "2027-04-03"),
        ("2027-10-19T22:30:00Z", "2027-11-03T22:59:59.999Z", "2027-11-03"),
    ] {
        let whole = to(advance(&shipped, OrderStatus::Delivered, false, time(delivered)));
        let id = ReturnId::of(&whole.order.order_id, &"k".parse().expect("a key"));
        let request = ReturnRequest { id: &id, lines: &lines, reason: None, within: Some(&within) };
        assert!(matches!(request_return(&whole, request, time(last_moment)), Step::To(_)), "{delivered}");
        let last_day = last_day.parse().expect("a day");
        let late = request_return(&whole, request, time(last_moment).plus_seconds(1));
        assert_eq!(late, Step::Deny(Denial::TooLate { last_day }), "{delivered}");
    }
}

#[test]
fn only_a_delivered_order_is_returned() {
    let placed = sold(&[(3, 100), (1, 50)], 350, &[350]);
    let shipped = to(advance(&placed, OrderStatus::Shipped, false, at(1)));
    for whole in [placed, shipped] {
        assert_eq!(ask(&whole, "k", &[units("p0", 1)], "2026-11-23"), Step::Refuse);
    }
}

#[test]
fn a_repeated_request_finds_its_own_return() {
    let asked = to(ask(&delivered(), "k", &[units("p0", 3)], "2026-11-23"));
    assert_eq!(asked.returns.len(), 1);
    assert_eq!(ask(&asked, "k", &[units("p0", 3)], "2026-11-24"), Step::Stay);
    assert_eq!(ask(&asked, "k", &[units("p0", 2)], "2026-11-24"), Step::Deny(Denial::KeyReused));
    // Also after the return was received, and after the last day.
    let received = to(receive(&asked, "k", ACCEPT));
    assert_eq!(ask(&received, "k", &[units("p0", 3)], "2026-12-24"), Step::Stay);
}

#[test]
fn units_in_an_open_return_cannot_be_returned_again_until_it_is_refused() {
    let few = |product: &str, left| {
        Step::Deny(Denial::TooFewUnits(Shortfall { product_id: product.parse().expect("an id"), left }))
    };
    let asked = to(ask(&delivered(), "k", &[units("p0", 2)], "2026-11-23"));
    assert_eq!(ask(&asked, "l", &[units("p0", 2)], "2026-11-23"), few("p0", 1));
    assert_eq!(ask(&asked, "l", &[units("tea", 1)], "2026-11-23"), few("tea", 0));
    let refused = to(receive(&asked, "k", ReturnVerdict::Refuse { reason: "used" }));
    assert_eq!((refused.order.credited(), refused.order.returning.len()), (0, 0));
    assert!(matches!(ask(&refused, "l", &[units("p0", 3)], "2026-11-23"), Step::To(_)));
    let received = to(receive(&asked, "k", ACCEPT));
    assert_eq!(ask(&received, "l", &[units("p0", 2)], "2026-11-23"), few("p0", 1));
}

#[test]
fn a_return_is_received_once() {
    let asked = to(ask(&delivered(), "k", &[units("p0", 2)], "2026-11-23"));
    let received = to(receive(&asked, "k", ACCEPT));
    assert_eq!(received.returns[0].amount.map(Money::amount), Some(200));
    assert_eq!(receive(&received, "k", ACCEPT), Step::Stay);
    let denied = Step::Deny(Denial::Closed(ReturnStatus::Received));
    assert_eq!(receive(&received, "k", ReturnVerdict::Accept { restock: false, with_shipping: true }), denied);
    assert_eq!(receive(&received, "k", ReturnVerdict::Refuse { reason: "used" }), denied);
    let refused = to(receive(&asked, "k", ReturnVerdict::Refuse { reason: "used" }));
    assert_eq!(receive(&refused, "k", ReturnVerdict::Refuse { reason: "used" }), Step::Stay);
    assert_eq!(receive(&refused, "k", ACCEPT), Step::Deny(Denial::Closed(ReturnStatus::Refused)));
    assert_eq!(receive(&refused, "l", ACCEPT), Step::Deny(Denial::UnknownReturn));
}

/// Units that came back are credited, and were not cancelled.
#[test]
fn units_that_came_back_cannot_be_cancelled() {
    let open = to(ask(&delivered(), "k", &[units("p0", 2)], "2026-11-23"));
    let received = to(receive(&open, "k", ACCEPT));
    let by = Cancel { cause: CancellationCause::Staff, reason: None };
    assert_eq!(cancel_units(&received, &[units("p0", 1)], by, at(9)), Step::Refuse);
}

#[test]
fn an_order_has_a_limited_number_of_returns() {
    let mut whole = delivered();
    for number in 0..Order::MOST_RETURNS {
        let key = number.to_string();
        whole = to(ask(&whole, &key, &[units("p0", 1)], "2026-11-23"));
        whole = to(receive(&whole, &key, ReturnVerdict::Refuse { reason: "used" }));
    }
    assert_eq!(ask(&whole, "one more", &[units("p0", 1)], "2026-11-23"), Step::Deny(Denial::TooManyReturns));
}
