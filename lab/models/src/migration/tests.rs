//! The invariants hold in every state of these migrations, and each known bug is found.

#![allow(clippy::print_stdout, reason = "the figures of docs/models.md")]

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::{ANSWERS, Bug, House, IN_STEP, small};

#[test]
fn a_migration_loses_nothing_and_brings_nothing_back() {
    for house in small() {
        let name = house.name;
        let checker = house.checker().threads(2).spawn_bfs().join();
        println!("{name}: {} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
        checker.assert_properties();
    }
}

#[test]
fn every_known_bug_is_found() {
    for (bug, invariant) in [
        (Bug::PutsOnly, IN_STEP),
        (Bug::LeaderIsNotChecked, IN_STEP),
        (Bug::RepairComesLater, IN_STEP),
        (Bug::DoesNotSettle, ANSWERS),
        (Bug::NoFence, ANSWERS),
        (Bug::RepairsAreIgnored, ANSWERS),
    ] {
        let found = HasDiscoveries::AnyOf([invariant].into());
        let house = House { bug: Some(bug), ..small().remove(0) };
        let checker = house.checker().threads(2).finish_when(found).spawn_bfs().join();
        assert!(checker.discovery(invariant).is_some(), "{bug:?} does not break \"{invariant}\"");
    }
}
