use key_schema::entity::Guest;
use key_schema::value::{CustomerId, EmailAddress, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A guest.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Guest)]
pub struct GuestView {
    /// The SHA-256 of the guest's secret, in base64url, after `guest-`.
    guest_id: CustomerId,
    #[schema(value_type = String)]
    email: EmailAddress,
    name: String,
    created_at: Timestamp,
    /// The customer who has claimed the guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<CustomerId>,
}

impl From<Guest> for GuestView {
    fn from(guest: Guest) -> Self {
        Self {
            guest_id: guest.customer_id,
            email: guest.email,
            name: guest.name,
            created_at: guest.created_at,
            claimed_by: guest.claimed_by,
        }
    }
}
