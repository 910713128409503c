//! Card payments at a provider: the customer pays, the shop captures, voids and refunds.

mod any_provider;
mod failed_refunds;
mod forged;
mod races;
mod reports;
pub mod schedules;
mod starting;
mod sweeps;

use serde_json::{Value, json};
use shop::Shop;

use crate::invariants;

const VISA: &str = "pm_card_visa";
const DECLINED: &str = "pm_card_chargeDeclined";

async fn shop() -> Shop {
    let shop = Shop::open_paying().await;
    shop.product("thing", 1000, 10).await;
    shop
}

async fn order(shop: &Shop, key: &str) -> Value {
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 2 }] });
    shop.customer("ada").order(key, body).await.expect(201)
}

fn id(order: &Value) -> &str {
    order["orderId"].as_str().expect("an id")
}

async fn ship(shop: &Shop, order: &Value) -> Value {
    shop.admin().post(&format!("/orders/{}/status", id(order)), json!({ "status": "SHIPPED" })).await.expect(200)
}

async fn cancel(shop: &Shop, order: &Value) -> Value {
    shop.customer("ada").post(&format!("/orders/{}/cancellation", id(order)), json!({})).await.expect(200)
}

#[tokio::test]
async fn an_order_is_paid_by_a_report_and_captured_when_it_is_shipped() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    assert_eq!(order["invoice"]["payments"][0]["status"], "pending");

    let payment = shop.start_payment(&order).await.expect(200);
    assert_eq!((&payment["status"], &payment["amount"]), (&json!("pending"), &order["total"]));
    let again = shop.start_payment(&order).await.expect(200);
    assert_eq!(again, payment, "the same payment, with the same secret");

    shop.confirm(&payment, VISA).await;
    let paid = shop.await_payment(&order, "authorized").await;
    assert_eq!(paid["status"], "PAID");
    let resumed = shop.start_payment(&order).await.expect(200);
    assert_eq!((&resumed["status"], resumed.get("clientSecret")), (&json!("authorized"), None));

    assert_eq!(ship(&shop, &order).await["status"], "SHIPPED");
    shop.await_payment(&order, "captured").await;
    assert_eq!((shop.intent(&order).captured, shop.intent(&order).refunded), (2000, 0));
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_declined_customer_may_pay_again() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    let payment = shop.start_payment(&order).await.expect(200);
    assert_eq!(shop.confirm(&payment, DECLINED).await.0, 402);
    shop.await_payment(&order, "declined").await;
    let again = shop.start_payment(&order).await.expect(200);
    assert_eq!(again["clientSecret"], payment["clientSecret"]);
    shop.confirm(&again, VISA).await;
    assert_eq!(shop.await_payment(&order, "authorized").await["status"], "PAID");
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_cancellation_ends_a_payment_and_returns_a_captured_one() {
    let shop = shop().await;
    let [unpaid, reserved, captured] = [order(&shop, "a").await, order(&shop, "b").await, order(&shop, "c").await];
    shop.start_payment(&unpaid).await.expect(200);
    for paid in [&reserved, &captured] {
        shop.pay(paid, VISA).await;
        shop.await_payment(paid, "authorized").await;
    }
    let invoice = captured["invoice"]["invoiceId"].as_str().expect("an id");
    shop.admin().post(&format!("/invoices/{invoice}/payments"), json!({})).await.expect(200);
    shop.await_payment(&captured, "captured").await;

    for order in [&unpaid, &reserved, &captured] {
        cancel(&shop, order).await;
    }
    shop.await_payment(&captured, "refunded").await;
    for order in [&unpaid, &reserved] {
        shop.await_payment(order, "voided").await;
    }
    shop.settle_payments().await;
    assert_eq!((shop.intent(&captured).captured, shop.intent(&captured).refunded), (2000, 2000));
    for order in [&unpaid, &reserved] {
        assert_eq!(format!("{:?}", shop.intent(order).status), "Canceled");
    }
    assert_eq!(shop.available("thing").await, 10);
    let due = shop.admin().get("/payments-due").await.expect(200);
    assert_eq!(due["items"], json!([]));
    invariants::hold(&shop).await;
}
