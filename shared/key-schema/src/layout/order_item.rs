//! Order lines.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 4 [`ProductsOfOrder`] | table | `o#{orderId}` | `p#{productId}` |
//! | 6 [`OrdersOfProduct`] | GSI1 | `p#{productId}{#shard}` | `{placedAt}#{orderId}` |
//! | 10 [`ProductsOfCustomer`] | GSI2 | `c#{customerId}` | `p#{placedAt}#{orderId}#{productId}` |

use crate::entity::{Entity as _, OrderItem};
use crate::value::{CustomerId, OrderId, ProductId, TimeRange, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    customer, order, product,
};

const ITEM: Place<(OrderId,), (ProductId,)> = Place::table(order::COLLECTION, product::COLLECTION);
const OF_PRODUCT: Place<(ProductId, u8), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("p#{productId}{#shard}"), order::BY_TIME);
const OF_CUSTOMER: Place<(CustomerId,), (Timestamp, OrderId, ProductId)> =
    Place::gsi2(customer::COLLECTION, Template::new("p#{placedAt}#{orderId}#{productId}"));

impl Stored for OrderItem {
    const PLACES: &'static [PlaceText] = &[ITEM.text(), OF_PRODUCT.text(), OF_CUSTOMER.text()];

    fn key(&self) -> Key {
        ITEM.key((&self.order_id,), (&self.line.product_id,))
    }

    fn index_keys(&self) -> Vec<Key> {
        let product = &self.line.product_id;
        vec![
            OF_PRODUCT.key((product, &self.shard), (&self.placed_at, &self.order_id)),
            OF_CUSTOMER.key((&self.customer_id,), (&self.placed_at, &self.order_id, product)),
        ]
    }
}

/// The lines of an order, sorted by product id.
pub struct ProductsOfOrder<'a> {
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

/// The order lines of one shard of a product, oldest first. The list of a product is the merge of all its shards.
pub struct OrdersOfProduct<'a> {
    pub product: &'a ProductId,
    pub shard: u8,
    pub placed: &'a TimeRange,
}

impl<'a> OrdersOfProduct<'a> {
    /// The patterns of all shards of the list.
    pub fn in_shards(product: &'a ProductId, shards: u8, placed: &'a TimeRange) -> Vec<Self> {
        (0..shards).map(|shard| Self { product, shard, placed }).collect()
    }

    /// The position of an order in the list. It does not depend on the shard.
    pub fn position(placed_at: &Timestamp, order: &OrderId) -> String {
        OF_PRODUCT.sort.fill((placed_at, order))
    }
}

impl AccessPattern for OrdersOfProduct<'_> {
    type Item = OrderItem;

    const DECLARED: Declaration = Declaration {
        number: 6,
        question: "the orders of a product in a range of time, shards merged",
        place: OF_PRODUCT.text(),
        entities: &[OrderItem::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OF_PRODUCT.partition.fill((self.product, &self.shard))
    }

    fn range(&self) -> SortRange {
        OF_PRODUCT.within(self.placed)
    }
}

/// The order lines of a customer, oldest first.
pub struct ProductsOfCustomer<'a> {
    pub customer: &'a CustomerId,
    pub placed: TimeRange,
}

impl AccessPattern for ProductsOfCustomer<'_> {
    type Item = OrderItem;

    const DECLARED: Declaration = Declaration {
        number: 10,
        question: "the products a customer ordered in a range of time",
        place: OF_CUSTOMER.text(),
        entities: &[OrderItem::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OF_CUSTOMER.partition.fill((self.customer,))
    }

    fn range(&self) -> SortRange {
        OF_CUSTOMER.within(&self.placed)
    }
}
