//! The destination of an order, as a request names it.

use key_schema::entity::{Address, NewAddress};
use key_schema::value::{AddressId, Country, Invalid, Line};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The address to which an order is shipped: a whole address, or the id of one in the customer's address book. The book
/// is read when the order is placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", untagged)]
pub enum ShipTo {
    /// An address of the customer's address book.
    Saved(SavedId),
    /// A whole address.
    Address(Address),
}

/// [`ShipTo`] in the OpenAPI document.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ShipTo)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ShipToForms {
    /// An address of the customer's address book.
    Saved(SavedId),
    /// A whole address.
    Address(NewAddress),
}

/// The id of an address in the customer's address book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedId {
    pub address_id: AddressId,
}

/// The fields of both forms. So a mistake in one of them gets a detail that names the field, which serde's untagged enums
/// do not give.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    address_id: Option<AddressId>,
    name: Option<Line>,
    line1: Option<Line>,
    line2: Option<Line>,
    city: Option<Line>,
    postal_code: Option<String>,
    region: Option<Line>,
    country: Option<Country>,
}

impl TryFrom<Fields> for ShipTo {
    type Error = Invalid;

    fn try_from(fields: Fields) -> Result<Self, Invalid> {
        let Fields { address_id, name, line1, line2, city, postal_code, region, country } = fields;
        let has_more = [&name, &line1, &line2, &city, &region].into_iter().any(Option::is_some);
        match address_id {
            Some(_) if has_more || postal_code.is_some() || country.is_some() => {
                Err(Invalid("must be either an addressId or a whole address".to_owned()))
            }
            Some(address_id) => Ok(Self::Saved(SavedId { address_id })),
            None => {
                let missing = |field: &str| Invalid(format!("missing field `{field}`"));
                let new = NewAddress {
                    name: name.ok_or_else(|| missing("name"))?,
                    line1: line1.ok_or_else(|| missing("line1"))?,
                    line2,
                    city: city.ok_or_else(|| missing("city"))?,
                    postal_code,
                    region,
                    country: country.ok_or_else(|| missing("country"))?,
                };
                Address::try_from(new).map(Self::Address)
            }
        }
    }
}
