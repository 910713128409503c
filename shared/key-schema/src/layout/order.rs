//! An order's item collection: header, lines and flag. The invoice lies there too, see its own file.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 3 [`OrderById`] | table | `o#{orderId}` | all |
//! | 4 [`ProductsOfOrder`] | table | `o#{orderId}` | `p#{productId}` |
//! | 6 [`OrdersOfProduct`] | GSI1 | `p#{productId}` | `{placedAt}#{orderId}` |
//! | 10 [`ProductsOfCustomer`] | GSI2 | `c#{customerId}` | `p#{placedAt}#{orderId}#{productId}` |
//!
//! The header is also in the status index (GSI1, `s#{status}#{shard}`, `{placedAt}#{orderId}`) and under its customer (GSI2,
//! `c#{customerId}`, `o#{placedAt}#{orderId}`); the flag is in the sparse index (GSI1, `flagged`, `{flaggedAt}#{orderId}`).

use serde::{Deserialize, Serialize};

use crate::entity::{Entity as _, Invoice, Order, OrderFlag, OrderItem, OrderStatus, WholeOrder};
use crate::value::{CustomerId, OrderId, ProductId, TimeRange, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    customer, product,
};

/// The partition of an order and all that belongs to it.
pub(super) const COLLECTION: Template<(OrderId,)> = Template::new("o#{orderId}");
const BY_TIME: Template<(Timestamp, OrderId)> = Template::new("{placedAt}#{orderId}");

const ORDER: Place<(OrderId,), (OrderId,)> = Place::table(COLLECTION, COLLECTION);
const BY_STATUS: Place<(OrderStatus, u8), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("s#{status}#{shard}"), BY_TIME);
const OF_CUSTOMER: Place<(CustomerId,), (Timestamp, OrderId)> =
    Place::gsi2(customer::COLLECTION, Template::new("o#{placedAt}#{orderId}"));

const ITEM: Place<(OrderId,), (ProductId,)> = Place::table(COLLECTION, product::COLLECTION);
const ITEM_OF_PRODUCT: Place<(ProductId,), (Timestamp, OrderId)> = Place::gsi1(product::COLLECTION, BY_TIME);
const ITEM_OF_CUSTOMER: Place<(CustomerId,), (Timestamp, OrderId, ProductId)> =
    Place::gsi2(customer::COLLECTION, Template::new("p#{placedAt}#{orderId}#{productId}"));

const FLAG: Place<(OrderId,), ()> = Place::table(COLLECTION, Template::new("flag"));
const FLAGGED: Place<(), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("flagged"), Template::new("{flaggedAt}#{orderId}"));

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

impl Stored for OrderItem {
    const PLACES: &'static [PlaceText] = &[ITEM.text(), ITEM_OF_PRODUCT.text(), ITEM_OF_CUSTOMER.text()];

    fn key(&self) -> Key {
        ITEM.key((&self.order_id,), (&self.line.product_id,))
    }

    fn index_keys(&self) -> Vec<Key> {
        let product = &self.line.product_id;
        vec![
            ITEM_OF_PRODUCT.key((product,), (&self.placed_at, &self.order_id)),
            ITEM_OF_CUSTOMER.key((&self.customer_id,), (&self.placed_at, &self.order_id, product)),
        ]
    }
}

impl Stored for OrderFlag {
    const PLACES: &'static [PlaceText] = &[FLAG.text(), FLAGGED.text()];

    fn key(&self) -> Key {
        FLAG.key((&self.order_id,), ())
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![FLAGGED.key((), (&self.flagged_at, &self.order_id))]
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
    /// Something a newer version has put there.
    #[serde(other)]
    Unknown,
}

/// An order with all that belongs to it.
pub struct OrderById<'a> {
    /// Which order.
    pub id: &'a OrderId,
}

impl OrderById<'_> {
    /// Puts the items of the collection together; `None` unless header and invoice are there.
    pub fn assemble(items: Vec<InOrder>) -> Option<WholeOrder> {
        let (mut order, mut lines, mut invoice, mut flag) = (None, Vec::new(), None, None);
        for item in items {
            match item {
                InOrder::Order(header) => order = Some(header),
                InOrder::OrderItem(item) => lines.push(item.line),
                InOrder::Invoice(found) => invoice = Some(found),
                InOrder::OrderFlag(found) => flag = Some(found),
                InOrder::Unknown => {}
            }
        }
        Some(WholeOrder { order: order?, lines, invoice: invoice?, flag })
    }
}

impl AccessPattern for OrderById<'_> {
    type Item = InOrder;

    const DECLARED: Declaration = Declaration {
        number: 3,
        question: "an order by its id, with all that belongs to it",
        place: PlaceText { sort: "", ..ORDER.text() },
        entities: &[Order::TYPE, OrderItem::TYPE, Invoice::TYPE, OrderFlag::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::Collection(43),
    };

    fn partition(&self) -> String {
        COLLECTION.fill((self.id,))
    }

    fn range(&self) -> SortRange {
        SortRange::Whole
    }
}

/// The lines of an order, by product id.
pub struct ProductsOfOrder<'a> {
    /// Which order.
    pub order: &'a OrderId,
}

impl AccessPattern for ProductsOfOrder<'_> {
    type Item = OrderItem;

    const DECLARED: Declaration = Declaration {
        number: 4,
        question: "the products of an order",
        place: ITEM.text(),
        entities: &[OrderItem::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        ITEM.partition.fill((self.order,))
    }

    fn range(&self) -> SortRange {
        ITEM.all()
    }
}

/// The orders that hold a product, in order of time: the line of each.
pub struct OrdersOfProduct<'a> {
    /// Which product.
    pub product: &'a ProductId,
    /// Placed when.
    pub placed: TimeRange,
}

impl AccessPattern for OrdersOfProduct<'_> {
    type Item = OrderItem;

    const DECLARED: Declaration = Declaration {
        number: 6,
        question: "the orders of a product in a range of time",
        place: ITEM_OF_PRODUCT.text(),
        entities: &[OrderItem::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        ITEM_OF_PRODUCT.partition.fill((self.product,))
    }

    fn range(&self) -> SortRange {
        ITEM_OF_PRODUCT.within(&self.placed)
    }
}

/// The products a customer ordered, in order of time: the line of each.
pub struct ProductsOfCustomer<'a> {
    /// Whose.
    pub customer: &'a CustomerId,
    /// Ordered when.
    pub placed: TimeRange,
}

impl AccessPattern for ProductsOfCustomer<'_> {
    type Item = OrderItem;

    const DECLARED: Declaration = Declaration {
        number: 10,
        question: "the products a customer ordered in a range of time",
        place: ITEM_OF_CUSTOMER.text(),
        entities: &[OrderItem::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        ITEM_OF_CUSTOMER.partition.fill((self.customer,))
    }

    fn range(&self) -> SortRange {
        ITEM_OF_CUSTOMER.within(&self.placed)
    }
}
