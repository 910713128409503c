//! The records of random orders.

use anyhow::Result;
use counting::{Change, Record};
use key_schema::entity::{Order, OrderItem};
use key_schema::value::Day;
use serde_json::json;

use crate::popularity::Popularity;

/// The number of records of an order: its header and its one line.
pub(super) const RECORDS: u64 = 2;

/// The orders of a busy day, as in `cargo measure partitions`: 10,000 products by Zipf's law, and a million customers.
pub(super) struct Orders {
    products: Popularity,
    customers: Popularity,
    order: Order,
    line: OrderItem,
}

impl Orders {
    pub(super) fn new() -> Result<Self> {
        let money = json!({ "amount": 1999, "currency": "EUR" });
        let order = json!({
            "orderId": "order", "customerId": "customer", "status": "PENDING", "placedAt": "2026-11-27T12:00:00Z",
            "version": 1, "subtotal": money, "discount": { "amount": 0, "currency": "EUR" }, "total": money,
            "requestHash": "", "lineCount": 1, "units": 1, "shard": 0,
        });
        let line = json!({
            "orderId": "order", "customerId": "customer", "placedAt": "2026-11-27T12:00:00Z", "shard": 0,
            "productId": "product", "name": "A thing", "quantity": 1, "unitPrice": money, "amount": money,
        });
        Ok(Self {
            products: Popularity::new(10_000, 1.0)?,
            customers: Popularity::new(1_000_000, 0.75)?,
            order: serde_json::from_value(order)?,
            line: serde_json::from_value(line)?,
        })
    }

    /// The day of all orders.
    pub(super) fn day(&self) -> Day {
        self.order.placed_at.day()
    }

    /// The records of the next order, from this sequence number on.
    pub(super) fn next(&self, number: u64, random: &mut fastrand::Rng) -> Result<[Record; 2]> {
        let mut order = self.order.clone();
        order.customer_id = format!("customer-{:07}", self.customers.rank(random.f64())).parse()?;
        let mut line = self.line.clone();
        line.line.product_id = format!("product-{:05}", self.products.rank(random.f64())).parse()?;
        let changes = [Change::Placed(order), Change::Line(line)];
        let [header, line] = [number, number + 1].map(|number| format!("{number:021}").parse());
        let [placed, ordered] = changes.map(Ok);
        Ok([Record { number: header?, change: placed }, Record { number: line?, change: ordered }])
    }
}
