//! The units of an order's small items: every item that an order writes is below a kilobyte.

use capacity::rules;
use key_schema::layout::Consistency;

/// The largest item for which these figures are valid.
const KILOBYTE: usize = 1_024;

/// Write units of an item that a transaction writes.
pub(super) fn transactional() -> f64 {
    rules::TRANSACTION * plain()
}

/// Write units of an item outside a transaction, or of an index entry.
pub(super) fn plain() -> f64 {
    rules::write_units(KILOBYTE)
}

/// Read units of an eventually consistent read of an item.
pub(super) fn eventual() -> f64 {
    rules::read_units(KILOBYTE, Consistency::Eventual)
}
