//! Typed values. Each refuses, when it is parsed, what must never reach the table.

mod contact;
mod day;
mod id;
mod money;
mod number;
mod stream;
mod text;
mod time;

pub use contact::{EmailAddress, Username};
pub use day::{Day, Days};
pub use id::{
    Category, CustomerId, DiscountCode, GiftCardCode, IdempotencyKey, IdempotencyRecordId, InvoiceId, OrderId,
    ProductId, RequestHash,
};
pub use money::{Charge, Currency, MOST_CHARGED, Money};
pub use number::{Cells, Percent, Quantity};
pub use stream::{SequenceNumber, ShardId};
pub use text::{Description, Name};
pub use time::{TimeRange, Timestamp, moment, optional_moment};

/// Text or a number that is not the value it was taken for. Its message is fit for a client: it says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A value that may stand between the `#` of a key.
///
/// Implementors promise that what they write holds no `#` and that two different values never write the same, so that
/// distinct inputs never share a key.
pub trait KeyPart {
    /// Appends this part's spelling to a key.
    fn write_to(&self, key: &mut String);
}
