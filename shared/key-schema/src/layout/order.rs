//! Orders: the header, and the item collection of header, lines, address, invoice, flag, returns, shipments and queue
//! item.

use crate::entity::{
    Customer, Invoice, Order, OrderAddress, OrderFlag, OrderItem, OrderStatus, PaymentDue, QueuedOrder, Return,
    Shipment, WholeOrder,
};
use crate::value::{CustomerId, OrderId, ShipmentId, TimeRange, Timestamp};

use super::{Bound, Key, Pattern, Place, PlaceText, Stored, Template, collection, customer};

pub(super) const COLLECTION: Template<OrderId> = Template::new("o#{orderId}");
/// The sort key of lists by time. It is unique in a list with one entry for each order.
pub(super) const BY_TIME: Template<(Timestamp, OrderId)> = Template::new("{placedAt}#{orderId}");

const ORDER: Place<OrderId, OrderId> = Place::table(COLLECTION, COLLECTION);
const BY_STATUS: Place<(OrderStatus, u8), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("s#{status}#{shard}"), BY_TIME);
const OF_CUSTOMER: Place<CustomerId, (Timestamp, OrderId)> =
    Place::gsi2(customer::COLLECTION, Template::new("o#{placedAt}#{orderId}"));

const SHIPMENT: Place<OrderId, ShipmentId> = Place::table(COLLECTION, Template::new("sh#{shipmentId}"));

/// An order with all items of its collection: the header, 40 lines, address, invoice, flag, mark, queue item, 20 returns
/// and 20 shipments.
pub const ORDER_BY_ID: Pattern<OrderId, InOrder> = ORDER.collection(
    3,
    "an order by its id, with lines, address, invoice, flag, returns and shipments",
    Bound::AtMost(86),
);
/// The orders of a customer, newest first. The range of time ends before the profile, which sorts after the newest order.
pub const ORDERS_OF_CUSTOMER: Pattern<(CustomerId, TimeRange), Order> =
    OF_CUSTOMER.list(11, "the orders of a customer, newest first").descending();
/// A customer's profile and then the customer's orders, newest first, in one Query.
pub const PROFILE_AND_ORDERS: Pattern<CustomerId, ProfileOrOrder> =
    OF_CUSTOMER.list(12, "a customer's profile and newest orders").descending();
/// The orders of one shard of a status, oldest first. The list of a status is the merge of all its shards.
pub const ORDERS_OF_STATUS: Pattern<(OrderStatus, u8, TimeRange), Order> =
    BY_STATUS.list(15, "the orders of a status in a range of time, shards merged");

impl Stored for Order {
    const PLACES: &'static [PlaceText] = &[ORDER.text(), BY_STATUS.text(), OF_CUSTOMER.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.order_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![
            BY_STATUS.key((&self.status, &self.shard), (&self.placed_at, &self.order_id)),
            OF_CUSTOMER.key(&self.customer_id, (&self.placed_at, &self.order_id)),
        ]
    }
}

impl Order {
    /// The key of an order's header.
    pub fn key_of(order: &OrderId) -> Key {
        ORDER.key(order, order)
    }

    /// The position of the order in the lists in shards: of its status, and of each of its products. It does not depend on
    /// the shard.
    pub fn position(&self) -> String {
        BY_TIME.fill((&self.placed_at, &self.order_id))
    }
}

impl Stored for Shipment {
    const PLACES: &'static [PlaceText] = &[SHIPMENT.text()];

    fn key(&self) -> Key {
        SHIPMENT.key(&self.order_id, &self.shipment_id)
    }
}

collection! {
    /// An item of an order's collection.
    InOrder {
        Order
        OrderItem
        OrderAddress
        Invoice
        OrderFlag
        PaymentDue
        Return
        Shipment
        /// The item of the order in the queue.
        QueuedOrder
    }
}

/// An order, placed or queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderState {
    Placed(Box<WholeOrder>),
    /// The order was accepted to be placed later. It is not placed yet, or it was refused.
    Queued(Box<QueuedOrder>),
}

/// A torn read: some items show a transaction that others do not show yet. Read again.
///
/// A Query as a whole is not isolated from transactions; each single item is.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn;

impl InOrder {
    /// Assembles the items of the collection. `None` if there is no such order. If the order is placed, its item in the
    /// queue is ignored.
    ///
    /// # Errors
    /// [`Torn`] if only a part of the transaction that places the order, requests a return,
    /// or makes or delivers a shipment, is visible.
    pub fn assemble(items: Vec<InOrder>) -> Result<Option<OrderState>, Torn> {
        let (mut order, mut invoice, mut address, mut flag, mut queued) = (None, None, None, None, None);
        let (mut lines, mut returns, mut shipments) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            match item {
                InOrder::Order(header) => order = Some(header),
                InOrder::OrderItem(item) => lines.push(item),
                InOrder::Invoice(found) => invoice = Some(found),
                InOrder::OrderAddress(found) => address = Some(found),
                InOrder::OrderFlag(found) => flag = Some(found),
                InOrder::Return(found) => returns.push(found),
                InOrder::Shipment(found) => shipments.push(found),
                InOrder::QueuedOrder(found) => queued = Some(found),
                InOrder::PaymentDue(_) | InOrder::Unknown => {}
            }
        }
        match (order, invoice) {
            (Some(order), Some(invoice)) if lines.len() == usize::from(order.line_count) => {
                let lines = OrderItem::lines(lines);
                let mut whole = WholeOrder { order, lines, invoice, address, flag, returns, shipments };
                whole.sort();
                if whole.has_all_parts() { Ok(Some(OrderState::Placed(Box::new(whole)))) } else { Err(Torn) }
            }
            (None, None) if lines.is_empty() && address.is_none() => {
                Ok(queued.map(|queued| OrderState::Queued(Box::new(queued))))
            }
            _ => Err(Torn),
        }
    }
}

collection! {
    /// A customer's profile or one of the customer's orders.
    ProfileOrOrder {
        Order
        /// The profile, which comes first.
        Customer
    }
}

impl ProfileOrOrder {
    /// Assembles the items. `None` if there is no profile, or only the tombstone of an erased customer.
    pub fn assemble(items: Vec<ProfileOrOrder>) -> Option<(Customer, Vec<Order>)> {
        let (mut customer, mut orders) = (None, Vec::new());
        for item in items {
            match item {
                ProfileOrOrder::Customer(found) => customer = Some(found),
                ProfileOrOrder::Order(order) => orders.push(order),
                ProfileOrOrder::Unknown => {}
            }
        }
        Some((customer.filter(|customer| !customer.is_erased())?, orders))
    }
}
