//! The event of a customer.

use key_schema::entity::Customer;
use key_schema::value::{CustomerId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::EventId;
use crate::event::LAYOUT_VERSION;

/// A customer was erased. Receivers erase what they have about the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerErased {
    /// The event's own id.
    pub id: EventId,
    /// The version of this event's layout.
    pub layout_version: u32,
    /// The customer.
    pub customer_id: CustomerId,
    /// The time of the erasure.
    pub erased_at: Timestamp,
}

impl CustomerErased {
    /// The event of a profile's change. `None` if the change is not the erasure.
    pub(crate) fn new(before: &Customer, after: Customer) -> Option<Self> {
        let erased_at = after.erased_at.filter(|_| !before.is_erased())?;
        let id = EventId::of("CustomerErased", &[&after.customer_id]);
        Some(Self { id, layout_version: LAYOUT_VERSION, customer_id: after.customer_id, erased_at })
    }
}
