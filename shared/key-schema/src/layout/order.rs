//! Orders: the headers, and the item collection in which lines, invoice and flag lie beside each.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 3 [`OrderById`] | table | `o#{orderId}` | all |
//! | 11 [`OrdersOfCustomer`], 12 [`ProfileAndOrders`] | GSI2 | `c#{customerId}` | `o#{placedAt}#{orderId}` |
//! | 15 [`OrdersOfStatus`] | GSI1 | `s#{status}#{shard}` | `{placedAt}#{orderId}` |

use serde::{Deserialize, Serialize};

use crate::entity::{
    Customer, Entity as _, Invoice, Order, OrderFlag, OrderItem, OrderStatus, QueuedOrder, WholeOrder,
};
use crate::value::{CustomerId, OrderId, TimeRange, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    customer,
};

/// The partition of an order and all that belongs to it.
pub(super) const COLLECTION: Template<(OrderId,)> = Template::new("o#{orderId}");
/// Order of time, each order once.
pub(super) const BY_TIME: Template<(Timestamp, OrderId)> = Template::new("{placedAt}#{orderId}");

const ORDER: Place<(OrderId,), (OrderId,)> = Place::table(COLLECTION, COLLECTION);
const BY_STATUS: Place<(OrderStatus, u8), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("s#{status}#{shard}"), BY_TIME);
const OF_CUSTOMER: Place<(CustomerId,), (Timestamp, OrderId)> =
    Place::gsi2(customer::COLLECTION, Template::new("o#{placedAt}#{orderId}"));

impl Stored for Order {
    const PLACES: &'static [PlaceText] = &[ORDER.text(), BY_STATUS.text(), OF_CUSTOMER.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![
            BY_STATUS.key((&self.status, &self.shard), (&self.placed_at, &self.order_id)),
            OF_CUSTOMER.key((&self.customer_id,), (&self.placed_at, &self.order_id)),
        ]
    }
}

impl Order {
    /// The key of an order's header.
    pub fn key_of(order: &OrderId) -> Key {
        ORDER.key((order,), (order,))
    }
}

/// An item of an order's collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum InOrder {
    /// The header.
    Order(Order),
    /// A line.
    OrderItem(OrderItem),
    /// The invoice.
    Invoice(Invoice),
    /// The flag.
    OrderFlag(OrderFlag),
    /// That it was accepted, to be placed later.
    QueuedOrder(QueuedOrder),
    /// Something a newer version has put there.
    #[serde(other)]
    Unknown,
}

/// An order with all that belongs to it.
pub struct OrderById<'a> {
    /// Which order.
    pub id: &'a OrderId,
}

/// What there is of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderState {
    /// It is placed.
    Placed(Box<WholeOrder>),
    /// It was accepted, and is not placed yet or was refused.
    Queued(QueuedOrder),
}

/// Some items of an order show a transaction that others do not show yet: read again.
///
/// A Query is not isolated from transactions as a whole, only item by item.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn;

impl OrderById<'_> {
    /// Puts the items of the collection together; `None` if there is no such order. One that is placed is no longer
    /// queued, whatever else is left of its time in the queue.
    ///
    /// # Errors
    /// [`Torn`] while an order is being written and only part of it shows.
    pub fn assemble(items: Vec<InOrder>) -> Result<Option<OrderState>, Torn> {
        let (mut order, mut lines, mut invoice, mut flag, mut queued) = (None, Vec::new(), None, None, None);
        for item in items {
            match item {
                InOrder::Order(header) => order = Some(header),
                InOrder::OrderItem(item) => lines.push(item.line),
                InOrder::Invoice(found) => invoice = Some(found),
                InOrder::OrderFlag(found) => flag = Some(found),
                InOrder::QueuedOrder(found) => queued = Some(found),
                InOrder::Unknown => {}
            }
        }
        match (order, invoice) {
            (Some(order), Some(invoice)) if lines.len() == usize::from(order.line_count) => {
                Ok(Some(OrderState::Placed(Box::new(WholeOrder { order, lines, invoice, flag }))))
            }
            (None, None) if lines.is_empty() => Ok(queued.map(OrderState::Queued)),
            _ => Err(Torn),
        }
    }
}

