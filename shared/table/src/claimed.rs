//! Guests whom a customer has claimed.

use key_schema::access::{Access, GUESTS};
use key_schema::layout::{CUSTOMER_BY_ID, InCustomer};
use key_schema::value::{CustomerId, Timestamp};

use crate::{Error, Reader};

/// The requests of [`Reader::may_access`].
pub const MAY_ACCESS: &[Access] = &[Access::query(CUSTOMER_BY_ID).of_partitions(GUESTS)];

impl Reader {
    /// Whether this customer may see and change what belongs to `owner`. Staff, who are `None`, may. So may the owner, and
    /// the customer who has claimed the owner, if that is a guest.
    ///
    /// The table is read in the last case alone: one request, strongly consistent, so a claim holds at once and ends with
    /// the guest's profile.
    ///
    /// # Errors
    /// The read failed.
    pub async fn may_access(&self, customer: Option<&CustomerId>, owner: &CustomerId) -> Result<bool, Error> {
        let Some(customer) = customer.filter(|customer| *customer != owner) else { return Ok(true) };
        // A guest claims nobody.
        if !owner.is_guest() || customer.is_guest() {
            return Ok(false);
        }
        let items = self.collection(&CUSTOMER_BY_ID.ask(owner)).await?;
        let guest = InCustomer::guest(&items).filter(|guest| !guest.is_expired(Timestamp::now()));
        Ok(guest.is_some_and(|guest| guest.is_claimed_by(customer)))
    }
}
