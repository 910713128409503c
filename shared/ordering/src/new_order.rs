//! The items of a new order, made from its quote.

use key_schema::entity::{Order, OrderAddress, OrderStatus, WholeOrder};
use key_schema::value::{OrderId, Timestamp};
use table::StatusShards;

use crate::PlaceOrder;
use crate::quote::Quote;

/// An order that is placed now with this quote. Its invoice waits for a number in the shard `unnumbered`.
pub(crate) fn new_order(
    ask: &PlaceOrder,
    id: &OrderId,
    status_shards: StatusShards,
    unnumbered: Option<u8>,
    quote: Quote,
    now: Timestamp,
) -> WholeOrder {
    let units = quote.units();
    let status = OrderStatus::when_placed(&quote.payments);
    let order = Order {
        status,
        subtotal: quote.subtotal,
        discount: quote.discount,
        codes: quote.codes,
        tax: quote.tax,
        shipping: quote.shipping,
        shipping_tax: quote.shipping_tax,
        request_hash: ask.basket.hash().clone(),
        // A basket has at most 40 lines.
        line_count: u8::try_from(quote.lines.len()).unwrap_or(u8::MAX),
        units,
        // An order that gift cards pay waits for nothing.
        pay_later: ask.basket.request().pay_later && status == OrderStatus::Pending,
        has_address: quote.address.is_some(),
        shard: id.spread(status_shards.0),
        ..Order::new(id.clone(), ask.customer.clone(), now, quote.total)
    };
    let mut whole = WholeOrder::new(order, quote.lines, quote.payments);
    whole.invoice.unnumbered = unnumbered;
    whole.address = quote.address.map(|address| OrderAddress { order_id: id.clone(), address });
    whole
}
