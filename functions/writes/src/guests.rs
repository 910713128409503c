//! What guests may ask for.

use http_api::{Answer, Kind, Problem};
use ordering::{Guests, MOST_GUEST_LINES, RequestedLine};

/// Refuses guests in a shop that serves none.
pub(crate) fn are_served(Guests(are_served): Guests) -> Answer<()> {
    if are_served {
        Ok(())
    } else {
        Err(Problem::new(Kind::Forbidden, "This shop takes orders of customers only. Sign up."))
    }
}

/// Refuses more lines than an order of a guest has.
pub(crate) fn are_few(lines: &[RequestedLine]) -> Answer<()> {
    if lines.len() > MOST_GUEST_LINES {
        return Err(Problem::new(Kind::TooLarge, format!("lines: an order of a guest has at most {MOST_GUEST_LINES}")));
    }
    Ok(())
}
