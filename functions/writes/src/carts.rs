//! Conditions on the cart of a customer.

use key_schema::value::Timestamp;
use table::{Condition, Error};

/// There is no cart, or an expired one that DynamoDB has not deleted yet.
pub(crate) fn is_gone(now: Timestamp) -> Result<Condition, Error> {
    Condition::absent().or(Condition::new("#expiresAt <= :now")).value(":now", now.as_second())
}
