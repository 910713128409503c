//! An order as it lies in the queue.

use key_schema::value::{CustomerId, IdempotencyKey, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Basket, OrderRequest, PlaceOrder};

/// The version of what is written here. One that is newer is not read: it may mean something else.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    version: u32,
    customer_id: CustomerId,
    idempotency_key: IdempotencyKey,
    request: OrderRequest,
    queued_at: Timestamp,
}

/// An order that waits to be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What to place.
    pub order: PlaceOrder,
    /// Since when it waits.
    pub queued_at: Timestamp,
}

/// Why a message cannot be read, now or ever.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A newer version of the shop wrote it.
    #[error("version {0} is newer than this function, which reads up to {VERSION}: deploy it again, then redrive")]
    Newer(u32),
    /// It is no order.
    #[error("it is no order: {0}")]
    Malformed(String),
}

impl Waiting {
    /// The order as a message. At most 64 KiB of request, and a few ids: SQS takes it.
    pub fn to_message(&self) -> String {
        let message = Message {
            version: VERSION,
            customer_id: self.order.customer.clone(),
            idempotency_key: self.order.key.clone(),
            request: self.order.basket.request().clone(),
            queued_at: self.queued_at,
        };
        // Writing plain structs as JSON cannot fail.
        serde_json::to_string(&message).unwrap_or_default()
    }

    /// The order that a message holds.
    ///
    /// # Errors
    /// It is unreadable, and will be the next time.
    pub fn from_message(text: &str) -> Result<Self, Unreadable> {
        let malformed = |error: serde_json::Error| Unreadable::Malformed(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(malformed)?;
        if version > VERSION {
            return Err(Unreadable::Newer(version));
        }
        let message: Message = serde_json::from_str(text).map_err(malformed)?;
        let basket = Basket::try_from(message.request).map_err(|why| Unreadable::Malformed(format!("{why:?}")))?;
        let order = PlaceOrder { customer: message.customer_id, key: message.idempotency_key, basket };
        Ok(Self { order, queued_at: message.queued_at })
    }
}
