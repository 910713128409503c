//! Payments that are started after an earlier one ended or after their order did, and payments of too small an amount.

use super::{VISA, cancel, order, shop};
use crate::prelude::*;

/// The intent of an order that its customer cancelled stays open at the provider until it is voided.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_the_secret_of_a_payment_that_the_shop_no_longer_wants() {
    let shop = shop().await;
    let [expired, cancelled] = [order(&shop, "a").await, order(&shop, "b").await];
    for order in [&expired, &cancelled] {
        shop.start_payment(order).await.expect(200);
    }
    // Nobody tells the provider meanwhile.
    shop.bus().fail(|_| Some("InternalFailure"));
    shop.age(&expired).await;
    shop.expire().await;
    cancel(&shop, &cancelled).await;
    // The expiry has ended its intent first.
    shop.start_payment(&expired).await.problem(Kind::InvalidTransition);
    let payment = shop.start_payment(&cancelled).await.expect(200);
    assert_eq!((&payment["status"], payment.get("clientSecret")), (&json!("voided"), None));
    shop.bus().heal();
    shop.settle_payments().await;
    for order in [&expired, &cancelled] {
        shop.start_payment(order).await.problem(Kind::InvalidTransition);
    }
    invariants::hold(&shop).await;
}

/// A gift card leaves less to pay than the provider charges a card with.
#[tokio::test(flavor = "multi_thread")]
async fn an_amount_that_is_too_small_for_a_card_is_refused_and_changes_nothing() {
    let shop = shop().await;
    shop.gift_card("MOST", 1951).await;
    shop.gift_card("LESS", 1950).await;
    let with_card = async |card: &str| {
        let body = json!({ "lines": [{ "productId": "thing", "quantity": 2 }], "giftCards": [card] });
        shop.customer("ada").order(card, body).await.expect(201)
    };
    let [small, least] = [with_card("MOST").await, with_card("LESS").await];
    let before = shop.dump().await;
    for _ in 0..2 {
        let problem = shop.start_payment(&small).await.problem(Kind::AmountTooSmall);
        assert_eq!(problem["cardAmount"], json!({ "amount": 49, "currency": "EUR" }));
        assert_eq!(shop.dump().await, before);
    }
    assert_eq!(shop.payments().provider.ledger().of_order(order_id(&small)).count(), 0);
    shop.pay(&least, VISA).await;
    shop.await_payment(&least, "authorized").await;
    cancel(&shop, &small).await;
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_no_card_pays_says_what_has_paid_it() {
    let shop = shop().await;
    shop.product("leaflet", 0, 10).await;
    shop.gift_card("ALL", 5000).await;
    for (product, cards, detail) in
        [("leaflet", json!([]), "The order is free."), ("thing", json!(["ALL"]), "Gift cards have paid the order.")]
    {
        let body = json!({ "lines": [{ "productId": product, "quantity": 1 }], "giftCards": cards });
        let order = shop.customer("ada").order(product, body).await.expect(201);
        assert_eq!(shop.start_payment(&order).await.problem(Kind::InvalidTransition)["detail"], detail);
    }
}
