//! The invariants hold in every state of small streams, and each known bug is found.

#![allow(clippy::print_stdout, reason = "the figures of docs/models.md")]

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::scene::{parked, stream};
use super::{Bug, Left, small};

/// The invariant that is violated if a record is counted twice, or is before the checkpoint and not counted.
const EXACT: &str = "counters and parked counts are the sum of the records up to the checkpoints";

#[test]
fn records_are_counted_once_for_any_deliveries() {
    for stream in small() {
        let name = stream.name;
        let checker = stream.checker().threads(2).spawn_bfs().join();
        checker.assert_properties();
        println!("{name}: {} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
        assert!(checker.unique_state_count() > 1000, "{name}: {} states are few", checker.unique_state_count());
    }
}

#[test]
fn every_known_bug_is_found() {
    for (bug, invariant) in [
        (Bug::MarkIsNotAsked, EXACT),
        (Bug::MarkMovesLater, EXACT),
        (Bug::ParkedIsNotAsked, EXACT),
        (Bug::ParkedIsDeletedLater, EXACT),
        (Bug::ParkedAfterTheMark, EXACT),
        (Bug::PoisonIsForgotten, "no mark is past a record that is neither counted nor kept"),
    ] {
        let found = HasDiscoveries::AnyOf([invariant].into());
        let stream = match bug {
            Bug::ParkedIsNotAsked | Bug::ParkedIsDeletedLater | Bug::ParkedAfterTheMark => {
                parked("a conflict and two folders", Left { conflicts: 1, folders: 1, ..Left::default() })
            }
            _ => stream("a crash and a copy", Left { crashes: 1, copies: 1, ..Left::default() }),
        };
        let checker = stream.with(bug).checker().threads(2).finish_when(found).spawn_bfs().join();
        assert!(checker.discovery(invariant).is_some(), "{bug:?} does not break \"{invariant}\"");
    }
}
