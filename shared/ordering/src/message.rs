//! An order as it lies in the queue.
//!
//! The text is JSON; the hash of the request is beside it, as an attribute. Whoever reads the message takes the order for
//! the one of that hash, and makes none of its own: another release may have another canonical form.
//!
//! # Old and new side by side
//! - The release of 21 November 2026 reads attributes that it does not know, and no fields. So what every message needs
//!   is an attribute, and a field is written by those requests only that use it.
//! - A message that says its version, and that this release cannot read, may be another release's. It waits for that.
//! - The version moves when what is already here changes its meaning. A new field needs none: a release that does not
//!   know it leaves the message to one that does.

use key_schema::entity::QueuedOrder;
use key_schema::value::{CustomerId, IdempotencyKey, Money, OrderId, RequestHash, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::WriteUnits;

use crate::placing::Origin;
use crate::{Basket, OrderRequest, PlaceOrder};

/// The version of what is written here. One that is newer is not read: it may mean something else.
const VERSION: u32 = 1;

/// The attribute that holds the hash of the request.
const REQUEST_HASH: &str = "requestHash";
/// The attribute that holds the most that the order may cost, as JSON, if that was said.
const MAX_TOTAL: &str = "maxTotal";

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
    /// The most that it may cost when it is placed; absent: any price of that time.
    pub max_total: Option<Money>,
    /// Whether somebody has sent it back from the dead letters, and so has decided that it is to be placed.
    pub is_redriven: bool,
}

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It says its version, so a release of the shop wrote it: perhaps a newer one, which can read it.
    #[error("this release cannot read it, deploy the newest and redrive: {0}")]
    OtherRelease(String),
    /// No release wrote it.
    #[error("it is no order: {0}")]
    NoOrder(String),
}

