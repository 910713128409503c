//! `PUT /customers/{customerId}/cart`: puts down what a customer means to buy.

use std::collections::HashSet;

use edge::{Answer, CartView, Description, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::{Cart, CartLine, Product};
use key_schema::layout::Consistency;
use key_schema::value::Timestamp;
use serde::Deserialize;
use table::{Reader, Write, Writer};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::put("/customers/{customerId}/cart", Scope::Shop);

/// As many products as one BatchGetItem can look up.
const MOST_LINES: usize = 100;

/// How long a cart is kept after it was last put down: 30 days, in seconds.
const KEPT: i64 = 30 * 24 * 60 * 60;

/// A cart.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCart {
    /// Up to 100 lines, each of another product.
    #[schema(max_items = 100)]
    lines: Vec<CartLine>,
}

/// The cart replaces the one before. Nothing is taken from stock by it, and prices are those of the day it is ordered.
pub async fn handle((table, writer): (Reader, Writer), request: Request) -> Answer {
    let customer_id = request.own_customer()?;
    let NewCart { lines } = request.json()?;
    if lines.len() > MOST_LINES {
        return Err(Problem::new(Kind::TooLarge, format!("A cart holds at most {MOST_LINES} lines.")));
    }
    check_products(&table, &lines, &request).await?;

    let updated_at = Timestamp::now();
    let cart = Cart { customer_id, lines, updated_at, expires_at: updated_at.as_second() + KEPT };
    // Without a condition there is none to fail.
    let _ = writer.write(Write::put(&cart)?, request.budget()).await?;
    Reply::ok(&CartView::from(cart))
}

/// Every line must be of a product that exists, and of another than the lines before.
async fn check_products(table: &Reader, lines: &[CartLine], request: &Request) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    if let Some(at) = lines.iter().position(|line| !seen.insert(&line.product_id)) {
        let detail = format!("lines[{at}].productId stands in an earlier line too: add up the quantities");
        return Err(Problem::new(Kind::Validation, detail));
    }
    if lines.is_empty() {
        return Ok(());
    }
    let keys = lines.iter().map(|line| Product::key_of(&line.product_id)).collect();
    let known: Vec<Product> = table.batch(keys, Consistency::Strong, request.budget()).await?;
    let unknown = |line: &CartLine| known.iter().all(|product| product.product_id != line.product_id);
    match lines.iter().enumerate().find(|(_, line)| unknown(line)) {
        Some((at, line)) => Err(Problem::not_found("product").with("line", at).with("productId", &line.product_id)),
        None => Ok(()),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Put down a customer's cart, in place of the one before.")
        .accepts::<NewCart>()
        .answers::<CartView>()
        .refuses(&[Kind::NotFound])
}
