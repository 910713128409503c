//! What one record of the stream means.

use key_schema::entity::{Entity as _, Order, OrderItem, OrderLine, OrderStatus};
use key_schema::layout::ENTITY_TYPE;
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
    /// Nothing: another kind of item, another change of an order, or a deletion, by DynamoDB's TTL or by anybody.
    Nothing,
}

/// A record that cannot be counted, now or later.
#[derive(Debug, thiserror::Error)]
pub enum Uncountable {
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
}

impl Change {
    /// Reads a record: its event name (`INSERT`, `MODIFY`, `REMOVE`) and the item before and after, empty if there
    /// was none.
    ///
    /// # Errors
    /// An image that does not read as the entity it names.
    pub fn read(event_name: &str, old: Item, new: Item) -> Result<Self, Uncountable> {
        let kind = match new.get(ENTITY_TYPE) {
            Some(AttributeValue::S(kind)) => kind.as_str(),
            _ => return Ok(Self::Nothing),
        };
        Ok(match (event_name, kind) {
            ("INSERT", Order::TYPE) => Self::Placed(serde_dynamo::from_item(new)?),
            ("INSERT", OrderItem::TYPE) => Self::Line(serde_dynamo::from_item(new)?),
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
