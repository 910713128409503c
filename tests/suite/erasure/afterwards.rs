//! What is written about an order after its customer was erased: no text of it is stored.

use shop::openapi::{conforms, document, resolve};

use super::proof::everything;
use super::{erase, guests};
use crate::guests::{ID, SECRET};
use crate::prelude::*;

/// Short enough for a postal code.
const TEXT: &str = "zyxwvu";

/// What only a guest may do for a delivered order. The same request of staff finds the return.
const RETURN_OF_GUEST: &str = "post /guests/{guestId}/orders/{orderId}/returns";

/// Every request with a text about an order, with each text that it takes. The receipt follows its return.
fn requests() -> Vec<(&'static str, Value)> {
    let units = &things(1)["lines"];
    let address = json!({
        "name": TEXT, "line1": TEXT, "line2": TEXT, "city": TEXT, "postalCode": TEXT, "region": TEXT, "country": "HK",
    });
    let url = format!("https://{TEXT}.example");
    vec![
        ("post /orders", json!({ "lines": units, "shipTo": address })),
        ("post /guests/{guestId}/orders", json!({ "lines": units, "shipTo": address })),
        ("post /guests/{guestId}/orders/{orderId}/cancellation", json!({ "reason": TEXT })),
        ("post /orders/{orderId}/cancellation", json!({ "reason": TEXT })),
        ("post /orders/{orderId}/shipments", json!({ "carrier": "Post", "trackingNumber": TEXT, "trackingUrl": url })),
        (RETURN_OF_GUEST, json!({ "lines": units, "reason": TEXT })),
        ("post /orders/{orderId}/returns", json!({ "lines": units, "reason": TEXT })),
        ("post /returns/{returnId}/receipt", json!({ "accepted": false, "reason": TEXT })),
        ("post /orders/{orderId}/credits", json!({ "amount": eur(5), "reason": TEXT })),
        ("put /orders/{orderId}/flag", json!({ "reason": TEXT })),
    ]
}

/// Other texts, by the beginnings of their names: of products, of profiles (which `an_erased_customer_can_do_nothing`
/// sends), of a request that stores nothing, and those that `docs/personal-data.md` keeps.
const OTHERS: [&str; 14] = [
    "post /products",
    "patch /products/{productId}",
    "put /products/{productId}/images/{imageId} /alt",
    "put /shipping",
    "post /customers",
    "patch /customers/{customerId}",
    "put /customers/{customerId}/addresses",
    "post /guests /name",
    "post /quotes",
    "post /guests/quotes",
    "post /guests/quotes/discounted",
    "post /invoices/{invoiceId}/payments /reference",
    "post /invoices/{invoiceId}/refunds /reference",
    "post /orders/{orderId}/shipments /carrier",
];

/// The fields of a body that take any text, as JSON pointers.
fn texts(schema: &Value, at: &str) -> Vec<String> {
    let schema = resolve(schema);
    let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema[keyword].as_array()).flatten();
    let mut all: Vec<_> = parts.flat_map(|part| texts(part, at)).collect();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        all.extend(texts(member, &format!("{at}/{name}")));
    }
    for keyword in ["items", "additionalProperties"].into_iter().filter(|keyword| schema[keyword].is_object()) {
        all.extend(texts(&schema[keyword], &format!("{at}/0")));
    }
    if all.is_empty() && schema.is_object() && conforms(schema, &json!("Any text, of words!")).is_ok() {
        all.push(at.to_owned());
    }
    all
}

#[test]
fn every_text_of_the_api_is_sent_here_or_is_not_about_an_order() {
    let requests: BTreeMap<_, _> = requests().into_iter().collect();
    let mut unknown = Vec::new();
    for (path, operations) in document()["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let route = format!("{method} {path}");
            let sent = requests.get(route.as_str()).unwrap_or(&Value::Null);
            for text in texts(&operation["requestBody"]["content"]["application/json"]["schema"], "") {
                let is_sent = sent.pointer(&text).is_some_and(|value| value.to_string().contains(TEXT));
                let name = format!("{route} {text}");
                if !is_sent && !OTHERS.iter().any(|other| name.starts_with(other)) {
                    unknown.push(name);
                }
            }
        }
    }
    assert!(unknown.is_empty(), "send these texts in `requests`, or say in `OTHERS` what they are of: {unknown:#?}");
}

/// Sends a request about an order.
async fn send(shop: &Shop, (route, body): (&str, Value), order: &str, returned: &str, key: &str) -> Reply {
    let (method, path) = route.split_once(' ').expect("a route");
    let client = match path {
        "/orders" => shop.customer("ada"),
        _ if path.starts_with("/guests") => shop.nobody(),
        _ => shop.admin(),
    };
    let path = path.replace("{orderId}", order).replace("{returnId}", returned).replace("{guestId}", ID);
    let headers = [("idempotency-key", key), ("guest-secret", SECRET)];
    let method = method.to_uppercase().parse().expect("a method");
    client.send(method, &path, &headers, Some(body.to_string())).await
}

