//! An order as it lies in the queue.

use key_schema::entity::QueuedOrder;
use key_schema::value::{CustomerId, IdempotencyKey, OrderId, Timestamp};
use serde::{Deserialize, Serialize};
use table::WriteUnits;

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

#[cfg(test)]
mod tests {
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
        let mut message = serde_json::from_str(&waiting.to_message()).expect("JSON");
        change(&mut message);
        Waiting::from_message(&message.to_string())
    }

    proptest! {
        #[test]
        fn an_order_comes_out_of_the_queue_as_it_went_in(waiting in any_waiting()) {
            prop_assert_eq!(Waiting::from_message(&waiting.to_message()), Ok(waiting));
        }

        /// Every queue takes 256 KiB (and since August 2025 1 MiB). The longest key there is doubles when it is
        /// escaped.
        #[test]
        fn every_order_fits_into_a_message(waiting in any_waiting()) {
            let key = "\"".repeat(255).parse().expect("a key");
            let waiting = Waiting { order: PlaceOrder { key, ..waiting.order }, ..waiting };
            prop_assert!(waiting.to_message().len() < 8 * 1024, "{}", waiting.to_message().len());
        }

        #[test]
        fn what_a_newer_version_wrote_is_not_guessed_at(waiting in any_waiting(), version in 2..u32::MAX) {
            let newer = changed(&waiting, |message| {
                *message = json!({ "version": version, "order": message });
            });
            prop_assert_eq!(newer, Err(Unreadable::Newer(version)));
        }

        #[test]
        fn what_is_no_order_is_malformed(waiting in any_waiting(), text in ".{0,64}") {
            prop_assert!(matches!(Waiting::from_message(&text), Err(Unreadable::Malformed(_))));
            let changes: [fn(&mut Value); 4] = [
                |message| message["extra"] = json!(1),
                |message| message["request"]["lines"] = json!([]),
                |message| message["customerId"] = json!("a#b"),
                |message| drop(message.as_object_mut().expect("an object").remove("queuedAt")),
            ];
            for change in changes {
                prop_assert!(matches!(changed(&waiting, change), Err(Unreadable::Malformed(_))));
            }
        }
    }
}
