//! A generated history: ten years of orders, whose customers and products are popular by Zipf's law.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use key_schema::value::Timestamp;
use serde_json::{Value, json};

use crate::popularity::Popularity;

/// 2016-01-01 and 2026-01-01, in milliseconds.
const YEARS: [i64; 2] = [1_451_606_400_000, 1_767_225_600_000];
const PRODUCTS: usize = 200;
const MOST_LINES: usize = 3;
/// In cents.
const PRICE: u32 = 1_999;

/// Writes a history of this many orders. There is a customer for ten orders.
pub(super) fn write(file: &Path, orders: u32) -> Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    let (customers, products) =
        (Popularity::new((orders / 10).max(1).try_into()?, 1.0)?, Popularity::new(PRODUCTS, 1.0)?);
    let mut random = fastrand::Rng::with_seed(1);
    let mut line = |record: &Value| writeln!(out, "{record}").context("the history cannot be written");
    for rank in 0..customers.len() {
        line(&json!({
            "type": "customer", "customerId": format!("customer-{rank:07}"), "username": format!("user-{rank:07}"),
            "email": format!("user-{rank:07}@example.com"), "name": format!("Customer {rank:07}"),
            "createdAt": moment(0, 1)?,
        }))?;
    }
    for rank in 0..PRODUCTS {
        line(&json!({
            "type": "product", "productId": format!("product-{rank:04}"), "name": format!("Thing {rank:04}"),
            "category": format!("category-{}", rank % 10), "price": euros(PRICE), "available": 1_000_000,
        }))?;
    }
    for number in 0..orders {
        let mut chosen: Vec<usize> = Vec::new();
        for _ in 0..random.usize(1..=MOST_LINES) {
            let rank = products.rank(random.f64());
            if !chosen.contains(&rank) {
                chosen.push(rank);
            }
        }
        let lines: Vec<_> = chosen
            .iter()
            .map(|rank| {
                json!({ "productId": format!("product-{rank:04}"), "name": format!("Thing {rank:04}"), "quantity": 1,
                    "unitPrice": euros(PRICE) })
            })
            .collect();
        let total = euros(PRICE * u32::try_from(chosen.len())?);
        line(&json!({
            "type": "order", "orderId": format!("order-{number:08}"),
            "customerId": format!("customer-{:07}", customers.rank(random.f64())), "status": "DELIVERED",
            "placedAt": moment(number, orders)?, "lines": lines, "total": total,
            "card": { "amount": total, "status": "captured", "reference": format!("bank-{number:08}") },
        }))?;
    }
    out.flush().context("the history cannot be written")
}

fn euros(cents: u32) -> Value {
    json!({ "amount": cents, "currency": "EUR" })
}

/// The moment after this part of the years.
fn moment(part: u32, of: u32) -> Result<String> {
    let [first, last] = YEARS;
    let at = Timestamp::from_millisecond(first + (last - first) * i64::from(part) / i64::from(of));
    Ok(at.context("a moment of this century")?.to_string())
}