impl AccessPattern for OrderById<'_> {
    type Item = InOrder;

    const DECLARED: Declaration = Declaration {
        number: 3,
        question: "an order by its id, with all that belongs to it",
        place: PlaceText { sort: "", ..ORDER.text() },
        entities: &[Order::TYPE, OrderItem::TYPE, Invoice::TYPE, OrderFlag::TYPE, QueuedOrder::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::Collection(44),
    };

    fn partition(&self) -> String {
        COLLECTION.fill((self.id,))
    }

    fn range(&self) -> SortRange {
        SortRange::Whole
    }
}

/// The orders of a customer, newest first.
pub struct OrdersOfCustomer<'a> {
    /// Whose.
    pub customer: &'a CustomerId,
    /// Placed when.
    pub placed: TimeRange,
}

impl AccessPattern for OrdersOfCustomer<'_> {
    type Item = Order;

    const DECLARED: Declaration = Declaration {
        number: 11,
        question: "the orders of a customer, newest first",
        place: OF_CUSTOMER.text(),
        entities: &[Order::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Descending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OF_CUSTOMER.partition.fill((self.customer,))
    }

    /// A range of time ends before the profile, which sorts after the newest order.
    fn range(&self) -> SortRange {
        OF_CUSTOMER.within(&self.placed)
    }
}

/// A customer's profile or one of his orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum ProfileOrOrder {
    /// The profile, which comes first.
    Customer(Customer),
    /// An order.
    Order(Order),
    /// Something a newer version has put there.
    #[serde(other)]
    Unknown,
}

/// A customer's profile and then the orders, newest first: one Query for both.
pub struct ProfileAndOrders<'a> {
    /// Whose.
    pub customer: &'a CustomerId,
}

impl ProfileAndOrders<'_> {
    /// Puts the items together; `None` without a profile.
    pub fn assemble(items: Vec<ProfileOrOrder>) -> Option<(Customer, Vec<Order>)> {
        let (mut customer, mut orders) = (None, Vec::new());
        for item in items {
            match item {
                ProfileOrOrder::Customer(found) => customer = Some(found),
                ProfileOrOrder::Order(order) => orders.push(order),
                ProfileOrOrder::Unknown => {}
            }
        }
        Some((customer?, orders))
    }
}

impl AccessPattern for ProfileAndOrders<'_> {
    type Item = ProfileOrOrder;

    const DECLARED: Declaration = Declaration {
        number: 12,
        question: "a customer's profile and newest orders",
        entities: &[Order::TYPE, Customer::TYPE],
        ..OrdersOfCustomer::DECLARED
    };

    fn partition(&self) -> String {
        OF_CUSTOMER.partition.fill((self.customer,))
    }

    fn range(&self) -> SortRange {
        OF_CUSTOMER.all()
    }
}

/// The orders of a status, in order of time: those of one shard. All shards together are the answer.
pub struct OrdersOfStatus<'a> {
    /// Which status.
    pub status: OrderStatus,
    /// Which shard of it.
    pub shard: u8,
    /// Placed when.
    pub placed: &'a TimeRange,
}

impl<'a> OrdersOfStatus<'a> {
    /// The list in all of its shards.
    pub fn in_shards(status: OrderStatus, shards: u8, placed: &'a TimeRange) -> Vec<Self> {
        (0..shards).map(|shard| Self { status, shard, placed }).collect()
    }

    /// Where an order stands in the list: the same in whichever status and shard.
    pub fn position(order: &Order) -> String {
        BY_STATUS.sort.fill((&order.placed_at, &order.order_id))
    }
}

impl AccessPattern for OrdersOfStatus<'_> {
    type Item = Order;

    const DECLARED: Declaration = Declaration {
        number: 15,
        question: "the orders of a status in a range of time, shards merged",
        place: BY_STATUS.text(),
        entities: &[Order::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        BY_STATUS.partition.fill((&self.status, &self.shard))
    }

    fn range(&self) -> SortRange {
        BY_STATUS.within(self.placed)
    }
}
