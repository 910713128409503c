//! What an order's small items cost: all that Till writes with one is below a kilobyte.

use capacity::rules;
use key_schema::layout::Consistency;

/// The largest item for which these hold.
const KILOBYTE: usize = 1_024;

/// Write units of an item that a transaction writes.
pub(super) fn transactional() -> f64 {
    rules::TRANSACTION * plain()
}

/// Write units of an item by itself, or of an index's entry.
pub(super) fn plain() -> f64 {
    rules::write_units(KILOBYTE)
}

/// Read units of an item that may be a moment old.
pub(super) fn eventual() -> f64 {
    rules::read_units(KILOBYTE, Consistency::Eventual)
}
