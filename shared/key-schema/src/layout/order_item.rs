//! Order lines.

use crate::entity::{Order, OrderItem};
use crate::value::{CustomerId, LinePosition, OrderId, ProductId, TimeRange, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template, customer, order, product};

const ITEM: Place<OrderId, ProductId> = Place::table(order::COLLECTION, product::COLLECTION);
const OF_PRODUCT: Place<(ProductId, u8), (Timestamp, OrderId)> =
    Place::gsi1(Template::new("p#{productId}{#shard}"), order::BY_TIME);
const OF_CUSTOMER: Place<CustomerId, (Timestamp, OrderId, LinePosition, ProductId)> =
    Place::gsi2(customer::COLLECTION, Template::new("p#{placedAt}#{orderId}#{position}#{productId}"));

/// The beginning of the keys that an order's lines have in [`OF_CUSTOMER`].
const LINES: Template<(Timestamp, OrderId)> = Template::new("p#{placedAt}#{orderId}");

/// The lines of an order, by product id: [`OrderItem::lines`] puts them in the order of the request.
pub const PRODUCTS_OF_ORDER: Pattern<OrderId, OrderItem> = ITEM.list(4, "the products of an order");
/// The order lines of one shard of a product, oldest first. The list of a product is the merge of all its shards.
pub const ORDERS_OF_PRODUCT: Pattern<(ProductId, u8, TimeRange), OrderItem> =
    OF_PRODUCT.list(6, "the orders of a product in a range of time, shards merged");
/// The order lines of a customer, oldest first, and those of one order in the order of the request.
pub const PRODUCTS_OF_CUSTOMER: Pattern<(CustomerId, TimeRange), OrderItem> =
    OF_CUSTOMER.list(10, "the products a customer ordered in a range of time");

impl Order {
    /// The position of an order in [`PRODUCTS_OF_CUSTOMER`]: its lines are the next items after it.
    pub fn position_of_lines(&self) -> String {
        LINES.fill((&self.placed_at, &self.order_id))
    }
}

impl Stored for OrderItem {
    const PLACES: &'static [PlaceText] = &[ITEM.text(), OF_PRODUCT.text(), OF_CUSTOMER.text()];

    fn key(&self) -> Key {
        ITEM.key(&self.order_id, &self.line.product_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        let product = &self.line.product_id;
        vec![
            OF_PRODUCT.key((product, &self.shard), (&self.placed_at, &self.order_id)),
            OF_CUSTOMER.key(&self.customer_id, (&self.placed_at, &self.order_id, &self.position, product)),
        ]
    }
}
