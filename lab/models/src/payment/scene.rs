//! The order whose payment the model follows.

use key_schema::entity::{CardPayment, Invoice, Order, OrderLine, OrderStatus, Payment, WholeOrder};
use key_schema::value::{Currency, InvoiceId, Money, OrderId, RequestHash};

use super::{WHOLE, now};

/// An order that waits for its payment.
pub(super) fn placed() -> WholeOrder {
    let order_id: OrderId = "order".parse().expect("an id");
    let amount = Money::nearest(WHOLE, Currency::try_from("EUR".to_owned()).expect("a currency"));
    let customer_id = || "ada".parse().expect("an id");
    WholeOrder {
        order: Order {
            order_id: order_id.clone(),
            customer_id: customer_id(),
            status: OrderStatus::Pending,
            placed_at: now(),
            changed_at: now(),
            version: 1,
            subtotal: amount,
            tax: None,
            discount: Money::zero(amount.currency()),
            codes: Vec::new(),
            total: amount,
            request_hash: RequestHash::of(b""),
            line_count: 1,
            units: 2,
            pay_later: false,
            shipping: None,
            shipping_tax: None,
            has_address: false,
            shard: 0,
            cancellation: None,
            credits: Vec::new(),
            returning: Vec::new(),
            return_count: 0,
            shipped: Vec::new(),
            shipment_count: 0,
            delivered_count: 0,
            delivered_at: None,
            imported_at: None,
        },
        lines: vec![OrderLine {
            product_id: "thing".parse().expect("an id"),
            name: "A thing".to_owned(),
            quantity: 2.try_into().expect("a quantity"),
            unit_price: Money::nearest(WHOLE / 2, amount.currency()),
            amount,
            discount: None,
            tax: None,
        }],
        invoice: Invoice {
            invoice_id: InvoiceId::of(&order_id),
            order_id,
            customer_id: customer_id(),
            issued_at: now(),
            amount,
            taxes: Vec::new(),
            unnumbered: None,
            number: None,
            payments: vec![Payment::Card(CardPayment::of(amount))],
        },
        address: None,
        flag: None,
        returns: Vec::new(),
        shipments: Vec::new(),
    }
}
