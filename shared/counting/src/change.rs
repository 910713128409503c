//! The meaning of one stream record.

use key_schema::entity::{Credit, Entity as _, Order, OrderItem, OrderLine, OrderStatus};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::{Timestamp, Zone};
use serde_dynamo::{AttributeValue, Item};

use crate::Counts;

/// The meaning of one stream record for the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An order was placed.
    Placed(Order),
    /// A line of an order was placed or imported.
    Line(OrderItem),
    /// An order was imported, in any status and perhaps with credits: it came into this table, and was not counted here.
    Imported(Order),
    /// An order changed its status, its credits or both. Holds the order after the change, and what counted before.
    Moved(Order, Before),
    /// Nothing that counts: a change of another kind of item, another change of an order, the restoration of a lost
    /// order, or a deletion.
    Nothing,
}

/// What counted of an order before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// The status.
    pub status: OrderStatus,
    /// The credits.
    pub credits: Vec<Credit>,
    /// What the allowances gave back, in minor units.
    pub allowed: i64,
}

impl Before {
    pub(crate) fn of(order: &Order) -> Self {
        Self { status: order.status, credits: order.credits.clone(), allowed: order.allowed() }
    }
}

/// An order without credits.
impl From<OrderStatus> for Before {
    fn from(status: OrderStatus) -> Self {
        Self { status, credits: Vec::new(), allowed: 0 }
    }
}

/// A record that cannot be counted, now or later.
#[derive(Debug, thiserror::Error)]
pub enum Uncountable {
    /// The event is not a stream record.
    #[error("the event is not a stream record: {0}")]
    Record(String),
    /// An image cannot be deserialized as its entity.
    #[error("an image cannot be read as its entity")]
    Image(#[from] serde_dynamo::Error),
    /// A cancelled order has a different number of lines than its header says.
    #[error("the order has {found} lines, but its header says {expected}")]
    Lines {
        /// The number of lines that were read.
        found: usize,
        /// The number of lines in the header.
        expected: u8,
    },
    /// The lines of a cancelled order cannot be deserialized.
    #[error("the lines of the order cannot be read as lines")]
    UnreadableLines,
}

impl Change {
    /// Reads a record: its event name (`INSERT`, `MODIFY`, `REMOVE`), its time, and the item before and after, each
    /// empty if there was none.
    ///
    /// An order counts when it is placed or imported. An order or a line that is inserted long after that time is a
    /// restoration: it was counted before. Deletions do not count either, so deleting and restoring an order leaves the
    /// counts as they were.
    ///
    /// # Errors
    /// An image cannot be deserialized as its entity.
    pub fn read(event_name: &str, written_at: Timestamp, old: Item, new: Item) -> Result<Self, Uncountable> {
        let kind = match new.get(ENTITY_TYPE) {
            Some(AttributeValue::S(kind)) => kind.as_str(),
            _ => return Ok(Self::Nothing),
        };
        Ok(match (event_name, kind) {
            ("INSERT", Order::TYPE) => {
                let order: Order = serde_dynamo::from_item(new)?;
                if order.is_placed_at(written_at) {
                    Self::Placed(order)
                } else if order.is_imported_at(written_at) {
                    Self::Imported(order)
                } else {
                    Self::Nothing
                }
            }
            ("INSERT", OrderItem::TYPE) => {
                let item: OrderItem = serde_dynamo::from_item(new)?;
                if item.is_placed_at(written_at) { Self::Line(item) } else { Self::Nothing }
            }
            ("MODIFY", Order::TYPE) => {
                let (before, after): (Order, Order) = (serde_dynamo::from_item(old)?, serde_dynamo::from_item(new)?);
                let before = Before::of(&before);
                if before == Before::of(&after) { Self::Nothing } else { Self::Moved(after, before) }
            }
            _ => Self::Nothing,
        })
    }

    /// The order that this change cancels. To count the change, the order's lines must be read: its record does not
    /// hold them.
    ///
    /// Reading them later gives the same result: nothing changes or deletes lines, and an order can be cancelled only
    /// after all of its lines were written.
    pub fn called_off(&self) -> Option<&Order> {
        match self {
            Self::Moved(order, before)
                if order.status == OrderStatus::Cancelled && before.status != OrderStatus::Cancelled =>
            {
                Some(order)
            }
            _ => None,
        }
    }

    /// The amounts that the change adds to the counters of a shop in this zone. `lines` are those of the [cancelled](Self::called_off) order.
    pub fn counts(&self, lines: &[OrderLine], zone: &Zone) -> Counts {
        match self {
            Self::Placed(order) => {
                let day = zone.day(order.placed_at);
                let mut counts = Counts::of_order(order, day, 1);
                counts.add(&Counts::of_status(order, order.status, day, 1));
                counts
            }
            Self::Line(item) => Counts::of_line(&item.line, zone.day(item.placed_at), 1),
            // As if it had been placed, credited and changed here. A cancellation takes away what the rest added.
            Self::Imported(order) => {
                let day = zone.day(order.placed_at);
                let mut counts = Counts::of_status(order, order.status, day, 1);
                if order.status != OrderStatus::Cancelled {
                    counts.add(&Counts::of_order(order, day, 1));
                    counts.add(&Counts::of_credits(order, &Before::of(order), day, -1));
                }
                counts
            }
            Self::Moved(order, before) => {
                let day = zone.day(order.placed_at);
                let mut counts = Counts::of_status(order, before.status, day, -1);
                counts.add(&Counts::of_status(order, order.status, day, 1));
                // What was credited does not count any more.
                counts.add(&Counts::of_credits(order, before, day, 1));
                counts.add(&Counts::of_credits(order, &Before::of(order), day, -1));
                if self.called_off().is_some() {
                    // Neither does the rest.
                    counts.add(&Counts::of_order(order, day, -1));
                    for line in lines {
                        counts.add(&Counts::of_line(line, day, -1));
                    }
                    counts.add(&Counts::of_credits(order, &Before::of(order), day, 1));
                }
                counts
            }
            Self::Nothing => Counts::default(),
        }
    }
}
