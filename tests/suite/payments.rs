//! Card payments at a provider: the customer pays, the shop captures, voids and refunds.

mod any_provider;
mod forged;
mod races;
mod reports;
pub mod schedules;
mod starting;
mod sweeps;
pub mod two_books;

use crate::prelude::*;

const VISA: &str = "pm_card_visa";
const DECLINED: &str = "pm_card_chargeDeclined";

pub async fn shop() -> Shop {
    let shop = Shop::open_paying().await;
    shop.product("thing", 1000, 10).await;
    shop
}

async fn order(shop: &Shop, key: &str) -> Value {
    let body = basket("thing", 2);
    shop.customer("ada").order(key, body).await.expect(201)
}

async fn ship(shop: &Shop, order: &Value) -> Value {
    shop.admin().advance(order, "SHIPPED").await.expect(200)
}

async fn cancel(shop: &Shop, order: &Value) -> Value {
    shop.customer("ada").cancel(order, json!({})).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
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

#[tokio::test(flavor = "multi_thread")]
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
