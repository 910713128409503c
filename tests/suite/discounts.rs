//! Discount codes that take off an amount, need a sum, or are revoked.

mod several;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};

use crate::prelude::*;

/// A shop with a thing at 10 euros, and this code.
async fn shop(code: Value) -> Shop {
    let shop = Shop::selling("thing", 1000, 1000).await;
    shop.admin().post("/discounts", code).await.expect(201);
    shop
}

/// An order of some things with the code.
fn things(quantity: u64) -> Value {
    json!({ "lines": [{ "productId": "thing", "quantity": quantity }], "discountCode": "CODE" })
}

async fn change(shop: &Shop, if_match: &str, changes: Value) -> Reply {
    shop.admin().patch("/discounts/CODE", if_match, changes).await
}

/// Nothing writes an unlimited code, so its orders do not meet; a limited code is written by each of them.
#[tokio::test(flavor = "multi_thread")]
async fn no_order_that_is_sent_after_the_answer_to_a_revocation_uses_the_code() {
    for code in [json!({ "code": "CODE", "percent": 10 }), json!({ "code": "CODE", "percent": 10, "maxUses": 1000 })] {
        let shop = shop(code).await;
        let ada = shop.customer("ada");
        let (is_revoked, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
        let orders = (0..100).map(|at| {
            let (ada, is_revoked, answered) = (ada.clone(), &is_revoked, &answered);
            async move {
                let sent_after = is_revoked.load(Ordering::SeqCst);
                let reply = ada.order(&format!("k{at}"), things(1)).await;
                answered.fetch_add(1, Ordering::SeqCst);
                (sent_after, reply)
            }
        });
        let revoking = async {
            until("some orders are placed", async || answered.load(Ordering::SeqCst) >= 10).await;
            change(&shop, "*", json!({ "revoked": true })).await.expect(200);
            is_revoked.store(true, Ordering::SeqCst);
        };
        let (replies, ()) = tokio::join!(stream::iter(orders).buffer_unordered(4).collect::<Vec<_>>(), revoking);

        is_revoked.store(true, Ordering::SeqCst);
        for (sent_after, reply) in replies {
            match reply.status {
                201 => assert!(!sent_after, "an order was placed with a revoked code"),
                _ => drop(reply.problem(Kind::DiscountInvalid)),
            }
        }
        ada.order("late", things(1)).await.problem(Kind::DiscountInvalid);
        ada.post("/quotes", things(1)).await.problem(Kind::DiscountInvalid);
        ada.get("/discounts/CODE").await.problem(Kind::NotFound);
        assert_eq!(shop.admin().get("/discounts/CODE").await.expect(200)["revoked"], true);
        // Orders that have the code keep it, and staff may allow it again.
        change(&shop, "*", json!({ "revoked": false })).await.expect(200);
        assert_eq!(ada.order("again", things(1)).await.expect(201)["discount"], eur(100));
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_code_that_is_revoked_while_an_order_is_on_its_way_is_not_used() {
    let shop = shop(json!({ "code": "CODE", "percent": 10, "maxUses": 5 })).await;
    let revoking = async || change(&shop, "*", json!({ "revoked": true })).await.expect(200);
    let ada = shop.customer("ada");
    let commit = commit();
    let (reply, revoked) = shop.held(commit, ada.order("k", things(1)), revoking).await;
    reply.problem(Kind::DiscountInvalid);
    assert_eq!((&revoked["uses"], &revoked["revoked"]), (&json!(0), &json!(true)));
    assert_eq!(shop.available("thing").await, 1000, "nothing was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_waits_is_refused_if_its_code_is_revoked_meanwhile() {
    let shop = Shop::open_undrained().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.admin().post("/discounts", json!({ "code": "CODE", "percent": 10 })).await.expect(201);
    let ada = shop.customer("ada");
    let accepted = order_later(&ada, "later", things(1)).await;
    let path = accepted.header("location").expect("a location").to_owned();
    accepted.expect(202);
    change(&shop, "*", json!({ "revoked": true })).await.expect(200);
    for message in shop.take_messages().await {
        assert_eq!(shop.drain(&[message]).await["batchItemFailures"], json!([]));
    }
    let refused = ada.get(&path).await.expect(200);
    assert_eq!(refused["status"], "REJECTED", "{refused}");
    assert!(refused.to_string().contains("discount-invalid"), "{refused}");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_is_taken_off_from_its_least_sum_on_and_at_most_the_sum() {
    let shop = shop(json!({ "code": "CODE", "amount": eur(2500), "minSubtotal": eur(2000) })).await;
    let ada = shop.customer("ada");
    ada.order("one", things(1)).await.problem(Kind::DiscountInvalid);
    ada.post("/quotes", things(1)).await.problem(Kind::DiscountInvalid);
    for (quantity, off) in [(2, 2000), (3, 2500), (5, 2500)] {
        let quoted = ada.post("/quotes", things(quantity)).await.expect(200);
        let order = ada.order(&format!("{quantity}"), things(quantity)).await.expect(201);
        for shown in [&quoted, &order] {
            assert_eq!((&shown["discount"], &shown["total"]), (&eur(off), &eur(quantity * 1000 - off)), "{shown}");
        }
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_has_one_spelling() {
    let shop = shop(json!({ "code": "Welcome10x", "percent": 10 })).await;
    shop.admin().post("/discounts", json!({ "code": "WELCOME10X", "percent": 20 })).await.problem(Kind::AlreadyExists);
    assert_eq!(shop.admin().get("/discounts/welcome10x").await.expect(200)["code"], "WELCOME10X");
    let body = |code: &str| json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "discountCode": code });
    let order = shop.customer("ada").order("k", body("welcome10X")).await.expect(201);
    assert_eq!((&order["total"], &order["discountCode"]), (&eur(900), &json!("WELCOME10X")));
    let again = shop.customer("ada").order("k", body("WELCOME10x")).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"), "the same code is the same request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_has_either_a_percentage_or_an_amount() {
    let shop = shop(json!({ "code": "CODE", "amount": eur(100) })).await;
    let admin = shop.admin();
    for wrong in [
        json!({ "code": "NEW" }),
        json!({ "code": "NEW", "percent": 10, "amount": eur(100) }),
        json!({ "code": "NEW", "amount": eur(0) }),
        json!({ "code": "NEW", "amount": eur(100), "minSubtotal": { "amount": 1, "currency": "USD" } }),
    ] {
        admin.post("/discounts", wrong).await.problem(Kind::Validation);
    }
    admin.get("/discounts/NEW").await.problem(Kind::NotFound);
    // The same request again is answered as before, and another one for the same code is refused.
    admin.post("/discounts", json!({ "code": "CODE", "amount": eur(100) })).await.expect(201);
    admin.post("/discounts", json!({ "code": "CODE", "percent": 10 })).await.problem(Kind::AlreadyExists);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_code_names_the_version_and_may_be_repeated() {
    let shop = shop(json!({ "code": "CODE", "percent": 10, "from": "2026-01-01" })).await;
    let admin = shop.admin();
    assert_eq!(change(&shop, "\"1\"", json!({ "revoked": true })).await.expect(200)["revoked"], true);
    for _ in 0..2 {
        change(&shop, "\"1\"", json!({ "revoked": true })).await.expect(200);
    }
    change(&shop, "\"1\"", json!({ "revoked": false })).await.problem(Kind::VersionConflict);
    change(&shop, "\"2\"", json!({ "to": "2025-01-01" })).await.problem(Kind::Validation);
    let ended = change(&shop, "\"2\"", json!({ "revoked": false, "to": "2026-02-01" })).await.expect(200);
    assert_eq!((ended.get("revoked"), &ended["to"]), (None, &json!("2026-02-01T00:00:00.000Z")));
    shop.customer("ada").order("k", things(1)).await.problem(Kind::DiscountInvalid);
    admin
        .send(Method::PATCH, "/discounts/NONE", &[("if-match", "*")], Some("{}".to_owned()))
        .await
        .problem(Kind::NotFound);
}
