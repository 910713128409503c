use key_schema::entity::{Cart, CartLine};
use key_schema::value::{CartVersion, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A cart.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Cart)]
pub struct CartView {
    lines: Vec<CartLine>,
    /// The version by which an order may name the cart. It changes with each PUT. Absent if there is no cart, as are the
    /// times.
    #[schema(value_type = Option<CartVersion>, nullable = false)]
    version: Option<u64>,
    #[schema(nullable = false)]
    updated_at: Option<Timestamp>,
    /// The moment from which the cart no longer exists.
    expires_at: Option<Timestamp>,
}

impl CartView {
    /// The cart of a customer who has none.
    pub const fn empty() -> Self {
        Self { lines: Vec::new(), version: None, updated_at: None, expires_at: None }
    }
}

impl From<Cart> for CartView {
    fn from(cart: Cart) -> Self {
        let expires_at = Timestamp::from_millisecond(cart.expires_at.saturating_mul(1000));
        Self { lines: cart.lines, version: Some(cart.version), updated_at: Some(cart.updated_at), expires_at }
    }
}
