//! The invariants hold in every state of these payments, and each known bug is found.

#![allow(clippy::print_stdout, reason = "the figures of docs/models.md")]

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::{Bug, FITS, HELD, Paying, SETTLES, UNPAID, small};

#[test]
fn a_payment_is_settled_whatever_happens() {
    for paying in small() {
        let name = paying.name;
        let checker = paying.checker().threads(2).spawn_bfs().join();
        println!("{name}: {} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
        checker.assert_properties();
    }
}

#[test]
fn every_known_bug_is_found() {
    for (bug, invariant) in [
        (Bug::RecordsLate, FITS),
        (Bug::AsksAgain, SETTLES),
        (Bug::Renumbers, HELD),
        (Bug::ExpiresOpen, UNPAID),
        (Bug::ForgetsRelease, UNPAID),
    ] {
        let found = HasDiscoveries::AnyOf([invariant].into());
        let paying = Paying { name: "a bug", declines: 1, ends: 1, crashes: 1, troubles: 1, bug: Some(bug) };
        let checker = paying.checker().threads(2).finish_when(found).spawn_bfs().join();
        assert!(checker.discovery(invariant).is_some(), "{bug:?} does not break \"{invariant}\"");
    }
}
