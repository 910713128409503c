//! `PUT /customers/{customerId}/cart`: puts down what a customer means to buy.

use std::collections::HashSet;

use http_api::{Answer, CartView, Example, IfMatch, Json, Kind, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::{Cart, CartLine, Stock};
use key_schema::layout::Consistency;
use key_schema::value::{ProductId, Timestamp};
use serde::Deserialize;
use table::{Budget, Condition, Error, Reader, Write, Writer, Written, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::put("/customers/{customerId}/cart", Scope::Shop)
    .summary("Put down a customer's cart, in place of the one before.")
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<Stock>(), Access::put::<Cart>()])
    .example(Example::at("09:42:00").path("ada").body(r#"{"lines":[{"productId":"espresso-cup","quantity":1}]}"#));

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

/// The cart replaces the one before; if `If-Match` names a version, only that one. A shop that sends several PUTs, or
/// whose customer has several devices, names the `ETag` of the cart it shows: then a PUT that is late replaces no newer
/// cart. Nothing is taken from stock by a cart, and prices are those of the day it is ordered.
pub async fn handle(
    (table, writer): (Reader, Writer),
    OwnCustomer(customer_id): OwnCustomer,
    if_match: Option<IfMatch>,
    Json(NewCart { lines }): Json<NewCart>,
    budget: Budget,
) -> Answer<Versioned<CartView>> {
    if lines.len() > MOST_LINES {
        return Err(Problem::new(Kind::TooLarge, format!("A cart holds at most {MOST_LINES} lines.")));
    }
    check_products(&table, &lines, budget).await?;

    let updated_at = Timestamp::now();
    let version = fastrand::u64(1..1 << 53);
    let expires_at = updated_at.as_second() + KEPT;
    let cart = Cart { customer_id, lines, updated_at, version: Some(version), expires_at };
    let write = match &if_match {
        None => Write::put(&cart)?,
        Some(if_match) => Write::put_if(&cart, if_match.condition()?.and(is_kept(updated_at)?))?,
    };
    match writer.write(write, budget).await? {
        Written::Done => Ok(Versioned::new(version, cart.into())),
        Written::ConditionFailed(Some(other)) => {
            let other: Cart = read_item(other)?;
            // The client's own retry may have found its first attempt done.
            if other.version == cart.version {
                return Ok(Versioned::new(version, cart.into()));
            }
            Err(Problem::version_conflict(other.version()))
        }
        Written::ConditionFailed(None) => Err(Problem::version_conflict(0)),
    }
}

/// The cart that is to be replaced must not be expired: DynamoDB deletes it some time after that.
fn is_kept(now: Timestamp) -> Result<Condition, Error> {
    Condition::new("#expiresAt > :now").value(":now", now.as_second())
}

/// Every line must be of a product that exists, and of another than the lines before.
async fn check_products(table: &Reader, lines: &[CartLine], budget: Budget) -> Answer<()> {
    let mut seen = HashSet::new();
    if let Some(at) = lines.iter().position(|line| !seen.insert(&line.product_id)) {
        let detail = format!("lines[{at}].productId is also in an earlier line: add up the quantities");
        return Err(Problem::new(Kind::Validation, detail));
    }
    // Products do not go away, so what the cheap read finds is there. Only what it does not find is asked for again.
    let mut unknown: Vec<&ProductId> = lines.iter().map(|line| &line.product_id).collect();
    for consistency in [Consistency::Eventual, Consistency::Strong] {
        // A product and its stock are made together, and the stock is small, however long a description is.
        let keys = unknown.iter().copied().map(Stock::key_of).collect();
        let known: Vec<Stock> = table.batch(keys, consistency, budget).await?;
        unknown.retain(|id| known.iter().all(|stock| stock.product_id != **id));
    }
    match unknown.first() {
        Some(id) => {
            let at = lines.iter().position(|line| line.product_id == **id).unwrap_or_default();
            Err(Problem::not_found("product").with("line", at).with("productId", id))
        }
        None => Ok(()),
    }
}
