//! The values that counters may have, given the orders.

use std::fmt;

use key_schema::entity::{Order, OrderLine, OrderStatus, ParkedCounts};
use key_schema::value::{CustomerId, Day, ProductId, Timestamp, Zone, spread};
use serde::{Deserialize, Serialize};

use crate::Counts;
use crate::change::Before;

/// The subject of an item with counters.
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

impl Aggregate {
    /// The group of the item. It is the same on every machine and in every release.
    ///
    /// All days are in one group: hardly more than one of them changes at a time.
    pub fn group(&self) -> u8 {
        match self {
            Self::Day(_) => 0,
            Self::Customer(_) | Self::Product(_) => spread(&self.to_string(), ParkedCounts::GROUPS),
        }
    }
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

/// Bounds on an item's counters, given its orders.
///
/// Counters lag behind the orders. A change before the horizon is counted, or lost forever. A later change may or may
/// not be counted yet. So each counter is the sum over the orders, less any part of the later changes: a value from
/// `least` to `most`. The two are equal if nothing changed after the horizon. A counter
/// outside its bounds is wrong.
///
/// Read the counters first, then add each order of the item once. An order that changes between the two reads counts as
/// a later change, however long the reads take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    aggregate: Aggregate,
    horizon: Timestamp,
    is_settled: bool,
    least: Counts,
    most: Counts,
}

impl Bounds {
    /// The bounds without any order.
    pub fn new(aggregate: Aggregate, horizon: Timestamp) -> Self {
        Self { aggregate, horizon, is_settled: true, least: Counts::default(), most: Counts::default() }
    }

    /// Adds an order of a shop in this zone, with the lines that count for this item.
    pub fn add(&mut self, order: &Order, lines: &[OrderLine], zone: &Zone) {
        let day = zone.day(order.placed_at);
        // An imported order is new although it was placed long ago.
        let is_new = order.entry() >= self.horizon;
        let is_changed = is_new || order.changed_at >= self.horizon;
        let status = order.status;
        let with_lines = |times| {
            let mut counts = Counts::of_order(order, day, times);
            for line in lines {
                counts.add(&Counts::of_line(line, day, times));
            }
            counts
        };
        self.is_settled &= !is_changed;
        if status != OrderStatus::Cancelled {
            self.include(!is_new, true, &with_lines(1));
            // Of the credits of a changed order, any part may be counted. Those of an unchanged one are.
            self.include(true, !is_changed, &Counts::of_credits(order, &Before::of(order), day, -1));
        } else if is_changed {
            // The placing may be counted and the cancellation not yet; or the reverse, if they are in different shards
            // of the stream. The credits and the cancellation of the rest together take away what the placing added.
            self.include(false, true, &with_lines(1));
            self.include(is_new, false, &with_lines(-1));
        }
        self.include(!is_changed, true, &Counts::of_status(order, status, day, 1));
        if is_changed {
            // The order may have entered and left any earlier status, and either of the two may be counted first.
            for before in OrderStatus::ALL.into_iter().filter(|before| status.may_have_been(*before)) {
                self.include(true, false, &Counts::of_status(order, before, day, -1));
                self.include(false, true, &Counts::of_status(order, before, day, 1));
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

    /// The amounts to add to these counters so that they lie within the bounds. Empty if they already do.
    #[must_use]
    pub fn deficit(&self, counted: &Counts) -> Counts {
        counted.deficit(&self.least, &self.most)
    }

    /// Whether no order changed after the horizon. Then the counters must be exactly the sums over the orders.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The subject of the counters.
    pub fn aggregate(&self) -> &Aggregate {
        &self.aggregate
    }
}
