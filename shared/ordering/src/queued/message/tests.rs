//! Messages of this release, of the last one, and of a newer one.

use std::collections::BTreeMap;

use proptest::collection::btree_set;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn any_waiting() -> impl Strategy<Value = OrderMessage> {
    let id = "[A-Za-z0-9_-]{1,64}";
    let products = btree_set((id, 1..=10_000_u32), 1..=40);
    let money = option::of(0..1_i64 << 53);
    let parts = (id, "[ -~]{1,255}", products, option::of(id), btree_set(id, 0..=4), money, 0..253_402_207_200_000_i64);
    parts.prop_filter_map("no product twice", |(customer, key, products, code, cards, total, at)| {
        let lines = products.iter().map(|(id, quantity)| json!({ "productId": id, "quantity": quantity }));
        let mut request = json!({ "lines": lines.collect::<Vec<_>>(), "giftCards": cards });
        if let Some(code) = code {
            request["discountCode"] = json!(code);
        }
        if let Some(amount) = total {
            request["expectedTotal"] = json!({ "amount": amount, "currency": "EUR" });
        }
        let request: NewOrder = serde_json::from_value(request).expect("a request");
        Some(OrderMessage {
            max_total: request.expected_total,
            is_redriven: false,
            request_id: (at % 2 == 0).then(|| "fxlFO9BGgSVEcqU=".to_owned()),
            request: OrderRequest {
                customer: customer.parse().expect("an id"),
                key: key.parse().expect("a key"),
                basket: Basket::try_from(request).ok()?,
            },
            queued_at: Timestamp::from_millisecond(at).expect("a time"),
        })
    })
}

fn changed(waiting: &OrderMessage, change: impl FnOnce(&mut Value)) -> Result<OrderMessage, UnreadableMessage> {
    let mut message = waiting.to_message();
    let mut body = serde_json::from_str(&message.body).expect("JSON");
    change(&mut body);
    message.body = body.to_string();
    OrderMessage::from_message(&message)
}

proptest! {
    #[test]
    fn a_message_reads_as_the_order_it_was_written_from(waiting in any_waiting()) {
        prop_assert_eq!(OrderMessage::from_message(&waiting.to_message()), Ok(waiting));
    }

    #[test]
    fn the_group_of_a_message_is_its_customer(waiting in any_waiting(), text in ".{0,64}") {
        let (customer, message) = (waiting.request.customer.to_string(), waiting.to_message());
        prop_assert_eq!(message.group.as_ref(), Some(&customer));
        prop_assert_eq!(OrderMessage::group_of(&message.body), Some(customer));
        prop_assert_eq!(OrderMessage::group_of(&text), None);
    }

    #[test]
    fn a_reader_keeps_the_hash_of_the_message(waiting in any_waiting(), form in ".{0,64}") {
        let accepted = RequestHash::of(form.as_bytes());
        let mut message = waiting.to_message();
        message.attributes.insert(REQUEST_HASH.to_owned(), accepted.as_str().to_owned());
        let read = OrderMessage::from_message(&message).expect("a message");
        prop_assert_eq!(read.request.basket.hash(), &accepted);
        prop_assert_eq!(read.to_message(), message);
    }

    #[test]
    fn a_message_of_the_first_release_has_no_hash_and_reads_as_the_same_order(waiting in any_waiting()) {
        let message = queue::Message { attributes: BTreeMap::new(), ..waiting.to_message() };
        prop_assert_eq!(OrderMessage::from_message(&message), Ok(OrderMessage { max_total: None, request_id: None, ..waiting }));
    }

    /// Every queue takes 256 KiB (and since August 2025 1 MiB). The longest key there is doubles when it is
    /// escaped.
    #[test]
    fn every_order_fits_into_a_message(waiting in any_waiting()) {
        let key = "\"".repeat(255).parse().expect("a key");
        let waiting = OrderMessage { request: OrderRequest { key, ..waiting.request }, ..waiting };
        let length = waiting.to_message().body.len();
        prop_assert!(length < 8 * 1024, "{}", length);
    }

    #[test]
    fn a_message_that_another_release_may_have_written_is_left_to_that_release(waiting in any_waiting(), version in 2..u32::MAX) {
        let newer = changed(&waiting, |message| {
            *message = json!({ "version": version, "order": message });
        });
        prop_assert!(matches!(newer, Err(UnreadableMessage::OtherRelease(_))));
        let same_fields = changed(&waiting, |message| message["version"] = json!(version));
        prop_assert!(matches!(same_fields, Err(UnreadableMessage::OtherRelease(_))));
        let changes: [fn(&mut Value); 5] = [
            |message| message["extra"] = json!(1),
            |message| message["request"]["extra"] = json!(1),
            |message| message["request"]["lines"] = json!([]),
            |message| message["customerId"] = json!("a#b"),
            |message| drop(message.as_object_mut().expect("an object").remove("queuedAt")),
        ];
        for change in changes {
            prop_assert!(matches!(changed(&waiting, change), Err(UnreadableMessage::OtherRelease(_))));
        }
    }

    #[test]
    fn a_message_that_was_redriven_from_the_dead_letters_says_so(waiting in any_waiting(), why in ".{1,64}") {
        let mut message = waiting.to_message();
        message.attributes.insert(queue::REASON.to_owned(), why);
        prop_assert_eq!(OrderMessage::from_message(&message), Ok(OrderMessage { is_redriven: true, ..waiting }));
    }

    #[test]
    fn an_order_expires_after_two_weeks_and_placing_it_takes_one_more_check(waiting in any_waiting()) {
        let after = |seconds: i64| Timestamp::from_millisecond((waiting.queued_at.as_second() + seconds) * 1000);
        let (before, then) = (after(14 * 24 * 60 * 60 - 1), after(14 * 24 * 60 * 60));
        prop_assert!(!before.is_some_and(|now| waiting.is_forgotten(now)));
        prop_assert!(then.is_none_or(|now| waiting.is_forgotten(now)));
        let (placing, draining) = (waiting.request.basket.write_units(), waiting.write_units());
        prop_assert_eq!((draining.table - placing.table, draining.indexes), (2.0, placing.indexes));
    }

    #[test]
    fn a_message_without_a_version_is_not_an_order(waiting in any_waiting(), text in ".{0,64}") {
        let message = queue::Message { body: text, attributes: BTreeMap::new(), group: None };
        prop_assert!(matches!(OrderMessage::from_message(&message), Err(UnreadableMessage::NoOrder(_))));
        let without = changed(&waiting, |message| drop(message.as_object_mut().expect("an object").remove("version")));
        prop_assert!(matches!(without, Err(UnreadableMessage::NoOrder(_))));
    }
}
