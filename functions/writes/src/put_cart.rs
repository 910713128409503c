//! `PUT /customers/{customerId}/cart`: replaces the cart of a customer.

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
    .summary("Replace the cart of a customer.")
    .refuses(&[Kind::NotFound, Kind::CustomerErased])
    // Release 0.1.0 reads whole items, and runs under this release's role while it is deployed.
    .access(&[Access::exists::<Stock>(), Access::batch_get::<Stock>(), Access::put::<Cart>()])
    .example(Example::at("09:42:00").path("ada").body(r#"{"lines":[{"productId":"espresso-cup","quantity":1}]}"#));

/// The most lines of a cart: one BatchGetItem reads at most 100 products.
const MOST_LINES: usize = 100;

/// The time for which a cart is kept after its last write: 30 days.
const LIFETIME_SECONDS: i64 = 30 * 24 * 60 * 60;

/// A new cart.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCart {
    /// Up to 100 lines, each for a different product.
    #[schema(max_items = 100)]
    lines: Vec<CartLine>,
}

/// If `If-Match` names a version, only a cart with that version is replaced. A shop front that sends several PUTs, or
/// whose customer has several devices, should send the `ETag` of the cart that it shows. Then a late PUT does not
/// replace a newer cart. A cart reserves no stock and fixes no price.
///
/// An erased customer has an item that no cart replaces. So no cart is written after the erasure, and no request is needed
/// that reads the profile.
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
    let expires_at = updated_at.as_second() + LIFETIME_SECONDS;
    let cart = Cart { customer_id, lines, updated_at, version: Some(version), expires_at, erased_at: None };
    let write = match &if_match {
        None => Write::put_if(&cart, not_erased())?,
        Some(if_match) => {
            let is_meant = Condition::versions(if_match.versions())?.and(is_kept(updated_at)?);
            Write::put_if(&cart, is_meant.and(not_erased()))?
        }
    };
    match writer.write(write, budget).await? {
        Written::Done => Ok(Versioned::new(version, cart.into())),
        Written::ConditionFailed(Some(other)) => {
            let other: Cart = read_item(other)?;
            // If the SDK retried an attempt that had succeeded, the retry finds its own cart.
            if other.version == cart.version {
                return Ok(Versioned::new(version, cart.into()));
            }
            if other.is_erased() {
                return Err(Problem::new(Kind::CustomerErased, "An erased customer has no cart."));
            }
            Err(Problem::version_conflict(other.version()))
        }
        Written::ConditionFailed(None) => Err(Problem::version_conflict(0)),
    }
}

/// The cart to replace has not expired. DynamoDB deletes expired carts only some time later.
fn is_kept(now: Timestamp) -> Result<Condition, Error> {
    Condition::new("#expiresAt > :now").value(":now", now.as_second())
}

/// The customer is not erased.
fn not_erased() -> Condition {
    Condition::new("attribute_not_exists(#erasedAt)")
}

/// Refuses lines for products that do not exist, and more than one line for the same product.
async fn check_products(table: &Reader, lines: &[CartLine], budget: Budget) -> Answer<()> {
    let mut seen = HashSet::new();
    if let Some(at) = lines.iter().position(|line| !seen.insert(&line.product_id)) {
        let detail = format!("lines[{at}].productId is also in an earlier line: add up the quantities");
        return Err(Problem::new(Kind::Validation, detail));
    }
    // The shop never deletes products, so one found by the cheap read exists. Only the others are read again.
    let mut unknown: Vec<&ProductId> = lines.iter().map(|line| &line.product_id).collect();
    for consistency in [Consistency::Eventual, Consistency::Strong] {
        // Product and stock exist together. The stock is cheap to read; the product may have a long description.
        let keys = unknown.iter().copied().map(Stock::key_of).collect();
        let known = table.existing(keys, consistency, budget).await?;
        unknown.retain(|id| !known.contains(&Stock::key_of(id)));
    }
    match unknown.first() {
        Some(id) => {
            let at = lines.iter().position(|line| line.product_id == **id).unwrap_or_default();
            Err(Problem::not_found("product").with("line", at).with("productId", id))
        }
        None => Ok(()),
    }
}
