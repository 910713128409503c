//! Settings of the shop: one item, which staff replace as a whole.

use http_api::{Answer, IfMatch, Problem, Versioned};
use key_schema::entity::{ShippingRates, Taxes};
use key_schema::layout::Stored;
use table::{Budget, Condition, Write, Writer, Written, read_item};

/// Settings with a version, which is the `ETag`: 0 before they are written, and one more each time.
pub(crate) trait Settings: Stored {
    fn version(&self) -> u64;

    /// Whether both say the same, whenever they were written.
    fn says_the_same(&self, other: &Self) -> bool;
}

impl Settings for ShippingRates {
    fn version(&self) -> u64 {
        self.version
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.zones == other.zones
    }
}

impl Settings for Taxes {
    fn version(&self) -> u64 {
        self.version
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.countries == other.countries
    }
}

pub(crate) fn next_version<S: Settings>(found: Option<&S>) -> u64 {
    found.map_or(1, |found| found.version() + 1)
}

/// Replaces `found`, if it is a version that `if_match` names, by `next`. A repeated request that is done already succeeds.
pub(crate) async fn replace<S: Settings, V: From<S>>(
    writer: &Writer,
    if_match: &IfMatch,
    found: Option<S>,
    next: S,
    budget: Budget,
) -> Answer<Versioned<V>> {
    let version = found.as_ref().map_or(0, S::version);
    if !if_match.matches(version) {
        // The same request may have been answered with an error after it was done.
        return match found {
            Some(found) if if_match.may_have_led_to(version) && found.says_the_same(&next) => {
                Ok(Versioned::new(version, found.into()))
            }
            _ => Err(Problem::version_conflict(version)),
        };
    }
    let unchanged = if found.is_some() { Condition::version(version)? } else { Condition::absent() };
    match writer.write(Write::put_if(&next, unchanged)?, budget).await? {
        Written::Done => Ok(Versioned::new(next.version(), next.into())),
        Written::ConditionFailed(Some(other)) => {
            let other: S = read_item(other)?;
            // An attempt that had succeeded, or the same request at the same time.
            if other.version() == next.version() && other.says_the_same(&next) {
                return Ok(Versioned::new(other.version(), other.into()));
            }
            Err(Problem::version_conflict(other.version()))
        }
        Written::ConditionFailed(None) => Err(Problem::version_conflict(0)),
    }
}
