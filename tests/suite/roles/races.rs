//! Card payments of the eventful day that two requests change at once, or that staff change in two ways.

use super::card_payments::{VISA, cancel, order, pay, ship};
use crate::prelude::*;

/// No event reaches the settling function, so that what is due waits for its schedule.
pub async fn raced(shop: &Shop) {
    shop.settle().await;
    shop.bus().fail(|_| Some("InternalFailure"));
    cancelled_before_it_is_started(shop).await;
    reported_before_it_is_settled(shop).await;
    changed_at_the_provider(shop).await;
    by_bank(shop).await;
    shop.settle().await;
    shop.bus().heal();
}

async fn cancelled_before_it_is_started(shop: &Shop) {
    let order = order(shop, "cancelled before the start").await;
    let start = shop.overtaken(&order, "UpdateItem", shop.start_payment(&order), async || cancel(shop, &order).await);
    start.await.expect(409);
}

/// The provider captured a payment by itself, and somebody refunded a cent there. The settling function sees both. Before it
/// records that, a message makes another function look.
async fn reported_before_it_is_settled(shop: &Shop) {
    let order = order(shop, "reported before it is settled").await;
    pay(shop, &order).await;
    ship(shop, &order).await;
    shop.act_at_provider(&order, "capture").await;
    shop.refund_at_provider(&order, 1).await;
    shop.age_payments_due().await;
    let captured = async || _ = shop.tell(&order).await.expect(204);
    shop.overtaken(&order, "TransactWriteItems", shop.sweep_payments(), captured).await;
    shop.await_payment(&order, "captured").await;
}

/// What is due of these payments changed at the provider, which does not tell.
async fn changed_at_the_provider(shop: &Shop) {
    // A payment that is captured before its order is shipped.
    let early = order(shop, "captured early").await;
    pay(shop, &early).await;
    shop.act_at_provider(&early, "capture").await;
    shop.tell(&early).await.expect(204);
    // The customer has paid, and cancels. Somebody has changed the amount of the second one.
    for (key, amount) in [("cancelled, and paid", None), ("cancelled, and of another amount", Some(1))] {
        let order = order(shop, key).await;
        let payment = shop.start_payment(&order).await.expect(200);
        shop.confirm(&payment, VISA).await;
        cancel(shop, &order).await;
        if let Some(amount) = amount {
            shop.change_amount_at_provider(&order, amount);
        }
    }
    shop.age_payments_due().await;
    shop.sweep_payments().await;
}

/// Transfers for cancelled orders, of which staff learn before the provider is asked to void the customers' own payments.
async fn by_bank(shop: &Shop) {
    let admin = shop.admin();
    let pay_by_bank = async |order: &Value, reference: &str| {
        let invoice = format!("/invoices/{}", invoice_id(order));
        admin.capture(order, reference).await.expect(200);
        invoice
    };
    let refunded = order(shop, "refunded before it is voided").await;
    shop.start_payment(&refunded).await.expect(200);
    cancel(shop, &refunded).await;
    let invoice = pay_by_bank(&refunded, "bank-20").await;
    admin.post(&format!("{invoice}/refunds"), json!({ "reference": "back-20" })).await.expect(200);
    // Before, units were cancelled for all that the card was to pay, so the transfer is for nothing.
    shop.gift_card("MORE-THAN-HALF", 1200).await;
    let mut lines = things(2);
    lines["giftCards"] = json!(["MORE-THAN-HALF"]);
    let credited = shop.customer("ada").order("credited", lines).await.expect(201);
    let path = super::card_payments::path(&credited);
    shop.customer("ada").post(&format!("{path}/cancellation"), basket("thing", 1)).await.expect(200);
    cancel(shop, &credited).await;
    pay_by_bank(&credited, "bank-21").await;
}
