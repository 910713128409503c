//! The invariants hold in every state of these shops, and each known bug is found.

#![allow(clippy::print_stdout, reason = "the figures of docs/models.md")]

use std::time::Instant;

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::shops::{
    again, cards, cells, code, copies, copies_of, expiry, gather, payment, queue, resale, shipment, throttle,
};
use super::{Bug, Shop};

fn explore(shop: Shop) {
    let (name, begin) = (shop.name, Instant::now());
    let checker = shop.checker().threads(2).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{name}: {states} states, depth {depth}, {:.1} s", begin.elapsed().as_secs_f64());
    checker.assert_properties();
}

#[test]
fn copies_of_a_request_place_one_order() {
    explore(copies());
}

#[test]
fn units_in_cells_are_sold_once() {
    explore(cells());
}

#[test]
fn units_are_gathered_from_cells_for_one_order() {
    explore(gather());
}

#[test]
fn queued_orders_are_placed_once_or_refused_for_good() {
    explore(queue());
}

#[test]
fn an_order_that_is_requested_again_is_placed_once_or_refused_for_good() {
    explore(again());
}

#[test]
fn an_order_without_capacity_is_queued_and_placed_once() {
    explore(throttle());
}

#[test]
fn gift_cards_are_never_charged_more_than_their_balance() {
    explore(cards());
}

#[test]
fn a_payment_is_captured_void_or_due_for_refund() {
    explore(payment());
}

#[test]
fn an_unpaid_order_expires_and_a_late_payment_is_due_for_refund() {
    explore(expiry());
}

#[test]
fn an_order_is_shipped_or_cancelled() {
    explore(shipment());
}

#[test]
fn units_that_a_cancellation_returns_can_be_sold_again() {
    explore(resale());
}

#[test]
fn a_limited_code_is_never_used_too_often() {
    explore(code());
}

#[test]
fn every_known_bug_is_found() {
    let supplied = "stock and sold units are the units supplied";
    let arrives = "no refusal while a transaction of the same request may still take effect";
    let invariants = [
        (copies_of(4), Bug::HeaderIsOverwritten, supplied),
        (copies(), Bug::StockIsNotChecked, "no stock and no gift card is below zero"),
        (cards(), Bug::CardIsNotChecked, "no stock and no gift card is below zero"),
        (code(), Bug::UsesAreNotChecked, "the uses of a limited code are the number of its orders"),
        (code(), Bug::VersionIsNotChecked, supplied),
        (gather(), Bug::OneReadIsBelieved, "no request is refused for lack of available units"),
        (queue(), Bug::RefusalIsForgotten, "if every request was refused, there is no order"),
        (queue(), Bug::RefusalIsUnchecked, "if every request was refused, there is no order"),
        (again(), Bug::StaleIsVoid, "a queued order has a message that is still delivered"),
        (copies(), Bug::RefusalIsNotSettled, arrives),
        (copies(), Bug::UnansweredIsCancelled, arrives),
        (shipment(), Bug::VersionIsNotChecked, supplied),
        (shipment(), Bug::VersionIsNotChecked, "a reported change exists"),
        (payment(), Bug::NothingIsChecked, "no captured payment is void"),
        (payment(), Bug::PutBackIsApart, supplied),
        (payment(), Bug::CancellationIsOverlooked, supplied),
        (payment(), Bug::CancellationIsOverlooked, "a reported change exists"),
        (payment(), Bug::TornReadIsBelieved, "no report of a recorded payment is refused"),
    ];
    for (shop, bug, invariant) in invariants {
        let begin = Instant::now();
        let found = HasDiscoveries::AnyOf([invariant].into());
        let checker = shop.with(bug).checker().threads(2).finish_when(found).spawn_bfs().join();
        println!("{bug:?}: {} states, {:.1} s", checker.unique_state_count(), begin.elapsed().as_secs_f64());
        assert!(checker.discovery(invariant).is_some(), "{bug:?} does not break \"{invariant}\"");
    }
}
