//! The money of cancelled orders.

use super::Change::{Cancel, Capture, Refund};
use super::{ask, shop_with_order};
use crate::prelude::*;

/// The card payment of an order's invoice, as the API shows it.
async fn card(shop: &Shop, order: &Value) -> Value {
    let id = invoice_id(order);
    let invoice = shop.admin().get(&format!("/invoices/{id}")).await.expect(200);
    let payments = invoice["payments"].as_array().expect("payments");
    payments.iter().find(|payment| payment["type"] == "card").expect("a card payment").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_refund_of_a_cancelled_order_is_due_until_it_is_confirmed() {
    let amount = eur(1300);
    let due = json!({
        "type": "card", "amount": amount, "status": "refundDue", "reference": "bank-1", "received": amount, "due": amount,
    });
    for ways in [[Capture, Cancel], [Cancel, Capture]] {
        let (shop, order) = shop_with_order().await;
        for change in ways {
            ask(&shop.admin(), &order, change).await.expect(200);
        }
        assert_eq!(card(&shop, &order).await, due, "{ways:?}");
        // A second payment under another reference is refused.
        shop.admin().capture(&order, "bank-2").await.problem(Kind::InvalidTransition);

        ask(&shop.admin(), &order, Refund).await.expect(200);
        let refunded = json!({
            "type": "card", "amount": amount, "status": "refunded", "reference": "bank-1", "received": amount,
            "returned": amount, "refundReference": "back-1",
        });
        assert_eq!(card(&shop, &order).await, refunded, "{ways:?}");
        shop.admin().confirm_refund(&order, "back-2").await.problem(Kind::InvalidTransition);
        invariants::hold(&shop).await;
    }
    let (shop, order) = shop_with_order().await;
    ask(&shop.customer("ada"), &order, Cancel).await.expect(200);
    assert_eq!(card(&shop, &order).await, json!({ "type": "card", "amount": amount, "status": "voided" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_reference_for_a_captured_payment_is_refused() {
    let (shop, order) = shop_with_order().await;
    ask(&shop.admin(), &order, Capture).await.expect(200);
    shop.admin().capture(&order, "bank-2").await.problem(Kind::InvalidTransition);
}
