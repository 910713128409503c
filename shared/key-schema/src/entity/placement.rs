//! Tells an order that was placed from one that was put back.

use crate::value::Timestamp;

use super::{Order, OrderItem};

/// An order is written within this many seconds of `placedAt`: the time for which a function tries to place it, and
/// room for clocks that disagree.
const PLACED_WITHIN_SECONDS: u32 = 3600;

impl Order {
    /// Whether an insertion of this header at `written_at` placed the order. A header that is inserted later, or with a
    /// later version than the first, was restored: by hand, from a backup or from another table.
    pub fn is_placed_at(&self, written_at: Timestamp) -> bool {
        self.version == 1 && is_recent(self.placed_at, written_at)
    }
}

impl OrderItem {
    /// Whether an insertion of this line at `written_at` was a part of placing its order.
    pub fn is_placed_at(&self, written_at: Timestamp) -> bool {
        is_recent(self.placed_at, written_at)
    }
}

fn is_recent(placed_at: Timestamp, written_at: Timestamp) -> bool {
    written_at.minus_seconds(PLACED_WITHIN_SECONDS) <= placed_at
}
