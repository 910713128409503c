//! Distinguishes the placing of an order, its import, and the request of a return, from their restoration.

use crate::value::Timestamp;

use super::{Order, OrderItem, PaymentDue, Return, Shipment};

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

impl PaymentDue {
    /// Whether the payment became due with the insertion of this mark at `written_at`. If the mark is inserted later
    /// than that, it is a restoration or an import.
    pub fn is_due_at(&self, written_at: Timestamp) -> bool {
        is_recent(self.since, written_at)
    }
}

impl Return {
    /// Whether the insertion of this return at `written_at` requested it.
    pub fn is_requested_at(&self, written_at: Timestamp) -> bool {
        is_recent(self.requested_at, written_at)
    }
}

impl Shipment {
    /// Whether the insertion of this shipment at `written_at` made it.
    pub fn is_made_at(&self, written_at: Timestamp) -> bool {
        is_recent(self.shipped_at, written_at)
    }
}

fn is_recent(placed_at: Timestamp, written_at: Timestamp) -> bool {
    written_at.minus_seconds(PLACED_WITHIN_SECONDS) <= placed_at
}
