//! Distinguishes the placing of an order, its import, and the request of a return, from their restoration.

use crate::value::Timestamp;

use super::{Order, OrderItem};

/// An order is written within this many seconds after `placedAt`: the time for which a function retries, plus a margin
/// for clock skew. An import writes an order within this time after `importedAt`.
const PLACED_WITHIN_SECONDS: u32 = 3600;

impl Order {
    /// Whether the insertion of this header at `written_at` placed the order. If the header is inserted later than
    /// that, or with a version greater than 1, it is a restoration: by hand, from a backup or from another table.
    pub fn is_placed_at(&self, written_at: Timestamp) -> bool {
        self.imported_at.is_none() && self.version == 1 && is_recent(self.placed_at, written_at)
    }

    /// Whether the insertion of this header at `written_at` imported the order. If the header is inserted later than
    /// that, it is a restoration of an imported order.
    pub fn is_imported_at(&self, written_at: Timestamp) -> bool {
        self.imported_at.is_some_and(|at| is_recent(at, written_at))
    }
}

impl OrderItem {
    /// Whether the insertion of this line at `written_at` counts: it was a part of placing its order, or of importing an
    /// order that is not cancelled.
    pub fn is_placed_at(&self, written_at: Timestamp) -> bool {
        !self.uncounted && is_recent(self.imported_at.unwrap_or(self.placed_at), written_at)
    }
}

/// Whether the insertion at `written_at` of an item that was made at this time made it: a return, a shipment or the mark of
/// a payment that is due. If the item is inserted later than that, it is a restoration or an import.
pub fn is_recent(made_at: Timestamp, written_at: Timestamp) -> bool {
    written_at.minus_seconds(PLACED_WITHIN_SECONDS) <= made_at
}
