//! The items of a new order, made from its quote.

use key_schema::entity::{Invoice, Order, OrderAddress, OrderStatus, WholeOrder};
use key_schema::value::{InvoiceId, OrderId, Timestamp};
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
        order_id: id.clone(),
        customer_id: ask.customer.clone(),
        status,
        placed_at: now,
        changed_at: now,
        version: 1,
        subtotal: quote.subtotal,
        discount: quote.discount,
        codes: quote.codes,
        tax: quote.tax,
        shipping: quote.shipping,
        shipping_tax: quote.shipping_tax,
        total: quote.total,
        request_hash: ask.basket.hash().clone(),
        // A basket has at most 40 lines.
        line_count: u8::try_from(quote.lines.len()).unwrap_or(u8::MAX),
        units,
        // An order that gift cards pay waits for nothing.
        pay_later: ask.basket.request().pay_later && status == OrderStatus::Pending,
        has_address: quote.address.is_some(),
        shard: id.spread(status_shards.0),
        cancellation: None,
        credits: Vec::new(),
        returning: Vec::new(),
        return_count: 0,
        shipped: Vec::new(),
        shipment_count: 0,
        delivered_count: 0,
        delivered_at: None,
        imported_at: None,
    };
    let invoice = Invoice {
        invoice_id: InvoiceId::of(id),
        order_id: id.clone(),
        customer_id: ask.customer.clone(),
        issued_at: now,
        amount: quote.total,
        taxes: order.taxes(&quote.lines),
        unnumbered,
        number: None,
        payments: quote.payments,
    };
    let address = quote.address.map(|address| OrderAddress { order_id: id.clone(), address });
    WholeOrder { order, lines: quote.lines, invoice, address, flag: None, returns: Vec::new(), shipments: Vec::new() }
}
