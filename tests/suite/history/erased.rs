//! Erased customers in a history: their tombstones move with the shop, and no older file brings them back.

use local::history::Options;

use super::{AFTER_EVERY_CHANGE, Temporary, assert_valid, exported, imported};
use crate::invariants::{BEFORE_EVERY_CHANGE, breaches};
use crate::prelude::*;

/// A shop with ada, who was erased after she cancelled an order. Returns the exports before and after that.
async fn erased() -> (Shop, String, String) {
    let shop = Shop::selling("thing", 1000, 10).await;
    let ada = shop.customer("ada");
    let order = ada.order("k", basket("thing", 1)).await.expect(201);
    ada.cancel(&order, json!({ "reason": "unmistakable" })).await.expect(200);
    let before = exported(&shop).await;
    assert!(before.contains("ada@example.com") && before.contains("unmistakable"));
    assert_eq!(ada.delete("/customers/ada").await.status, 204);
    let after = exported(&shop).await;
    (shop, before, after)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tombstone_moves_with_its_orders_and_without_claims() {
    let (_, _, file) = erased().await;
    assert_valid(&file);
    assert!(!file.contains("ada@example.com") && !file.contains("unmistakable"), "{file}");
    assert!(file.contains("\"erased\":true"), "the order takes no text in the next shop: {file}");
    let next = Shop::open().await;
    let temporary = Temporary::with("erased", &file);
    for _ in 0..2 {
        let (_, refused) = imported(&next, &temporary, &Options::default()).await;
        assert_eq!(refused, Vec::new());
    }
    assert_eq!(exported(&next).await, file);
    let claims = next.dump().await.into_iter().filter(|item| {
        let entity = item["EntityType"]["S"].as_str().expect("an entity");
        entity == "emailClaim" || entity == "usernameClaim"
    });
    assert_eq!(claims.collect::<Vec<_>>(), Vec::<Value>::new());
    let ada = next.customer("ada");
    let body = json!({ "username": "ada", "email": "ada@example.com", "name": "Ada" });
    ada.post("/customers", body).await.problem(Kind::CustomerErased);
    let cart = json!({ "lines": [] }).to_string();
    ada.send(Method::PUT, "/customers/ada/cart", &[], Some(cart)).await.problem(Kind::CustomerErased);
    assert_eq!(breaches(&next, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_file_does_not_bring_an_erased_customer_back() {
    let (shop, before, after) = erased().await;
    let (_, refused) = imported(&shop, &Temporary::with("older", &before), &Options::default()).await;
    // The customer, and the order with its text.
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert_eq!(exported(&shop).await, after);

    let half = json!({
        "type": "customer", "customerId": "eve", "username": "eve", "email": "eve@example.com", "name": "Eve",
        "createdAt": "2019-01-01", "erasedAt": "2020-01-01",
    });
    let (_, refused) = imported(&shop, &Temporary::with("half", &half.to_string()), &Options::default()).await;
    assert!(matches!(&refused[..], [(1, reason)] if reason.contains("an erased customer has no name")), "{refused:?}");
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await.iter().filter(|what| what.contains("customer ")).count(), 0);
}

/// A tombstone that still has a text is a breach, and so is a claim of an erased customer.
#[tokio::test(flavor = "multi_thread")]
async fn an_audit_finds_what_an_erasure_left() {
    let (shop, _, _) = erased().await;
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    shop.set("c#ada", "c#ada", "name", json!({ "S": "Ada" })).await;
    let claim = key_schema::entity::EmailClaim {
        email: "ada@example.com".parse().expect("an address"),
        customer_id: "ada".parse().expect("an id"),
    };
    shop.put(&claim).await;
    let found = breaches(&shop, BEFORE_EVERY_CHANGE).await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|what| what.contains("still has texts")), "{found:?}");
}
