//! Addresses: of a customer's address book, and of an order.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{AddressId, Country, CustomerId, Invalid, Line, OrderId, Timestamp, past_postal_code, postal_code};

/// A postal address. It was validated when it was given.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// The name of the person or the company that receives the parcel.
    pub name: String,
    /// The street and the number, or what the country has instead.
    pub line1: String,
    #[schema(nullable = false)]
    pub line2: Option<String>,
    pub city: String,
    #[schema(nullable = false)]
    pub postal_code: Option<String>,
    /// The state or the province, where addresses have one.
    #[schema(nullable = false)]
    pub region: Option<String>,
    #[serde(deserialize_with = "Country::stored")]
    pub country: Country,
}

/// An address as a client gives it.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAddress {
    /// The name of the person or the company that receives the parcel.
    pub name: Line,
    /// The street and the number, or what the country has instead.
    pub line1: Line,
    pub line2: Option<Line>,
    pub city: Line,
    /// The postal code, in a form that the country has. Most countries need one.
    #[schema(max_length = 20)]
    pub postal_code: Option<String>,
    /// The state or the province, where addresses have one.
    pub region: Option<Line>,
    pub country: Country,
}

impl TryFrom<NewAddress> for Address {
    type Error = Invalid;

    fn try_from(new: NewAddress) -> Result<Self, Invalid> {
        let code = postal_code(&new.country, new.postal_code.as_deref())?;
        Ok(new.with(code))
    }
}

impl NewAddress {
    fn with(self, postal_code: Option<String>) -> Address {
        let Self { name, line1, line2, city, postal_code: _, region, country } = self;
        Address {
            name: name.into(),
            line1: line1.into(),
            line2: line2.map(String::from),
            city: city.into(),
            postal_code,
            region: region.map(String::from),
            country,
        }
    }
}

/// The address of an order of the past. Its postal code need not have a form that the country has today.
#[derive(Debug, Deserialize)]
#[serde(try_from = "NewAddress")]
pub struct PastAddress(Address);

impl TryFrom<NewAddress> for PastAddress {
    type Error = Invalid;

    fn try_from(new: NewAddress) -> Result<Self, Invalid> {
        let code = new.postal_code.as_deref();
        let code = postal_code(&new.country, code).or_else(|_| past_postal_code(code))?;
        Ok(Self(new.with(code)))
    }
}

impl From<PastAddress> for Address {
    fn from(PastAddress(address): PastAddress) -> Self {
        address
    }
}

/// As much of an address as prices depend on. It names nobody.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "NewDestination")]
pub struct Destination {
    pub country: Country,
    pub region: Option<String>,
    pub city: Option<String>,
    pub postal_code: Option<String>,
}

/// A destination as a client gives it.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Destination)]
pub struct NewDestination {
    pub country: Country,
    /// The postal code, in a form that the country has.
    #[schema(max_length = 20)]
    pub postal_code: Option<String>,
}

impl TryFrom<NewDestination> for Destination {
    type Error = Invalid;

    fn try_from(NewDestination { country, postal_code: code }: NewDestination) -> Result<Self, Invalid> {
        let postal_code = code.map_or(Ok(None), |code| postal_code(&country, Some(&code)))?;
        Ok(Self { country, region: None, city: None, postal_code })
    }
}

impl From<&Address> for Destination {
    fn from(Address { city, postal_code, region, country, .. }: &Address) -> Self {
        Self {
            country: country.clone(),
            region: region.clone(),
            city: Some(city.clone()),
            postal_code: postal_code.clone(),
        }
    }
}

/// A customer's address book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerAddresses {
    pub customer_id: CustomerId,
    /// The addresses, each with a different id.
    pub addresses: Vec<SavedAddress>,
    /// The address that a shop front proposes. One of the addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<AddressId>,
    pub updated_at: Timestamp,
    /// A random version, the `ETag`. Being random, it can be replaced without reading the book. JSON can hold it exactly.
    pub version: u64,
}

/// An address of an address book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedAddress {
    pub address_id: AddressId,
    #[serde(flatten)]
    pub address: Address,
}

/// The address of an order: a snapshot of the moment at which the order was placed. Later changes of the address book do
/// not affect it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderAddress {
    pub order_id: OrderId,
    #[serde(flatten)]
    pub address: Address,
}

impl CustomerAddresses {
    /// The most addresses of a book.
    pub const MOST: usize = 20;

    /// The address with this id.
    pub fn address(&self, id: &AddressId) -> Option<&Address> {
        self.addresses.iter().find(|saved| saved.address_id == *id).map(|saved| &saved.address)
    }
}
