//! Refunds through the payment provider: it ends with exactly what the customer owes.

use serde_json::{Value, json};
use shop::Shop;

use super::{accepted, advance, amounts, ask_for, furnish, id, place, read, receive};
use crate::invariants;

const VISA: &str = "pm_card_visa";

async fn shop_with_order(parameters: &[(&str, &str)]) -> (Shop, Value) {
    let shop = Shop::open_paying_with(parameters).await;
    furnish(&shop).await;
    let order = place(&shop, "k").await;
    (shop, order)
}

async fn cancel(shop: &Shop, order: &Value, product: &str, quantity: u64) {
    let lines = json!([{ "productId": product, "quantity": quantity }]);
    let path = format!("/orders/{}/cancellation", id(order));
    shop.customer("ada").post(&path, json!({ "lines": lines })).await.expect(200);
}

#[tokio::test]
async fn units_cancelled_before_the_payment_are_neither_reserved_nor_captured() {
    let (shop, order) = shop_with_order(&[]).await;
    cancel(&shop, &order, "cup", 2).await;
    let payment = shop.start_payment(&order).await.expect(200);
    assert_eq!(payment["amount"]["amount"], 349);
    shop.confirm(&payment, VISA).await;
    shop.await_payment(&order, "authorized").await;
    advance(&shop, &order, "SHIPPED").await;
    shop.await_payment(&order, "captured").await;
    assert_eq!((shop.intent(&order).amount, shop.intent(&order).captured), (349, 349));
    assert_eq!(amounts(&read(&shop, &order).await), [200, 349, 0, 0]);
    shop.settle_payments().await;
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn units_cancelled_after_the_authorization_are_not_captured() {
    let (shop, order) = shop_with_order(&[]).await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    cancel(&shop, &order, "pot", 1).await;
    advance(&shop, &order, "SHIPPED").await;
    shop.await_payment(&order, "captured").await;
    let intent = shop.intent(&order);
    assert_eq!((intent.amount, intent.captured, intent.refunded), (549, 250, 0));
    assert_eq!(amounts(&read(&shop, &order).await), [299, 250, 0, 0]);
    shop.settle_payments().await;
    invariants::hold(&shop).await;
}

/// If gift cards pay for the units that are left, the authorization ends.
#[tokio::test]
async fn an_authorization_of_which_nothing_is_wanted_is_voided() {
    let (shop, order) = shop_with_order(&[]).await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    cancel(&shop, &order, "pot", 1).await;
    cancel(&shop, &order, "tray", 1).await;
    shop.await_payment(&order, "voided").await;
    shop.settle_payments().await;
    assert_eq!(format!("{:?}", shop.intent(&order).status), "Canceled");
    assert_eq!(read(&shop, &order).await["status"], "PAID");
    invariants::hold(&shop).await;
    advance(&shop, &order, "SHIPPED").await;
}

#[tokio::test]
async fn what_is_cancelled_or_returned_after_the_capture_is_refunded_in_parts() {
    let (shop, order) = shop_with_order(&[("CaptureWhen", "DEMAND")]).await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    shop.admin().post(&format!("/invoices/{invoice}/payments"), json!({})).await.expect(200);
    shop.await_payment(&order, "captured").await;

    cancel(&shop, &order, "cup", 1).await;
    shop.settle_payments().await;
    assert_eq!((shop.intent(&order).captured, shop.intent(&order).refunded), (549, 100));
    for status in ["SHIPPED", "DELIVERED"] {
        advance(&shop, &order, status).await;
    }
    // Two credits, one after the other, before the provider is asked.
    for (key, product) in [("a", "pot"), ("b", "cup")] {
        let asked = ask_for(&shop, &order, key, product, 1).await;
        receive(&shop, &asked, accepted()).await.expect(200);
    }
    shop.await_payment(&order, "captured").await;
    shop.settle_payments().await;
    assert_eq!((shop.intent(&order).captured, shop.intent(&order).refunded), (549, 499));
    assert_eq!(amounts(&read(&shop, &order).await), [499, 549, 499, 0]);
    let due = shop.admin().get("/payments-due").await.expect(200);
    assert_eq!(due["items"], json!([]));
    invariants::hold(&shop).await;

    let asked = ask_for(&shop, &order, "c", "tray", 1).await;
    receive(&shop, &asked, accepted()).await.expect(200);
    shop.await_payment(&order, "refunded").await;
    shop.settle_payments().await;
    assert_eq!(shop.intent(&order).refunded, 549);
    invariants::hold(&shop).await;
}
