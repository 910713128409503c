//! The operations of card payments at the payment provider.

use reqwest::Method;
use serde_json::{Value, json};
use shop::eur;

use super::metered_shop::MeteredShop;

/// The numbers of the orders, which no other order has.
const ORDERS: [u32; 4] = [20, 21, 22, 23];

pub async fn send_all(shop: &mut MeteredShop) {
    for number in ORDERS.into_iter().flat_map(|order| order * 4..order * 4 + 4) {
        let card = json!({ "code": shop.id("g", number), "balance": eur(499) });
        shop.shop.admin().post("/gift-cards", card).await.expect(201);
    }
    let [shipped, reserved, captured, lapsed] = ORDERS;
    ship(shop, shipped).await;
    cancel_reserved(shop, reserved).await;
    cancel_captured(shop, captured).await;
    write_off(shop, lapsed).await;
}

/// Captures the payment of an order that is shipped.
async fn ship(shop: &mut MeteredShop, number: u32) {
    let order = place(shop, number).await;
    for case in ["started", "started before"] {
        start(shop, &order).await;
        shop.check("start-payment", case).await;
    }
    confirm(shop, &order).await;
    for case in ["authorized", "authorized before"] {
        shop.shop.tell(&order).await.expect(204);
        shop.check("receive-payment-event", case).await;
    }
    let status = json!({ "status": "SHIPPED" });
    shop.shop.admin().post(&format!("/orders/{}/status", id(&order)), status).await.expect(200);
    shop.check("change-order-status", "shipped, and its payment is due").await;
    shop.shop.admin().get("/payments-due?limit=100").await.expect(200);
    shop.check("list-payments-due", "a page").await;
    settle(shop, &order).await;
    shop.check("settle-payments", "captured").await;
    shop.shop.tell(&order).await.expect(204);
    shop.check("receive-payment-event", "captured before").await;
    let sweep = shop.shop.consumer("settle-payments", &shop.shop.endpoints());
    assert_eq!(sweep(json!({})).await.expect("an answer")["done"], true);
    shop.check("settle-payments", "nothing is due").await;
}

async fn cancel_reserved(shop: &mut MeteredShop, number: u32) {
    let order = place(shop, number).await;
    start(shop, &order).await;
    confirm(shop, &order).await;
    shop.pass().await;
    start(shop, &order).await;
    shop.check("start-payment", "authorized at the provider").await;
    cancel(shop, &order).await;
    shop.check("cancel-order", "while its payment is authorized").await;
    settle(shop, &order).await;
    shop.check("settle-payments", "voided").await;
}

async fn cancel_captured(shop: &mut MeteredShop, number: u32) {
    let order = place(shop, number).await;
    start(shop, &order).await;
    confirm(shop, &order).await;
    start(shop, &order).await;
    shop.pass().await;
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    shop.shop.admin().post(&format!("/invoices/{invoice}/payments"), json!({})).await.expect(200);
    shop.check("capture-payment", "asked of the provider").await;
    settle(shop, &order).await;
    shop.pass().await;
    cancel(shop, &order).await;
    shop.check("cancel-order", "after the provider captured its payment").await;
    settle(shop, &order).await;
    shop.check("settle-payments", "refunded").await;
}

/// Goes without the money of an order whose authorization ended.
async fn write_off(shop: &mut MeteredShop, number: u32) {
    let order = place(shop, number).await;
    start(shop, &order).await;
    confirm(shop, &order).await;
    start(shop, &order).await;
    shop.shop.act_at_provider(&order, "cancel").await;
    shop.shop.tell(&order).await.expect(204);
    shop.pass().await;
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    shop.shop.admin().post(&format!("/invoices/{invoice}/write-offs"), json!({})).await.expect(200);
    shop.check("write-off", "of a payment that lapsed").await;
}

fn id(order: &Value) -> &str {
    order["orderId"].as_str().expect("an id")
}

async fn place(shop: &mut MeteredShop, number: u32) -> Value {
    let order = shop.customer().order(&format!("paid-{number}"), shop.order(number, 1)).await.expect(201);
    shop.pass().await;
    order
}

async fn start(shop: &MeteredShop, order: &Value) {
    let path = format!("/orders/{}/payment", id(order));
    shop.customer().send(Method::POST, &path, &[], None).await.expect(200);
}

/// The customer pays at the provider, which does not tell the shop.
async fn confirm(shop: &MeteredShop, order: &Value) {
    let entry = shop.shop.intent(order);
    let payment = json!({ "intentId": entry.id, "clientSecret": entry.client_secret });
    assert_eq!(shop.shop.confirm(&payment, "pm_card_visa").await.0, 200);
}

async fn cancel(shop: &MeteredShop, order: &Value) {
    let reason = json!({ "reason": shop.name('r') });
    shop.shop.admin().post(&format!("/orders/{}/cancellation", id(order)), reason).await.expect(200);
}

async fn settle(shop: &MeteredShop, order: &Value) {
    let body = json!({ "detail": { "orderId": id(order) } }).to_string();
    let event = json!({ "Records": [{ "messageId": "m", "body": body }] });
    let settle = shop.shop.consumer("settle-payments", &shop.shop.endpoints());
    let answer = settle(event).await.expect("an answer");
    assert_eq!(answer["batchItemFailures"], json!([]), "{answer}");
}
