//! An order as a message in the queue.
//!
//! The body is JSON. The hash of the request is an attribute. A reader uses that hash and does not compute its own: the
//! release that wrote the message may have another canonical form.
//!
//! # Compatibility between releases
//! - A release accepts unknown attributes but no unknown fields. So a field is written only for requests that use it.
//! - If a message has a version but this release cannot read it, another release may have written it. The message waits
//!   for that release.
//! - The version changes only if an existing field changes its meaning. A new field needs no new version: a release
//!   that does not know the field leaves the message to one that does.

use key_schema::entity::QueuedOrder;
use key_schema::value::{CustomerId, IdempotencyKey, Money, OrderId, RequestHash, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::WriteUnits;

use crate::{Basket, NewOrder, OrderRequest, Origin};

#[cfg(test)]
mod tests;

/// The version of the messages that this release writes. A message of a newer version is not read.
const VERSION: u32 = 1;

const REQUEST_HASH: &str = "requestHash";
/// The attribute with the most that the order may cost, as JSON, if there is a limit.
const MAX_TOTAL: &str = "maxTotal";
/// The attribute with the id of the request, for the log.
const REQUEST_ID: &str = "requestId";

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Grouped {
    customer_id: CustomerId,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    version: u32,
    customer_id: CustomerId,
    idempotency_key: IdempotencyKey,
    request: NewOrder,
    queued_at: Timestamp,
}

/// An order in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderMessage {
    /// The request that was accepted.
    pub request: OrderRequest,
    /// The time at which the order was accepted.
    pub queued_at: Timestamp,
    /// The most that the order may cost when it is placed. `None` for any price.
    pub max_total: Option<Money>,
    /// Whether an operator has redriven the message from the dead-letter queue, and so has decided to place the order.
    pub is_redriven: bool,
    /// The request that was accepted, by the gateway's id.
    pub request_id: Option<String>,
}

/// The reason why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableMessage {
    /// The message has a version, so a release of the shop wrote it, perhaps a newer one that can read it.
    #[error("this release cannot read the message; deploy the newest release and redrive: {0}")]
    OtherRelease(String),
    /// No release wrote the message.
    #[error("the message is not an order: {0}")]
    NoOrder(String),
}

pub(crate) fn write_units_of(basket: &Basket) -> WriteUnits {
    let placing = basket.write_units();
    WriteUnits { table: placing.table + 2.0, ..placing }
}

impl OrderMessage {
    /// Whether the order waited for so long that its item in the table has expired. Then another request may have its
    /// idempotency key.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        let OrderRequest { customer, key, basket } = &self.request;
        let id = OrderId::of(customer, key);
        QueuedOrder::new(id, customer.clone(), basket.hash().clone(), self.queued_at).is_expired(now)
    }

    /// The write units that placing the order is expected to consume: two more than without the queue, for checking
    /// that the order was not refused.
    pub fn write_units(&self) -> WriteUnits {
        write_units_of(&self.request.basket)
    }

    /// The order as a message, of at most 11 KiB: far below the limit of SQS.
    pub fn to_message(&self) -> queue::Message {
        let message = Body {
            version: VERSION,
            customer_id: self.request.customer.clone(),
            idempotency_key: self.request.key.clone(),
            request: self.request.basket.order().clone(),
            queued_at: self.queued_at,
        };
        // Serializing plain structs as JSON cannot fail.
        let body = serde_json::to_string(&message).unwrap_or_default();
        let hash = self.request.basket.hash().as_str().to_owned();
        let max_total = self.max_total.and_then(|max_total| serde_json::to_string(&max_total).ok());
        let attributes = [(REQUEST_HASH, Some(hash)), (MAX_TOTAL, max_total), (REQUEST_ID, self.request_id.clone())];
        let attributes = attributes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let group = Some(message.customer_id.to_string());
        queue::Message { body, attributes: attributes.collect(), group }
    }

    /// The group of a message with this body: its customer, so that the orders of one customer do not delay those of the
    /// others. `None` if the body is not an order.
    pub fn group_of(body: &str) -> Option<String> {
        serde_json::from_str::<Grouped>(body).ok().map(|message| message.customer_id.to_string())
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin::Queue { queued_at: self.queued_at, max_total: self.max_total, is_redriven: self.is_redriven }
    }

    /// Reads a message. If it has no hash, because somebody sent it by hand, the hash is computed.
    ///
    /// # Errors
    /// This release, or any, cannot read the message.
    pub fn from_message(message: &queue::Message) -> Result<Self, UnreadableMessage> {
        let no_order = |error: serde_json::Error| UnreadableMessage::NoOrder(error.to_string());
        let text: Value = serde_json::from_str(&message.body).map_err(no_order)?;
        let Versioned { version } = Versioned::deserialize(&text).map_err(no_order)?;
        if version > VERSION {
            return Err(UnreadableMessage::OtherRelease(format!("version {version} is newer than {VERSION}")));
        }
        let other = |why: String| UnreadableMessage::OtherRelease(why);
        let read: Body = serde_json::from_value(text).map_err(|error| other(error.to_string()))?;
        let basket = Basket::try_from(read.request).map_err(|why| other(format!("{why:?}")))?;
        let basket = match message.attributes.get(REQUEST_HASH) {
            None => basket,
            Some(hash) => {
                basket.with_accepted_hash(hash.parse::<RequestHash>().map_err(|invalid| other(invalid.to_string()))?)
            }
        };
        let max_total = message.attributes.get(MAX_TOTAL).map(|text| serde_json::from_str(text)).transpose();
        let request = OrderRequest { customer: read.customer_id, key: read.idempotency_key, basket };
        Ok(Self {
            request,
            queued_at: read.queued_at,
            max_total: max_total.map_err(|error| other(error.to_string()))?,
            is_redriven: message.attributes.contains_key(queue::REASON),
            request_id: message.attributes.get(REQUEST_ID).cloned(),
        })
    }
}
