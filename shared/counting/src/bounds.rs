//! What the counters must be, as far as the orders tell.

use std::fmt;

use key_schema::entity::{Order, OrderLine, OrderStatus};
use key_schema::value::{CustomerId, Day, ProductId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Counts;

/// Of what the counters of one item are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Aggregate {
    /// The orders placed on a day.
    Day(Day),
    /// The orders of a customer.
    Customer(CustomerId),
    /// The lines of a product.
    Product(ProductId),
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => write!(f, "day {day}"),
            Self::Customer(id) => write!(f, "customer {id}"),
            Self::Product(id) => write!(f, "product {id}"),
        }
    }
}

/// Between what the counters of one item must lie, given its orders.
///
/// The counters follow the orders. A change from before the horizon is counted, or lost for ever; any of the later
/// ones may be counted already, or not yet. So each counter is what the orders add up to, less any part of the
/// later changes: from `least` to `most`, which are the same if nothing changed later.
/// Outside, something is wrong.
///
/// Every order of the item has to be added once, as it was read after the counters were. What changed between the
/// two is a later change like the others, however long it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    aggregate: Aggregate,
    horizon: Timestamp,
    is_settled: bool,
    least: Counts,
    most: Counts,
}

impl Bounds {
    /// Those of no order.
    pub fn new(aggregate: Aggregate, horizon: Timestamp) -> Self {
        Self { aggregate, horizon, is_settled: true, least: Counts::default(), most: Counts::default() }
    }

    /// Adds an order, with those of its lines that count for this item.
    pub fn add(&mut self, order: &Order, lines: &[OrderLine]) {
        let is_new = order.placed_at >= self.horizon;
        let is_moved = is_new || order.last_change() >= self.horizon;
        let (status, is_standing) = (order.status, order.status != OrderStatus::Cancelled);
        let whole = |times| {
            let mut counts = Counts::of_order(order, times);
            for line in lines {
                counts.add(&Counts::of_line(line, order.placed_at, times));
            }
            counts
        };
        self.is_settled &= !is_moved;
        if is_standing {
            self.include(!is_new, true, &whole(1));
        } else if is_moved {
            // Counted when it was placed, and not yet taken back; or taken back before, from another shard of the
            // stream.
            self.include(false, true, &whole(1));
            self.include(is_new, false, &whole(-1));
        }
        self.include(!is_moved, true, &Counts::of_status(order, status, 1));
        if is_moved {
            // It may have come into any earlier status and left it, in whichever order the two are counted.
            for before in OrderStatus::ALL.into_iter().filter(|before| status.may_have_been(*before)) {
                self.include(true, false, &Counts::of_status(order, before, -1));
                self.include(false, true, &Counts::of_status(order, before, 1));
            }
        }
    }

    fn include(&mut self, in_least: bool, in_most: bool, counts: &Counts) {
        let counts = counts.only(&self.aggregate);
        if in_least {
            self.least.add(&counts);
        }
        if in_most {
            self.most.add(&counts);
        }
    }

    /// What must be added to these counters, which were read before the orders. Nothing, if they may be right.
    #[must_use]
    pub fn deficit(&self, counted: &Counts) -> Counts {
        counted.deficit(&self.least, &self.most)
    }

    /// Whether no order changed after the horizon: the counters must be exactly what the orders add up to.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The item.
    pub fn aggregate(&self) -> &Aggregate {
        &self.aggregate
    }
}
