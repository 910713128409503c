//! The phases of a migration from one table to another, and their rules.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A phase of a migration: what a function reads, and what it writes.
///
/// The phases are a line. A migration goes along it one step at a time, forwards or back. For some seconds after a
/// step, some functions still work by the phase before. That is safe, because each step changes one thing only, and
/// because the lead changes only between two phases in which both tables are strictly kept equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// The first table alone is read and written. The phase if there is no item that names another one.
    #[default]
    First,
    /// Both tables are written, and the first one leads. A write that cannot be done in both leaves a repair.
    Both,
    /// As [`Both`](Self::Both). Each read is made in the next table as well, and the differences are reported.
    Compare,
    /// Both tables are written and the first one leads. A write that cannot be done in both is not done now.
    Handover,
    /// As [`Handover`](Self::Handover), but the next table leads and is read.
    Takeover,
    /// Both tables are written, and the next one leads. A write that cannot be done in both leaves a repair.
    NextLeads,
    /// The next table alone is read and written.
    Next,
}

/// The name that is stored, and that the runbook has.
impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One of the two tables of a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The table from which the shop migrates.
    #[default]
    First,
    /// The table to which the shop migrates.
    Next,
}

impl Side {
    /// The other table.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Next,
            Self::Next => Self::First,
        }
    }
}

impl Phase {
    /// Every phase, in the order of a migration.
    pub const ALL: [Self; 7] =
        [Self::First, Self::Both, Self::Compare, Self::Handover, Self::Takeover, Self::NextLeads, Self::Next];

    /// The table that is read, and whose conditions decide about a write.
    pub const fn leader(self) -> Side {
        match self {
            Self::First | Self::Both | Self::Compare | Self::Handover => Side::First,
            Self::Takeover | Self::NextLeads | Self::Next => Side::Next,
        }
    }

    /// Whether each write is done in both tables.
    pub const fn writes_both(self) -> bool {
        !matches!(self, Self::First | Self::Next)
    }

    /// Whether a write that cannot be done in both tables is not done at all.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::Handover | Self::Takeover)
    }

    /// Whether each read is made in the other table as well, to compare the two.
    pub const fn reads_beside(self) -> bool {
        matches!(self, Self::Compare)
    }

    /// The phase of the same migration as the other table sees it, for functions to which the next table is the first
    /// one: the same table leads, under the same rules for writes.
    #[must_use]
    pub const fn from_the_other_side(self) -> Self {
        match self {
            Self::First => Self::Next,
            Self::Both | Self::Compare => Self::NextLeads,
            Self::Handover => Self::Takeover,
            Self::Takeover => Self::Handover,
            Self::NextLeads => Self::Both,
            Self::Next => Self::First,
        }
    }

    /// The phase after this one; `None` after the last one.
    pub fn forwards(self) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| *phase > self)
    }

    /// The phase before this one; `None` before the first one.
    pub fn back(self) -> Option<Self> {
        Self::ALL.into_iter().rfind(|phase| *phase < self)
    }

    /// Whether a migration may go from this phase to `next` in one step.
    pub fn may_become(self, next: Self) -> bool {
        self.forwards() == Some(next) || self.back() == Some(next)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use serde_dynamo::AttributeValue;

    use super::*;

    fn steps() -> impl Iterator<Item = (Phase, Phase)> {
        Phase::ALL.into_iter().zip(Phase::ALL.into_iter().skip(1))
    }

    #[test]
    fn a_step_goes_to_the_neighbour_forwards_or_back() {
        for (at, from) in Phase::ALL.into_iter().enumerate() {
            for (to_at, to) in Phase::ALL.into_iter().enumerate() {
                assert_eq!(from.may_become(to), at.abs_diff(to_at) == 1, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn each_step_changes_one_thing_only() {
        let rules = |phase: Phase| [phase.writes_both(), phase.is_strict(), phase.leader() == Side::Next];
        for (from, to) in steps() {
            let changed = rules(from).iter().zip(rules(to)).filter(|(before, after)| **before != *after).count();
            let compares = from.reads_beside() != to.reads_beside();
            assert!(changed <= 1 && (changed == 1 || compares), "{from:?} to {to:?}");
        }
    }

    /// Functions of both phases run side by side. If one of them could leave the tables different, a function that
    /// reads the other table would miss its write.
    #[test]
    fn the_lead_changes_only_between_strict_phases() {
        for (from, to) in steps().filter(|(from, to)| from.leader() != to.leader()) {
            assert!(from.is_strict() && to.is_strict(), "{from:?} to {to:?}");
        }
    }

    /// Functions of two deployments that name the tables in opposite orders work side by side.
    #[test]
    fn both_tables_see_the_same_leader_and_the_same_writes() {
        for phase in Phase::ALL {
            let other = phase.from_the_other_side();
            assert_eq!(other.leader(), phase.leader().other(), "{phase:?}");
            assert_eq!(other.writes_both(), phase.writes_both(), "{phase:?}");
            assert_eq!(other.is_strict(), phase.is_strict(), "{phase:?}");
        }
    }

    /// Otherwise a function could write one table alone while another one relies on both.
    #[test]
    fn a_strict_phase_is_never_beside_a_phase_that_writes_one_table() {
        for (from, to) in steps() {
            assert!(!from.is_strict() || to.writes_both(), "{from:?} to {to:?}");
            assert!(!to.is_strict() || from.writes_both(), "{from:?} to {to:?}");
        }
    }

    #[test]
    fn phases_are_stored_as_these_texts() {
        let texts = ["first", "both", "compare", "handover", "takeover", "nextLeads", "next"];
        for (phase, text) in Phase::ALL.into_iter().zip(texts) {
            let stored: AttributeValue = serde_dynamo::to_attribute_value(phase).expect("a text");
            assert_eq!(stored, AttributeValue::S(text.to_owned()));
        }
    }
}
