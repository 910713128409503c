use key_schema::entity::{Cart, CartLine};
use key_schema::value::{CartVersion, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A cart.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Cart)]
pub struct CartView {
    lines: Vec<CartLine>,
    /// The version by which an order may name the cart. It changes with each PUT.
    #[schema(value_type = CartVersion)]
    version: u64,
    updated_at: Timestamp,
    /// The moment from which the cart no longer exists.
    expires_at: Option<Timestamp>,
}

impl From<Cart> for CartView {
    fn from(cart: Cart) -> Self {
        let expires_at = Timestamp::from_millisecond(cart.expires_at.saturating_mul(1000));
        Self { lines: cart.lines, version: cart.version, updated_at: cart.updated_at, expires_at }
    }
}
