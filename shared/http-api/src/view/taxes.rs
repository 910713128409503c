use key_schema::entity::{CountryTaxes, Taxes};
use key_schema::value::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The tax rates of the shop.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Taxes)]
pub struct TaxesView {
    countries: Vec<CountryTaxes>,
    updated_at: Timestamp,
}

impl From<Taxes> for TaxesView {
    fn from(Taxes { countries, updated_at, version: _ }: Taxes) -> Self {
        Self { countries, updated_at }
    }
}
