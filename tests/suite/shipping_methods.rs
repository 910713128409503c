//! Methods of shipping: a quote lists them, and an order has the one that it names.

use crate::history::copied;
use crate::prelude::*;
use crate::queue::settled;

const SECRET: &str = "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A";

/// Three methods to Germany, of which one is for light orders, and express alone to France.
async fn shop() -> Shop {
    let shop = Shop::with_ada().await;
    shop.create("thing", json!({ "price": eur(1000), "stock": 1000, "weightGrams": 400 })).await;
    rename(&shop, "Express").await;
    shop.introduce(SECRET, json!({ "email": "grace@example.com", "name": "Grace" })).await.expect(201);
    shop
}

async fn rename(shop: &Shop, name: &str) {
    let method =
        |id: &str, name: &str, bands: Value| json!({ "methodId": id, "name": name, "by": "weight", "bands": bands });
    let express = method("express", name, json!([{ "upTo": 5000, "price": 1490 }]));
    let zones = json!([
        { "countries": ["DE"], "currency": "EUR", "methods": [
            method("letter", "Letter", json!([{ "upTo": 500, "price": 190 }])),
            method("standard", "Standard", json!([{ "upTo": 1000, "price": 490 }, { "upTo": 5000, "price": 890 }])),
            express,
        ] },
        { "countries": ["FR"], "currency": "EUR", "methods": [express] },
    ]);
    shop.admin().put_if("/shipping", "*", json!({ "zones": zones })).await.expect(200);
}

fn order(country: &str, quantity: u64, method: Option<&str>) -> Value {
    let code = if country == "DE" { "10115" } else { "75001" };
    let mut order = basket("thing", quantity);
    order["shipTo"] = json!({ "name": "Ada", "line1": "Way 1", "city": "B", "postalCode": code, "country": country });
    order.as_object_mut().expect("an object").extend(method.map(|id| ("shippingMethod".to_owned(), json!(id))));
    order
}

/// **Law: what a quote lists can be ordered for exactly that**, by customers, guests and through the queue, and what it does not
/// list is refused.
#[tokio::test(flavor = "multi_thread")]
async fn each_method_of_a_quote_can_be_ordered_at_its_price_and_no_other() {
    let shop = shop().await;
    let (ada, mut methods) = (shop.customer("ada"), BTreeSet::new());
    for (country, quantity, listed) in [
        ("DE", 1, &["letter", "standard", "express"][..]),
        ("DE", 3, &["standard", "express"]),
        ("FR", 2, &["express"]),
        ("FR", 20, &[]),
    ] {
        for method in [None, Some("letter"), Some("standard"), Some("express"), Some("pigeon")] {
            let (mut order, key) = (order(country, quantity, method), format!("{country}-{quantity}-{method:?}"));
            let (before, quoted) = (shop.dump().await, ada.post("/quotes", order.clone()).await);
            assert_eq!(shop.dump().await, before, "a quote writes nothing");
            if method.map_or(listed.is_empty(), |method| !listed.contains(&method)) {
                let of_guest = shop.guest_order(SECRET, &key, order.clone()).await;
                for refused in [quoted, ada.order(&key, order.clone()).await, of_guest] {
                    let problem = refused.problem(Kind::NotShipped);
                    assert_eq!((&problem["shippingMethod"], &problem["country"]), (&json!(method), &json!(country)));
                }
                assert_eq!(shop.dump().await, before, "a refusal writes nothing");
                let accepted = order_later(&ada, &format!("later-{key}"), order).await;
                assert_eq!(settled(&ada, &accepted).await["status"], "REJECTED");
                continue;
            }
            let quote = quoted.expect(200);
            let chosen = json!({ "methodId": quote["shippingMethod"]["methodId"], "name": quote["shippingMethod"]["name"], "price": quote["shipping"] });
            let offers = quote["shippingMethods"].as_array().expect("methods");
            assert!(
                offers.iter().map(|offer| offer["methodId"].as_str()).eq(listed.iter().map(|id| Some(*id))),
                "{quote}"
            );
            assert_eq!(chosen["methodId"], method.unwrap_or(listed[0]));
            assert!(offers.contains(&chosen), "{chosen} is not listed: {quote}");
            order["expectedTotal"] = quote["total"].clone();
            shop.fault_proxy().take_calls();
            let placed = ada.order(&key, order.clone()).await.expect(201);
            let calls: Vec<_> = shop.fault_proxy().calls().into_iter().map(|call| call.action).collect();
            assert_eq!(calls, ["BatchGetItem", "TransactWriteItems"]);
            let of_guest = shop.guest_order(SECRET, &key, order.clone()).await.expect(201);
            let accepted = order_later(&ada, &format!("later-{key}"), order).await;
            for order in [placed, of_guest, settled(&ada, &accepted).await] {
                for part in ["shipping", "shippingMethod", "total"] {
                    assert_eq!(order[part], quote[part], "{part} of {key}");
                }
            }
            methods.insert(chosen.to_string());
        }
    }
    assert_eq!(methods.len(), 4, "{methods:?}");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_keeps_its_method_when_staff_rename_it_and_in_the_history() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let placed = ada.order("k", order("DE", 1, Some("express"))).await.expect(201);
    rename(&shop, "Rocket").await;
    let method = json!({ "methodId": "express", "name": "Express" });
    assert_eq!(ada.read(&placed).await["shippingMethod"], method);
    assert_eq!(ada.order("k", order("DE", 1, Some("express"))).await.expect(201), placed);
    ada.order("k", order("DE", 1, Some("standard"))).await.problem(Kind::IdempotencyKeyReused);
    ada.order("new", {
        basket("thing", 1)
            .as_object()
            .map(|basket| json!({ "shippingMethod": "express", "lines": basket["lines"] }))
            .expect("a basket")
    })
    .await
    .problem(Kind::Validation);
    let other = Shop::open().await;
    copied(&shop, &other).await;
    assert_eq!(other.customer("ada").read(&placed).await["shippingMethod"], method);
}

/// Without rates, shipping costs nothing, and there is no method to name.
#[tokio::test(flavor = "multi_thread")]
async fn a_shop_without_rates_has_no_methods() {
    let shop = Shop::selling("thing", 1000, 10).await;
    let ada = shop.customer("ada");
    let quote = ada.post("/quotes", order("DE", 1, None)).await.expect(200);
    for part in ["shipping", "shippingMethod", "shippingMethods"] {
        assert_eq!(quote.get(part), None, "{part}");
    }
    assert_eq!(
        ada.order("k", order("DE", 1, Some("express"))).await.problem(Kind::NotShipped)["shippingMethod"],
        "express"
    );
}
