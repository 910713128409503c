//! Whether the shop serves guests.

use http_api::{Answer, Kind, Problem};
use ordering::Guests;

/// Refuses guests in a shop that serves none.
pub(crate) fn are_served(Guests(are_served): Guests) -> Answer<()> {
    if are_served {
        Ok(())
    } else {
        Err(Problem::new(Kind::Forbidden, "This shop takes orders of customers only. Sign up."))
    }
}