impl Waiting {
    /// Whether it waited for so long that nothing is known of it any more: what says so in the table has expired,
    /// and another request may have its key.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        let PlaceOrder { customer, key, basket } = &self.order;
        let id = OrderId::of(customer, key);
        QueuedOrder::new(id, customer.clone(), basket.hash().clone(), self.queued_at).is_expired(now)
    }

    /// What placing it is expected to consume: two units more than that of an order which did not wait, for being sure
    /// that nobody was told it is refused.
    pub fn write_units(&self) -> WriteUnits {
        let placing = self.order.basket.write_units();
        WriteUnits { table: placing.table + 2.0, ..placing }
    }

    /// The order as a message. The largest has 8 KiB, a small part of what SQS takes.
    pub fn to_message(&self) -> queue::Message {
        let message = Message {
            version: VERSION,
            customer_id: self.order.customer.clone(),
            idempotency_key: self.order.key.clone(),
            request: self.order.basket.request().clone(),
            queued_at: self.queued_at,
        };
        // Writing plain structs as JSON cannot fail.
        let body = serde_json::to_string(&message).unwrap_or_default();
        let hash = self.order.basket.hash().as_str().to_owned();
        let max_total = self.max_total.and_then(|max_total| serde_json::to_string(&max_total).ok());
        let attributes = [(REQUEST_HASH, Some(hash)), (MAX_TOTAL, max_total)];
        let attributes = attributes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        queue::Message { body, attributes: attributes.collect() }
    }

    /// What asks for it to be placed, if this message does.
    pub(crate) fn origin(&self) -> Origin {
        Origin::Queue { queued_at: self.queued_at, max_total: self.max_total, is_redriven: self.is_redriven }
    }

    /// The order that a message holds. One without a hash is of the release of 21 November 2026, whose hash is the
    /// canonical form's.
    ///
    /// # Errors
    /// It is unreadable: for this release, or for any.
    pub fn from_message(message: &queue::Message) -> Result<Self, Unreadable> {
        let no_order = |error: serde_json::Error| Unreadable::NoOrder(error.to_string());
        let text: Value = serde_json::from_str(&message.body).map_err(no_order)?;
        let Versioned { version } = Versioned::deserialize(&text).map_err(no_order)?;
        if version > VERSION {
            return Err(Unreadable::OtherRelease(format!("version {version} is newer than {VERSION}")));
        }
        let other = |why: String| Unreadable::OtherRelease(why);
        let read: Message = serde_json::from_value(text).map_err(|error| other(error.to_string()))?;
        let basket = Basket::try_from(read.request).map_err(|why| other(format!("{why:?}")))?;
        let basket = match message.attributes.get(REQUEST_HASH) {
            None => basket,
            Some(hash) => {
                basket.accepted_as(hash.parse::<RequestHash>().map_err(|invalid| other(invalid.to_string()))?)
            }
        };
        let max_total = message.attributes.get(MAX_TOTAL).map(|text| serde_json::from_str(text)).transpose();
        let order = PlaceOrder { customer: read.customer_id, key: read.idempotency_key, basket };
        Ok(Self {
            order,
            queued_at: read.queued_at,
            max_total: max_total.map_err(|error| other(error.to_string()))?,
            is_redriven: message.attributes.contains_key(queue::REASON),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::btree_set;
    use proptest::option;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn any_waiting() -> impl Strategy<Value = Waiting> {
        let id = "[A-Za-z0-9_-]{1,64}";
        let products = btree_set((id, 1..=10_000_u32), 1..=40);
        let money = option::of(0..1_i64 << 53);
        let parts =
            (id, "[ -~]{1,255}", products, option::of(id), btree_set(id, 0..=4), money, 0..253_402_207_200_000_i64);
        parts.prop_filter_map("no product twice", |(customer, key, products, code, cards, total, at)| {
            let lines = products.iter().map(|(id, quantity)| json!({ "productId": id, "quantity": quantity }));
            let mut request = json!({ "lines": lines.collect::<Vec<_>>(), "giftCards": cards });
            if let Some(code) = code {
                request["discountCode"] = json!(code);
            }
            if let Some(amount) = total {
                request["expectedTotal"] = json!({ "amount": amount, "currency": "EUR" });
            }
            let request: OrderRequest = serde_json::from_value(request).expect("a request");
            Some(Waiting {
                max_total: request.expected_total,
                is_redriven: false,
                order: PlaceOrder {
                    customer: customer.parse().expect("an id"),
                    key: key.parse().expect("a key"),
                    basket: Basket::try_from(request).ok()?,
                },
                queued_at: Timestamp::from_millisecond(at).expect("a time"),
            })
        })
    }

    fn changed(waiting: &Waiting, change: impl FnOnce(&mut Value)) -> Result<Waiting, Unreadable> {
        let mut message = waiting.to_message();
        let mut body = serde_json::from_str(&message.body).expect("JSON");
        change(&mut body);
        message.body = body.to_string();
        Waiting::from_message(&message)
    }

    proptest! {
        #[test]
        fn an_order_comes_out_of_the_queue_as_it_went_in(waiting in any_waiting()) {
            prop_assert_eq!(Waiting::from_message(&waiting.to_message()), Ok(waiting));
        }

        #[test]
        fn the_order_is_the_one_of_the_hash_that_the_message_carries(waiting in any_waiting(), form in ".{0,64}") {
            let accepted = RequestHash::of(form.as_bytes());
            let mut message = waiting.to_message();
            message.attributes.insert(REQUEST_HASH.to_owned(), accepted.as_str().to_owned());
            let read = Waiting::from_message(&message).expect("a message");
            prop_assert_eq!(read.order.basket.hash(), &accepted);
            prop_assert_eq!(read.to_message(), message);
        }

        #[test]
        fn a_message_of_the_first_release_has_no_hash_and_is_the_same_order(waiting in any_waiting()) {
            let message = queue::Message { attributes: BTreeMap::new(), ..waiting.to_message() };
            prop_assert_eq!(Waiting::from_message(&message), Ok(Waiting { max_total: None, ..waiting }));
        }

        /// Every queue takes 256 KiB (and since August 2025 1 MiB). The longest key there is doubles when it is
        /// escaped.
        #[test]
        fn every_order_fits_into_a_message(waiting in any_waiting()) {
            let key = "\"".repeat(255).parse().expect("a key");
            let waiting = Waiting { order: PlaceOrder { key, ..waiting.order }, ..waiting };
            let length = waiting.to_message().body.len();
            prop_assert!(length < 8 * 1024, "{}", length);
        }

        #[test]
        fn what_another_release_may_have_written_is_left_to_it(waiting in any_waiting(), version in 2..u32::MAX) {
            let newer = changed(&waiting, |message| {
                *message = json!({ "version": version, "order": message });
            });
            prop_assert!(matches!(newer, Err(Unreadable::OtherRelease(_))));
            let of_the_same_form = changed(&waiting, |message| message["version"] = json!(version));
            prop_assert!(matches!(of_the_same_form, Err(Unreadable::OtherRelease(_))));
            let changes: [fn(&mut Value); 5] = [
                |message| message["extra"] = json!(1),
                |message| message["request"]["extra"] = json!(1),
                |message| message["request"]["lines"] = json!([]),
                |message| message["customerId"] = json!("a#b"),
                |message| drop(message.as_object_mut().expect("an object").remove("queuedAt")),
            ];
            for change in changes {
                prop_assert!(matches!(changed(&waiting, change), Err(Unreadable::OtherRelease(_))));
            }
        }

        #[test]
        fn an_order_that_was_sent_back_from_the_dead_letters_says_so(waiting in any_waiting(), why in ".{1,64}") {
            let mut message = waiting.to_message();
            message.attributes.insert(queue::REASON.to_owned(), why);
            prop_assert_eq!(Waiting::from_message(&message), Ok(Waiting { is_redriven: true, ..waiting }));
        }

        #[test]
        fn an_order_is_forgotten_after_two_weeks_and_its_placing_takes_a_check_more(waiting in any_waiting()) {
            let after = |seconds: i64| Timestamp::from_millisecond((waiting.queued_at.as_second() + seconds) * 1000);
            let (before, then) = (after(14 * 24 * 60 * 60 - 1), after(14 * 24 * 60 * 60));
            prop_assert!(!before.is_some_and(|now| waiting.is_forgotten(now)));
            prop_assert!(then.is_none_or(|now| waiting.is_forgotten(now)));
            let (placing, draining) = (waiting.order.basket.write_units(), waiting.write_units());
            prop_assert_eq!((draining.table - placing.table, draining.indexes), (2.0, placing.indexes));
        }

        #[test]
        fn what_says_no_version_is_no_order(waiting in any_waiting(), text in ".{0,64}") {
            let message = queue::Message { body: text, attributes: BTreeMap::new() };
            prop_assert!(matches!(Waiting::from_message(&message), Err(Unreadable::NoOrder(_))));
            let without = changed(&waiting, |message| drop(message.as_object_mut().expect("an object").remove("version")));
            prop_assert!(matches!(without, Err(Unreadable::NoOrder(_))));
        }
    }
}
