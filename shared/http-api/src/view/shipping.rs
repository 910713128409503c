use key_schema::entity::{ShippingRates, ShippingZone};
use key_schema::value::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The shipping rates of the shop.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Shipping)]
pub struct ShippingView {
    /// The zones. Without zones, shipping costs nothing and goes everywhere.
    zones: Vec<ShippingZone>,
    /// Absent before staff have written the rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    updated_at: Option<Timestamp>,
}

impl From<ShippingRates> for ShippingView {
    fn from(rates: ShippingRates) -> Self {
        Self { zones: rates.zones, updated_at: Some(rates.updated_at) }
    }
}
