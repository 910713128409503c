//! The invariants hold in every state of these shops, and each known bug is found.

#![allow(clippy::print_stdout, reason = "the figures of docs/models.md")]

use std::time::Instant;

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::Bug;
use super::shops::{again, cards, code, copies, copies_of, gather, payment, queue, shipment, small};

#[test]
fn the_invariants_hold_in_every_state_of_every_shop() {
    for shop in small() {
        let (name, begin) = (shop.name, Instant::now());
        let checker = shop.checker().threads(2).spawn_bfs().join();
        let (states, depth) = (checker.unique_state_count(), checker.max_depth());
        println!("{name}: {states} states, depth {depth}, {:.1} s", begin.elapsed().as_secs_f64());
        checker.assert_properties();
    }
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
        (payment(), Bug::NothingIsChecked, "every order is complete and adds up"),
        (payment(), Bug::PutBackIsApart, supplied),
        (payment(), Bug::CancellationIsOverlooked, supplied),
        (payment(), Bug::CancellationIsOverlooked, "a reported change exists"),
        (payment(), Bug::TornReadIsBelieved, "at most one request is answered that it changed the status"),
    ];
    for (shop, bug, invariant) in invariants {
        let begin = Instant::now();
        let found = HasDiscoveries::AnyOf([invariant].into());
        let checker = shop.with(bug).checker().threads(2).finish_when(found).spawn_bfs().join();
        println!("{bug:?}: {} states, {:.1} s", checker.unique_state_count(), begin.elapsed().as_secs_f64());
        assert!(checker.discovery(invariant).is_some(), "{bug:?} does not break \"{invariant}\"");
    }
}
