//! What one record of the stream means.

use key_schema::entity::{Entity as _, Order, OrderItem, OrderLine, OrderStatus};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::Timestamp;
use serde_dynamo::{AttributeValue, Item};

use crate::Counts;

/// What one record of the stream means to the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An order was placed.
    Placed(Order),
    /// A line of an order was placed.
    Line(OrderItem),
    /// An order, here as it became, went on from this status.
    Moved(Order, OrderStatus),
    /// Nothing: another kind of item, another change of an order, an order that was put back after it was lost, or a
    /// deletion, by DynamoDB's TTL or by anybody.
    Nothing,
}

/// A record that cannot be counted, now or later.
#[derive(Debug, thiserror::Error)]
pub enum Uncountable {
    /// It does not read as a record of the stream.
    #[error("the record does not read as one: {0}")]
    Record(String),
    /// Its image does not read as what it says it is.
    #[error("an image does not read as its entity")]
    Image(#[from] serde_dynamo::Error),
    /// The lines of the order that was called off are not as many as its header says.
    #[error("the order has {found} lines and not {expected}")]
    Lines {
        /// How many were read.
        found: usize,
        /// How many there must be.
        expected: u8,
    },
    /// The lines of the order that was called off do not read as lines.
    #[error("the lines of the order do not read as lines")]
    UnreadableLines,
}

impl Change {
    /// Reads a record: its event name (`INSERT`, `MODIFY`, `REMOVE`), when it was written, and the item before and
    /// after, empty if there was none.
    ///
    /// An order is counted when it is placed. An order or a line that is inserted later was placed, and counted, before:
    /// somebody puts it back. Deletions count nothing either, so deleting an order and putting it back leaves the counts
    /// as they were.
    ///
    /// # Errors
    /// An image that does not read as the entity it names.
    pub fn read(event_name: &str, written_at: Timestamp, old: Item, new: Item) -> Result<Self, Uncountable> {
        let kind = match new.get(ENTITY_TYPE) {
            Some(AttributeValue::S(kind)) => kind.as_str(),
            _ => return Ok(Self::Nothing),
        };
        Ok(match (event_name, kind) {
            ("INSERT", Order::TYPE) => {
                let order: Order = serde_dynamo::from_item(new)?;
                if order.is_placed_at(written_at) { Self::Placed(order) } else { Self::Nothing }
            }
            ("INSERT", OrderItem::TYPE) => {
                let item: OrderItem = serde_dynamo::from_item(new)?;
                if item.is_placed_at(written_at) { Self::Line(item) } else { Self::Nothing }
            }
            ("MODIFY", Order::TYPE) => {
                let (before, after): (Order, Order) = (serde_dynamo::from_item(old)?, serde_dynamo::from_item(new)?);
                if before.status == after.status { Self::Nothing } else { Self::Moved(after, before.status) }
            }
            _ => Self::Nothing,
        })
    }

    /// The order whose lines are needed to count this: one that was called off takes its lines along, and its
    /// record does not hold them.
    ///
    /// Reading them later is exact. Lines are snapshots that nothing changes or deletes, and an order is called off
    /// only by whoever saw all of them.
    pub fn called_off(&self) -> Option<&Order> {
        match self {
            Self::Moved(order, _) if order.status == OrderStatus::Cancelled => Some(order),
            _ => None,
        }
    }

    /// What it adds to the counters. `lines` are those of the order if it was [called off](Self::called_off).
    pub fn counts(&self, lines: &[OrderLine]) -> Counts {
        match self {
            Self::Placed(order) => {
                let mut counts = Counts::of_order(order, 1);
                counts.add(&Counts::of_status(order, order.status, 1));
                counts
            }
            Self::Line(item) => Counts::of_line(&item.line, item.placed_at, 1),
            Self::Moved(order, before) => {
                let mut counts = Counts::of_status(order, *before, -1);
                counts.add(&Counts::of_status(order, order.status, 1));
                if self.called_off().is_some() {
                    counts.add(&Counts::of_order(order, -1));
                    for line in lines {
                        counts.add(&Counts::of_line(line, order.placed_at, -1));
                    }
                }
                counts
            }
            Self::Nothing => Counts::default(),
        }
    }
}
