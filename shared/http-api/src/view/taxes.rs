use key_schema::entity::{CountryTaxes, Taxes};
use key_schema::value::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The tax rates of the shop.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Taxes)]
pub struct TaxesView {
    /// The rates, a country each. An order to another country is not taxed.
    countries: Vec<CountryTaxes>,
    /// Absent before staff have written the rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    updated_at: Option<Timestamp>,
}

impl From<Taxes> for TaxesView {
    fn from(Taxes { countries, updated_at, version: _ }: Taxes) -> Self {
        Self { countries, updated_at: Some(updated_at) }
    }
}
