//! Payments at any provider that speaks Stripe's protocol: the laptop's pretend provider, or another one.
//!
//! `.ci/payments` names localstripe, by `TILL_PAYMENTS_URL` and `TILL_PAYMENTS_KEY`. The tests keep to what localstripe
//! can do, too: the payment method is named before the confirmation, and an authorization has no webhook, so the customer
//! resumes the payment.

use shop::provider::Provider;

use super::order;
use crate::prelude::*;

const VISA: &str = "pm_card_visa";
const FAILS: &str = "pm_card_chargeCustomerFail";

async fn shop() -> (Shop, Provider) {
    let (shop, provider) = Shop::open_paying_at_any_provider().await;
    shop.product("thing", 1000, 10).await;
    (shop, provider)
}

/// Starts the payment of an order, and pays with this payment method at the provider. Returns the payment as Till shows
/// it, and the status of the provider's answer.
async fn pay(shop: &Shop, provider: &Provider, order: &Value, method: &str) -> (Value, u16) {
    let payment = shop.start_payment(order).await.expect(200);
    assert_eq!((&payment["status"], &payment["amount"]), (&json!("pending"), &order["total"]));
    let path = format!("payment_intents/{}", intent(&payment));
    let (status, answer) = provider.post(&path, &[("payment_method", method)]).await;
    assert_eq!((status, &answer["status"]), (200, &json!("requires_confirmation")), "{answer}");
    let (status, _) = provider.post(&format!("{path}/confirm"), &[]).await;
    (shop.start_payment(order).await.expect(200), status)
}

fn intent(payment: &Value) -> &str {
    payment["intentId"].as_str().expect("an id")
}

/// The status of the provider's intent, and the amounts that were captured and refunded.
async fn at_provider(provider: &Provider, payment: &Value) -> (String, i64, i64) {
    let intent = provider.get(&format!("payment_intents/{}?expand[]=latest_charge", intent(payment))).await;
    let status = intent["status"].as_str().expect("a status").to_owned();
    let charge = &intent["latest_charge"];
    let captured = if charge["captured"] == true { charge["amount"].as_i64().expect("an amount") } else { 0 };
    let refunded = if captured > 0 { charge["amount_refunded"].as_i64().expect("an amount") } else { 0 };
    (status, captured, refunded)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_order_is_captured_when_it_is_shipped() {
    let (shop, provider) = shop().await;
    let order = order(&shop, "k").await;
    let (payment, status) = pay(&shop, &provider, &order, VISA).await;
    assert_eq!((status, &payment["status"], payment.get("clientSecret")), (200, &json!("authorized"), None));
    assert_eq!(at_provider(&provider, &payment).await, ("requires_capture".to_owned(), 0, 0));

    shop.admin().advance(&order, "SHIPPED").await.expect(200);
    shop.await_payment(&order, "captured").await;
    assert_eq!(at_provider(&provider, &payment).await, ("succeeded".to_owned(), 2000, 0));
    // The provider's own signature is genuine.
    shop.await_webhook(&provider).await;
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_money_of_cancelled_orders_goes_back() {
    let (shop, provider) = shop().await;
    let [open, reserved, captured] = [order(&shop, "a").await, order(&shop, "b").await, order(&shop, "c").await];
    let opened = shop.start_payment(&open).await.expect(200);
    let (reservation, _) = pay(&shop, &provider, &reserved, VISA).await;
    let (charge, _) = pay(&shop, &provider, &captured, VISA).await;
    shop.admin().capture(&captured, None).await.expect(200);
    shop.await_payment(&captured, "captured").await;

    for order in [&open, &reserved, &captured] {
        shop.customer("ada").cancel(order, json!({})).await.expect(200);
    }
    shop.await_payment(&captured, "refunded").await;
    shop.settle_payments().await;
    assert_eq!(at_provider(&provider, &charge).await, ("succeeded".to_owned(), 2000, 2000));
    for payment in [&opened, &reservation] {
        assert_eq!(at_provider(&provider, payment).await, ("canceled".to_owned(), 0, 0));
    }
    assert_eq!(shop.available("thing").await, 10);
    assert_eq!(shop.admin().get("/payments-due").await.expect(200)["items"], json!([]));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_payment_is_told_and_ends_with_its_order() {
    let (shop, provider) = shop().await;
    let order = order(&shop, "k").await;
    let (payment, status) = pay(&shop, &provider, &order, FAILS).await;
    assert_eq!((status, &payment["status"]), (402, &json!("declined")));
    assert!(payment["clientSecret"].is_string(), "the customer may pay with another card");
    shop.await_webhook(&provider).await;
    shop.customer("ada").cancel(&order, json!({})).await.expect(200);
    shop.settle_payments().await;
    assert_eq!(at_provider(&provider, &payment).await, ("canceled".to_owned(), 0, 0));
    invariants::hold(&shop).await;
}
