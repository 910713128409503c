use key_schema::entity::{CustomerAddresses, SavedAddress};
use key_schema::value::{AddressId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// The address book of a customer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Addresses)]
pub struct AddressesView {
    addresses: Vec<SavedAddress>,
    /// The id of the address that a shop front proposes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    default: Option<AddressId>,
    updated_at: Timestamp,
}

impl From<CustomerAddresses> for AddressesView {
    fn from(book: CustomerAddresses) -> Self {
        let CustomerAddresses { addresses, default, updated_at, customer_id: _, version: _ } = book;
        Self { addresses, default, updated_at }
    }
}