/// Sends all requests about an order that exists, and returns the routes of those that were granted.
async fn send_all(shop: &Shop, order: &str, key: &str) -> Vec<&'static str> {
    let (mut granted, mut returned) = (Vec::new(), format!("ret-{order}-0000000000000000"));
    for (route, body) in requests().into_iter().filter(|(route, _)| !route.ends_with("/orders")) {
        let reply = send(shop, (route, body), order, &returned, key).await;
        if reply.status < 300 && route != RETURN_OF_GUEST {
            granted.push(route);
        }
        if let Some(id) = reply.body["returnId"].as_str() {
            id.clone_into(&mut returned);
        }
    }
    granted
}

/// What staff may do for a delivered order. They ship no more of it, but a repetition is granted.
const GRANTED: [&str; 5] = [
    "post /orders/{orderId}/shipments",
    "post /orders/{orderId}/returns",
    "post /returns/{returnId}/receipt",
    "post /orders/{orderId}/credits",
    "put /orders/{orderId}/flag",
];

/// An order that a gift card pays, so that credits leave nothing to do.
async fn placed(shop: &Shop, route: &str, key: &str) -> String {
    let body = json!({ "lines": things(5)["lines"], "giftCards": ["GIFT-A"] });
    send(shop, (route, body), "", "", key).await.expect(201)["orderId"].as_str().expect("an id").to_owned()
}

async fn delivered(shop: &Shop, route: &str, key: &str) -> String {
    let order = placed(shop, route, key).await;
    let shipment = requests().into_iter().find(|(route, _)| *route == GRANTED[0]).expect("a shipment");
    send(shop, shipment, &order, "", "before").await.expect(201);
    shop.admin().post(&format!("/orders/{order}/status"), json!({ "status": "DELIVERED" })).await.expect(200);
    order
}

/// A shop with ada and a guest.
async fn inhabited() -> Shop {
    let shop = guests::shop().await;
    shop.sign_up("ada").await;
    shop.gift_card("GIFT-A", 100_000).await;
    guests::introduce(&shop).await;
    shop
}

async fn has_traces(shop: &Shop, told: usize) -> bool {
    shop.settle().await;
    everything(shop, told).await.iter().any(|text| text.contains(TEXT))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_of_a_request_after_the_erasure_is_stored_or_told() {
    let shop = inhabited().await;
    let (mut done, mut cancelled) = (Vec::new(), Vec::new());
    for route in ["post /orders", "post /guests/{guestId}/orders"] {
        done.push(delivered(&shop, route, "delivered").await);
        let order = placed(&shop, route, "cancelled").await;
        shop.admin().post(&format!("/orders/{order}/cancellation"), json!({ "reason": TEXT })).await.expect(200);
        cancelled.push(order);
    }
    for order in &done {
        assert_eq!(send_all(&shop, order, "before").await, GRANTED);
    }
    assert!(has_traces(&shop, 0).await, "the control finds what is to be erased");
    let told = shop.bus().events().len();
    for id in ["ada", ID] {
        assert_eq!(erase(&shop.admin(), id).await.status, 204);
    }
    for order in &done {
        // A repetition is granted, though its text is gone.
        assert_eq!(send_all(&shop, order, "before").await, GRANTED[..4]);
        assert_eq!(send_all(&shop, order, "after").await, GRANTED[1..4]);
    }
    for order in &cancelled {
        send_all(&shop, order, "after").await;
    }
    for placing in requests().into_iter().filter(|(route, _)| route.ends_with("/orders")) {
        send(&shop, placing, "", "", "after").await.problem(Kind::NotFound);
    }
    assert!(!has_traces(&shop, told).await);
    // Receivers are told of the money all the same.
    let events = shop.bus().events();
    let credits = events[told..].iter().filter(|event| event["detail-type"] == "AmountCredited").count();
    assert_eq!(credits, done.len());
    invariants::hold(&shop).await;
}

/// A request that read the order before the erasure is written after it, and a request is written after the erasure read the
/// order. (A return that is requested then is in the way.)
#[tokio::test(flavor = "multi_thread")]
async fn no_text_of_a_request_at_the_same_moment_outlives_the_erasure() {
    let shop = inhabited().await;
    for (route, is_late) in [
        ("post /orders/{orderId}/credits", true),
        ("put /orders/{orderId}/flag", true),
        ("post /orders/{orderId}/credits", false),
        ("put /orders/{orderId}/flag", false),
        // Its return is in the way of another erasure.
        ("post /orders/{orderId}/returns", true),
    ] {
        guests::introduce(&shop).await;
        let order = delivered(&shop, "post /guests/{guestId}/orders", &format!("{route} {is_late}")).await;
        let request = requests().into_iter().find(|(sent, _)| *sent == route).expect("a request");
        let (admin, about) = (shop.admin(), json!({ "orderId": order }));
        let (write, erasure) = (send(&shop, request, &order, "", "at once"), erase(&admin, ID));
        let erased = if is_late {
            let mut erased = None;
            shop.overtaken(&about, "TransactWriteItems", write, async || erased = Some(erasure.await)).await;
            erased.expect("an answer")
        } else {
            shop.overtaken(&about, "TransactWriteItems", erasure, async || _ = write.await.expect(200)).await
        };
        assert_eq!(erased.status, 204, "{route}: {}", erased.body);
        assert!(!json!(shop.dump().await).to_string().contains(TEXT), "{route}, late: {is_late}");
    }
}
