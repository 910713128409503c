//! Distinguishes the placing of an order, and the request of a return, from their restoration.

use crate::value::Timestamp;

use super::{Order, OrderItem, Return};

/// An order is written within this many seconds after `placedAt`: the time for which a function retries, plus a margin
/// for clock skew.
const PLACED_WITHIN_SECONDS: u32 = 3600;

impl Order {
    /// Whether the insertion of this header at `written_at` placed the order. If the header is inserted later than
    /// that, or with a version greater than 1, it is a restoration: by hand, from a backup or from another table.
    pub fn is_placed_at(&self, written_at: Timestamp) -> bool {
        self.version == 1 && is_recent(self.placed_at, written_at)
    }
}

impl OrderItem {
    /// Whether the insertion of this line at `written_at` was a part of placing its order.
    pub fn is_placed_at(&self, written_at: Timestamp) -> bool {
        is_recent(self.placed_at, written_at)
    }
}

impl Return {
    /// Whether the insertion of this return at `written_at` requested it.
    pub fn is_requested_at(&self, written_at: Timestamp) -> bool {
        is_recent(self.requested_at, written_at)
    }
}

fn is_recent(placed_at: Timestamp, written_at: Timestamp) -> bool {
    written_at.minus_seconds(PLACED_WITHIN_SECONDS) <= placed_at
}
