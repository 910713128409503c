//! Units that are cancelled before the order is shipped.

use super::{AFTER_EVERY_CHANGE, accepted, amounts, ask_for, balance, deliver, furnish, place};
use crate::prelude::*;

async fn cancel(client: &Client, order: &Value, lines: Value) -> Reply {
    client.cancel(order, json!({ "lines": lines })).await
}

fn units(product: &str, quantity: u64) -> Value {
    json!([{ "productId": product, "quantity": quantity }])
}

async fn shop_with_order() -> (Shop, Value) {
    let shop = Shop::with_ada().await;
    furnish(&shop).await;
    let order = place(&shop, "k").await;
    (shop, order)
}

#[tokio::test(flavor = "multi_thread")]
async fn units_that_are_cancelled_before_payment_are_not_paid() {
    let (shop, order) = shop_with_order().await;
    let ada = shop.customer("ada");
    let now = cancel(&ada, &order, units("cup", 2)).await.expect(200);
    assert_eq!(now["credits"], json!([{ "productId": "cup", "units": 2, "amount": eur(200) }]));
    assert_eq!((&now["status"], amounts(&now)), (&json!("PENDING"), [200, 0, 0, 0]));
    assert_eq!(shop.available("cup").await, 9);
    // `quantity` is the number of units in the end, so the same request cancels no more.
    let again = cancel(&ada, &order, units("cup", 2)).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), now);
    invariants::hold(&shop).await;

    // The customer transfers what is left: 3.49.
    shop.admin().capture(&order, "bank-1").await.expect(200);
    assert_eq!(amounts(&shop.customer("ada").read(&order).await), [200, 349, 0, 0]);
    // The rest of the cups after the payment: their money goes back.
    cancel(&ada, &order, units("cup", 3)).await.expect(200);
    assert_eq!(amounts(&shop.customer("ada").read(&order).await), [300, 349, 0, 100]);
    shop.admin().confirm_refund(&order, "back-1").await.expect(200);
    let twice = shop.admin().confirm_refund(&order, "back-1").await;
    assert_eq!(twice.header("idempotent-replayed"), Some("true"));
    shop.admin().confirm_refund(&order, "back-2").await.problem(Kind::InvalidTransition);
    assert_eq!(amounts(&shop.customer("ada").read(&order).await), [300, 349, 100, 0]);
    invariants::hold(&shop).await;

    shop.admin().advance(&order, "SHIPPED").await.expect(200);
    cancel(&ada, &order, units("pot", 1)).await.problem(Kind::InvalidTransition);
    shop.admin().advance(&order, "DELIVERED").await.expect(200);
    let asked = ask_for(&shop, &order, "a", "pot", 1).await;
    shop.admin().receive(&asked, accepted()).await.expect(200);
    assert_eq!(amounts(&shop.customer("ada").read(&order).await), [549, 349, 100, 249]);
    assert_eq!(balance(&shop, "GIFT-B").await, 50, "the card payment has 2.49 left, and the pot was 2.99");
    shop.admin().confirm_refund(&order, "back-2").await.expect(200);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cancellation_of_the_rest_gives_back_only_the_rest() {
    for is_paid in [false, true] {
        let (shop, order) = shop_with_order().await;
        if is_paid {
            shop.admin().capture(&order, "bank-1").await.expect(200);
        }
        let ada = shop.customer("ada");
        // More than the card payment: the last gift card has its share.
        let now = cancel(&ada, &order, json!([units("cup", 3)[0], units("pot", 1)[0]])).await.expect(200);
        assert_eq!(now["status"], "PAID", "gift cards pay for the tray");
        assert_eq!([balance(&shop, "GIFT-A").await, balance(&shop, "GIFT-B").await], [0, 50]);
        invariants::hold(&shop).await;
        let all = json!([units("cup", 3)[0], units("pot", 1)[0], units("tray", 1)[0]]);
        let now = cancel(&ada, &order, all).await.expect(200);
        assert_eq!(now["status"], "CANCELLED");
        assert_eq!([balance(&shop, "GIFT-A").await, balance(&shop, "GIFT-B").await], [200, 150]);
        for product in ["cup", "pot", "tray"] {
            assert_eq!(shop.available(product).await, 10, "{product}");
        }
        let due = if is_paid { 549 } else { 0 };
        assert_eq!(amounts(&shop.customer("ada").read(&order).await), [549, due, 0, due]);
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_units_and_strange_lines_are_refused() {
    let (shop, order) = shop_with_order().await;
    let ada = shop.customer("ada");
    let before = shop.dump().await;
    let few = cancel(&ada, &order, units("cup", 4)).await.problem(Kind::TooFewUnits);
    assert_eq!((&few["productId"], &few["left"]), (&json!("cup"), &json!(3)));
    cancel(&ada, &order, units("book", 1)).await.problem(Kind::TooFewUnits);
    cancel(&ada, &order, json!([])).await.problem(Kind::Validation);
    cancel(&ada, &order, json!([units("cup", 1)[0], units("cup", 2)[0]])).await.problem(Kind::Validation);
    shop.sign_up("bob").await;
    let after = shop.dump().await;
    cancel(&shop.customer("bob"), &order, units("cup", 1)).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, after);
    assert!(after.len() > before.len(), "only bob was added");
}

/// Requests for the same product at once end with the largest number, and requests for others add up.
#[tokio::test(flavor = "multi_thread")]
async fn cancellations_at_once_add_up() {
    let (shop, order) = shop_with_order().await;
    at_once([("cup", 1), ("cup", 2), ("cup", 2), ("pot", 1), ("pot", 1)], async |(product, quantity)| {
        cancel(&shop.customer("ada"), &order, units(product, quantity)).await.expect(200)
    })
    .await;
    let now = shop.customer("ada").read(&order).await;
    let credits = json!([
        { "productId": "cup", "units": 2, "amount": eur(200) }, { "productId": "pot", "units": 1, "amount": eur(299) },
    ]);
    assert_eq!(now["credits"], credits);
    assert_eq!([shop.available("cup").await, shop.available("pot").await], [9, 10]);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_and_audit_follow_cancelled_and_returned_units() {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    furnish(&shop).await;
    let order = place(&shop, "k").await;
    cancel(&shop.customer("ada"), &order, units("cup", 1)).await.expect(200);
    shop.settle().await;
    let product = |product: &'static str| {
        let shop = &shop;
        async move { shop.admin().get(&format!("/products/{product}/stats")).await.expect(200) }
    };
    let cup = product("cup").await;
    assert_eq!((&cup["orders"], &cup["units"], &cup["revenue"]), (&json!(1), &json!(2), &json!([eur(222)])));
    let ada = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!((&ada["stats"]["orders"], &ada["stats"]["spent"]), (&json!(1), &json!([eur(799)])));
    assert_eq!(invariants::breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());

    shop.admin().capture(&order, "bank-1").await.expect(200);
    deliver(&shop, &order).await;
    let asked = ask_for(&shop, &order, "a", "pot", 1).await;
    shop.admin().receive(&asked, accepted()).await.expect(200);
    let refused = ask_for(&shop, &order, "b", "tray", 1).await;
    shop.admin().receive(&refused, json!({ "accepted": false, "reason": "used" })).await.expect(200);
    shop.settle().await;
    let pot = product("pot").await;
    assert_eq!((&pot["orders"], &pot["units"]), (&json!(1), &json!(0)));
    let ada = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!(ada["stats"]["spent"], json!([eur(500)]));
    assert_eq!(invariants::breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());

    // An order that is cancelled whole after a part of it was: nothing of it is left in the counts.
    let other = shop.customer("ada").order("l", json!({ "lines": units("cup", 3) })).await.expect(201);
    cancel(&shop.customer("ada"), &other, units("cup", 1)).await.expect(200);
    cancel(&shop.customer("ada"), &other, units("cup", 3)).await.expect(200);
    shop.settle().await;
    assert_eq!(product("cup").await["units"], 2);
    assert_eq!(invariants::breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
}
