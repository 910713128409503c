//! A migration from one table to another.

use serde::{Deserialize, Serialize};

use super::Phase;
use crate::value::Timestamp;

/// A migration, as one of its tables sees it: that table is the first one, and the other one is the next. Each of the
/// two tables has such an item, and a step writes both. It is never copied.
///
/// Functions read it, and use it for a few seconds. A release that does not know the phase refuses to work by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    pub phase: Phase,
    /// Incremented by every change of this item.
    pub version: u64,
    /// The time at which the phase began.
    pub since: Timestamp,
}

impl Migration {
    /// The migration after a step to a neighbouring phase; `None` if there is no such step.
    pub fn step(&self, phase: Phase, now: Timestamp) -> Option<Self> {
        self.phase.may_become(phase).then_some(Self { phase, version: self.version + 1, since: now })
    }
}
