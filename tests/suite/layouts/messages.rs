//! Layouts of the queue's messages.

use std::collections::BTreeMap;

use key_schema::value::Timestamp;
use ordering::{Basket, NewOrder, OrderMessage, OrderRequest};
use serde_json::{Value, json};

use super::fields::collect;
use super::{assert_own, fixtures};

fn waiting(request: Value) -> OrderMessage {
    let order: NewOrder = serde_json::from_value(request).expect("a request");
    OrderMessage {
        request: OrderRequest {
            customer: "ada".parse().expect("an id"),
            key: "a \"key\" of theirs".parse().expect("a key"),
            basket: Basket::try_from(order).expect("a basket"),
        },
        queued_at: "2026-11-21T09:30:00.000Z".parse::<Timestamp>().expect("a time"),
        max_total: None,
        is_redriven: false,
        request_id: Some("fxlFO9BGgSVEcqU=".to_owned()),
    }
}

/// Orders that together have every field.
fn samples() -> [(&'static str, OrderMessage); 7] {
    let plain = || waiting(json!({ "lines": [{ "productId": "teapot", "quantity": 2 }] }));
    let amount = json!({ "amount": 1999, "currency": "EUR" });
    [
        ("plain", plain()),
        // Queued for lack of capacity: it may cost no more than its quote.
        ("quoted", OrderMessage { max_total: serde_json::from_value(amount.clone()).ok(), ..plain() }),
        (
            "capped",
            waiting(json!({
                "lines": [{ "productId": "teapot", "quantity": 2 }], "maxCardAmount": amount.clone(), "payLater": true,
            })),
        ),
        (
            "shipped",
            waiting(json!({
                "lines": [{ "productId": "teapot", "quantity": 2 }],
                "shipTo": {
                    "name": "Ada", "line1": "Way 1", "line2": "Left", "city": "Berlin", "postalCode": "10115",
                    "region": "BE", "country": "DE",
                },
                "shippingMethod": "express",
            })),
        ),
        (
            "of-codes",
            waiting(json!({ "lines": [{ "productId": "teapot", "quantity": 2 }], "discountCodes": ["TEN", "CUPS"] })),
        ),
        ("of-cart", waiting(json!({ "lines": [{ "productId": "teapot", "quantity": 2 }], "cart": 7 }))),
        (
            "full",
            waiting(json!({
                "lines": [{ "productId": "teapot", "quantity": 2 }, { "productId": "cup", "quantity": 10_000 }],
                "discountCode": "TEN", "giftCards": ["GIFT-2", "GIFT-1"],
                "expectedTotal": amount,
            })),
        ),
    ]
}

fn message(waiting: &OrderMessage) -> Value {
    let queue::Message { body, attributes, .. } = waiting.to_message();
    json!({ "body": body, "attributes": attributes })
}

#[test]
fn this_version_sends_its_fixture() {
    for (name, waiting) in samples() {
        assert_own("messages", name, &message(&waiting));
    }
}

#[test]
fn messages_of_every_release_can_be_read() {
    for (name, waiting) in samples() {
        for (version, message) in fixtures("messages", name) {
            let body = message["body"].as_str().expect("a body").to_owned();
            let sent = queue::Message {
                body,
                attributes: serde_json::from_value(message["attributes"].clone()).unwrap_or_default(),
                group: None,
            };
            assert_eq!(OrderMessage::from_message(&sent), Ok(waiting.clone()), "{name} of {version}");
        }
    }
}

/// A field that is in no fixture could change or get lost unnoticed.
#[test]
fn every_field_is_in_a_message() {
    let mut fields = BTreeMap::new();
    for (_, waiting) in samples() {
        let read = OrderMessage::from_message(&waiting.to_message()).expect("a message");
        collect(&format!("{read:#?}"), &mut fields);
    }
    let missing: Vec<_> = fields.into_iter().filter(|(_, holds)| !holds).map(|(field, _)| field).collect();
    assert!(missing.is_empty(), "no sample holds {missing:?}");
}
