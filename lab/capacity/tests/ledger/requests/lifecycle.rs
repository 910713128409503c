//! Orders on their way: paid, shipped, cancelled, refunded, expired.

use serde_json::{Value, json};
use shop::imported::other_invoice_id;

use super::Placed;
use crate::counting;
use crate::metered_shop::MeteredShop;

pub async fn changes(shop: &mut MeteredShop, orders: &[Placed]) {
    let (first, second) = (&orders[0], &orders[1]);
    let admin = shop.shop.admin();
    let capture = json!({ "reference": shop.name('r') });
    for case in ["captured", "again"] {
        admin.post(&format!("/invoices/{}/payments", first.invoice()), capture.clone()).await.expect(200);
        shop.check("capture-payment", case).await;
    }
    let another = json!({ "reference": shop.name('s') });
    admin.post(&format!("/invoices/{}/payments", first.invoice()), another).await.expect(409);
    shop.check("capture-payment", "under another reference").await;
    admin.post(&format!("/invoices/{}/refunds", first.invoice()), capture.clone()).await.expect(409);
    shop.check("confirm-refund", "nothing is due").await;
    for (status, case) in [("SHIPPED", "shipped"), ("DELIVERED", "delivered"), ("DELIVERED", "again")] {
        admin.post(&format!("/orders/{}/status", first.id()), json!({ "status": status })).await.expect(200);
        shop.check("change-order-status", case).await;
    }
    let reason = json!({ "reason": shop.name('r') });
    admin.post(&format!("/orders/{}/cancellation", first.id()), reason.clone()).await.expect(409);
    shop.check("cancel-order", "too late").await;
    for case in ["before it is paid", "again"] {
        admin.post(&format!("/orders/{}/cancellation", second.id()), reason.clone()).await.expect(200);
        shop.check("cancel-order", case).await;
    }
    counting::count_cancellation(shop, second).await;
    admin.post(&format!("/orders/{}/status", second.id()), json!({ "status": "SHIPPED" })).await.expect(409);
    shop.check("change-order-status", "refused").await;
    admin.post(&format!("/invoices/{}/payments", second.invoice()), capture.clone()).await.expect(200);
    shop.check("capture-payment", "after the order was cancelled").await;
    for case in ["refunded", "again"] {
        admin.post(&format!("/invoices/{}/refunds", second.invoice()), capture.clone()).await.expect(200);
        shop.check("confirm-refund", case).await;
    }
    by_old_id(shop, &capture).await;
    overdue(shop).await;
    numbers(shop).await;
    let third = Placed(shop.customer().order("k2", shop.order(2, 1)).await.expect(201));
    admin.post(&format!("/invoices/{}/payments", third.invoice()), capture).await.expect(200);
    shop.pass().await;
    admin.post(&format!("/orders/{}/cancellation", third.id()), reason).await.expect(200);
    shop.check("cancel-order", "after it is paid").await;
}

/// Expires an order that is not paid in time.
async fn overdue(shop: &mut MeteredShop) {
    shop.shop.expire().await;
    shop.check("expire-orders", "nothing is overdue").await;
    let order = shop.customer().order("k9", shop.order(13, 1)).await.expect(201);
    shop.shop.age(&order).await;
    shop.pass().await;
    assert_eq!(shop.shop.expire().await["expired"], 1);
    shop.check("expire-orders", "an order").await;
}

/// Gives an invoice its number.
async fn numbers(shop: &mut MeteredShop) {
    shop.shop.number().await;
    shop.check("number-invoices", "nothing waits").await;
    // The first number of a series creates the counter.
    for (key, number) in [("k10", 18), ("k11", 19)] {
        let order = shop.customer().order(key, shop.order(number, 1)).await.expect(201);
        shop.shop.let_invoice_wait(&order).await;
        shop.pass().await;
        assert_eq!(shop.shop.number().await["numbered"], 1);
        if key == "k10" {
            shop.pass().await;
        }
    }
    shop.check("number-invoices", "an invoice").await;
}

/// Captures an order whose invoice has an id of another shop.
async fn by_old_id(shop: &mut MeteredShop, reference: &Value) {
    let admin = shop.shop.admin();
    let order = shop.customer().order("k8", shop.order(12, 1)).await.expect(201);
    shop.pass().await;
    let path = format!("/invoices/{}", other_invoice_id(&shop.shop, &order).await);
    admin.get(&path).await.expect(200);
    shop.check("get-invoice", "found by an old id").await;
    admin.get(&format!("{path}/payments")).await.expect(200);
    shop.check("list-invoice-payments", "found by an old id").await;
    admin.post(&format!("{path}/refunds"), reference.clone()).await.expect(409);
    shop.check("confirm-refund", "nothing is due, by an old id").await;
    admin.post(&format!("{path}/payments"), reference.clone()).await.expect(200);
    shop.check("capture-payment", "captured, by an old id").await;
}
