//! The types of all fields. Each type validates text or numbers when it is parsed, so that the table never gets an
//! invalid value.

/// Implementations that values of one form have alike: texts that are `parsed` from a `String`, texts that are `shown` as
/// they are, and values that are `spelled` as a text.
macro_rules! values {
    (parsed: $($name:ident)+) => {$(
        impl std::str::FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::try_from(text.to_owned())
            }
        }
    )+};
    (shown: $($name:ident)+) => {$(
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
    (spelled: $name:ident) => {
        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

mod attributes;
mod contact;
mod country;
mod day;
mod guest;
mod id;
mod invoice_number;
mod money;
mod number;
mod postal_code;
mod request;
mod stream;
mod text;
mod time;
mod time_range;
mod zone;

pub use attributes::Attributes;
pub use contact::{EmailAddress, Username};
pub use country::Country;
pub use day::{Day, Days};
pub use guest::GuestSecret;
pub use id::{
    AddressId, Category, CustomerId, DiscountCode, GiftCardCode, HolderId, IdempotencyRecordId, ImageId, IntentId,
    InvoiceId, InvoiceSeries, OrderId, ProductId, RepairId, ReturnId, ShipmentId, ShippingMethodId, ViewMarkId,
    VisitorId, spread,
};
pub use invoice_number::InvoiceNumber;
#[cfg(test)]
pub(crate) use money::eur;
pub use money::{Charge, Currency, MOST_CHARGED, Money};
pub use number::{CartVersion, Cells, Grams, ImagePosition, LinePosition, Percent, Pixels, Quantity};
pub(crate) use postal_code::{past_postal_code, postal_code};
pub use request::{IdempotencyKey, RequestHash};
pub use stream::{SequenceNumber, ShardId};
pub use text::{AltText, Description, Line, Name, TextHash, WebPage};
pub use time::{Timestamp, moment, optional_moment};
pub use time_range::TimeRange;
pub use zone::Zone;

use std::collections::HashSet;
use std::hash::Hash;

use single_table::KeyPart;

/// The index of the first value that is equal to an earlier one.
pub fn repeated<T: Hash + Eq>(values: impl IntoIterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::new();
    values.into_iter().position(|value| !seen.insert(value))
}

/// An invalid value. The message is for the client and says which values are valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
