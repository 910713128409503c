//! `PUT /customers/{customerId}/cart`: replaces the cart of a customer.

use std::collections::HashMap;

use http_api::{Answer, CartView, Example, IfMatch, Json, Kind, OwnCustomer, Problem, Route, Scope, Versioned};
use images::Urls;
use key_schema::access::Access;
use key_schema::entity::{Cart, CartLine, Product};
use key_schema::value::{CartVersion, CustomerId, ProductId, Quantity, Timestamp, repeated};
use lambda::{Environment, FromEnvironment, Misconfigured};
use serde::Deserialize;
use table::{Budget, Condition, Error, Reader, Write, Writer, Written, read_item};
use utoipa::ToSchema;

use crate::carts::is_gone;

pub const ROUTE: Route = Route::put("/customers/{customerId}/cart", Scope::Shop)
    .summary("Replace the cart of a customer.")
    .refuses(&[Kind::NotFound, Kind::CustomerErased])
    .access(catalogue::READ_PRODUCTS)
    .access(&[Access::batch_get::<Cart>(), Access::put::<Cart>()])
    .example(Example::at("09:42:00").path("ada").body(r#"{"lines":[{"productId":"espresso-cup","quantity":1}]}"#));

/// The most lines of a cart: one BatchGetItem reads at most 100 items, the products and the cart that is replaced.
const MOST_LINES: usize = 99;

/// The time for which a cart is kept after its last write: 30 days.
const LIFETIME_SECONDS: i64 = 30 * 24 * 60 * 60;

/// A new cart.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCart {
    /// Up to 99 lines, each for a different product.
    #[schema(max_items = 99)]
    lines: Vec<NewCartLine>,
}

/// One line of a new cart.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewCartLine {
    /// The product.
    product_id: ProductId,
    /// The number of units.
    quantity: Quantity,
}

/// Writes carts, each version once.
#[derive(Clone, Debug)]
pub struct Carts(Writer);

impl FromEnvironment for Carts {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        // The retry of a write that was done would bring back a cart that has become an order since.
        Ok(Self(Writer::from_environment(environment)?.no_retry_if_unanswered()))
    }
}

/// If `If-Match` names a version, only a cart with that version is replaced. A shop front that sends several PUTs, or
/// whose customer has several devices, should send the `ETag` of the cart that it shows. Then a late PUT does not
/// replace a newer cart. A cart reserves no stock and fixes no price. A product that was in the cart before keeps the offer
/// of the time when it was added.
///
/// An erased customer has an item that no cart replaces. So no cart is written after the erasure, and no request is needed
/// that reads the profile.
pub async fn handle(
    (table, carts, urls): (Reader, Carts, Urls),
    OwnCustomer(customer_id): OwnCustomer,
    if_match: Option<IfMatch>,
    Json(NewCart { lines }): Json<NewCart>,
    budget: Budget,
) -> Answer<Versioned<CartView>> {
    if lines.len() > MOST_LINES {
        return Err(Problem::new(Kind::TooLarge, format!("A cart holds at most {MOST_LINES} lines.")));
    }
    let ids = || lines.iter().map(|line| &line.product_id);
    if let Some(at) = repeated(ids()) {
        let detail = format!("lines[{at}].productId is also in an earlier line: add up the quantities");
        return Err(Problem::new(Kind::Validation, detail));
    }
    let key = Cart::key_of(&customer_id);
    let (products, before) = catalogue::products(&table, ids(), Some(key), budget).await?;
    let lines = with_offers(lines, &products, before.filter(|cart| !cart.is_absent(Timestamp::now())))?;

    let cart = carts.put(&customer_id, lines, if_match.as_ref(), budget).await?;
    let version = cart.version;
    let view = CartView::new(cart, products, |product| urls.thumbnail(product));
    Ok(Versioned::new(version, view.ok_or(Error::Inconsistent("the cart has other lines than were written"))?))
}

impl Carts {
    /// Writes a cart with a new version. A write that was not answered is followed by one with another version: an order
    /// may have been made of the first one, and no version is written twice.
    async fn put(
        &self,
        customer: &CustomerId,
        lines: Vec<CartLine>,
        if_match: Option<&IfMatch>,
        budget: Budget,
    ) -> Answer<Cart> {
        let updated_at = Timestamp::now();
        let expires_at = updated_at.as_second() + LIFETIME_SECONDS;
        let (customer_id, erased_at) = (customer.clone(), None);
        let mut cart = Cart { customer_id, lines, updated_at, version: 0, expires_at, erased_at };
        let mut unanswered = Vec::new();
        let mut retries = budget.retries();
        loop {
            cart.version = CartVersion::of_random(fastrand::u64(..)).get();
            match self.0.write(Write::put_if(&cart, may_be_put(if_match, updated_at)?)?, budget).await {
                Ok(Written::Done) => return Ok(cart),
                Ok(Written::ConditionFailed(other)) => {
                    let other: Option<Cart> = other.map(read_item).transpose()?;
                    return match other {
                        Some(other) if unanswered.contains(&other.version) => Ok(other),
                        Some(other) if other.is_erased() => {
                            Err(Problem::new(Kind::CustomerErased, "An erased customer has no cart."))
                        }
                        other => Err(Problem::version_conflict(other.map_or(0, |other| other.version))),
                    };
                }
                Err(error @ Error::Unanswered(_)) => {
                    unanswered.push(cart.version);
                    if !retries.pause().await {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn may_be_put(if_match: Option<&IfMatch>, now: Timestamp) -> Result<Condition, Error> {
    let Some(versions) = if_match.and_then(IfMatch::versions) else { return Ok(Condition::not_erased()) };
    let is_named = Condition::versions(Some(versions))?.and(is_kept(now)?);
    // The version of the empty cart that is shown where there is none.
    let is_named = if versions.contains(&0) { is_named.or(is_gone(now)?) } else { is_named };
    Ok(is_named.and(Condition::not_erased()))
}

/// The cart to replace has not expired. DynamoDB deletes expired carts only some time later.
fn is_kept(now: Timestamp) -> Result<Condition, Error> {
    Condition::new("#expiresAt > :now").value(":now", now.as_second())
}

/// The lines, each with the offer when its product was added: to the cart before, or now. Refuses a product that does not
/// exist.
fn with_offers(
    lines: Vec<NewCartLine>,
    products: &HashMap<ProductId, Product>,
    before: Option<Cart>,
) -> Answer<Vec<CartLine>> {
    let before = before.into_iter().flat_map(|cart| cart.lines);
    let mut added: HashMap<_, _> = before.map(|line| (line.product_id, line.when_added)).collect();
    let lines = lines.into_iter().enumerate().map(|(at, NewCartLine { product_id, quantity })| {
        let unknown = || Problem::not_found("product").with("line", at).with("productId", &product_id);
        let now = products.get(&product_id).ok_or_else(unknown)?.offer();
        let when_added = added.remove(&product_id).unwrap_or(now);
        Ok(CartLine { product_id, quantity, when_added })
    });
    lines.collect()
}
