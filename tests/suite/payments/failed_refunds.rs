//! Refunds that fail at the provider after it accepted them: staff are told, and nothing else happens.

use shop::log::Log;

use super::reports::now;
use super::{VISA, cancel, order, shop};
use crate::prelude::*;

const METRIC: &str = "PaymentMismatches";

/// An order whose payment was captured and refunded.
async fn refunded(shop: &Shop) -> Value {
    let order = order(shop, "k").await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    shop.admin().capture(&order, None).await.expect(200);
    shop.await_payment(&order, "captured").await;
    cancel(shop, &order).await;
    shop.await_payment(&order, "refunded").await;
    shop.settle_payments().await;
    order
}

/// The event with which Stripe tells that the card of a refund is closed.
fn failure(shop: &Shop, of: &Value, status: &str, metadata: &Value) -> Value {
    json!({ "id": "evt_test", "object": "event", "type": "charge.refund.updated", "data": { "object": {
        "id": "re_test", "object": "refund", "amount": 2000, "currency": "eur", "charge": "ch_test",
        "payment_intent": shop.intent(of).id, "status": status, "failure_reason": "expired_or_canceled_card",
        "metadata": metadata,
    } } })
}

// The log of a test is that of its thread, so everything runs in one thread.
#[tokio::test]
async fn a_refund_that_fails_later_changes_nothing_and_is_told_each_time() {
    let shop = shop().await;
    let order = refunded(&shop).await;
    let before = shop.dump().await;
    let (log, _logging) = Log::begin();

    let key = shop.webhook_secret().to_owned();
    let of_till = json!({ "orderId": order_id(&order) });
    // Somebody made the last one in the provider's dashboard: only its payment names the order.
    for metadata in [&of_till, &of_till, &json!({})] {
        log.take();
        shop.report(&key, now(), &failure(&shop, &order, "failed", metadata)).await.expect(204);
        let said = log.take();
        let named = [METRIC, "ERROR", "a refund has failed", order_id(&order), &shop.intent(&order).id, "re_test"];
        assert!(named.iter().all(|part| said.contains(part)), "{said}");
        assert_eq!(shop.dump().await, before);
    }

    let elsewhere = json!({ "orderId": "another" });
    for (status, metadata) in [("succeeded", &of_till), ("pending", &of_till), ("failed", &elsewhere)] {
        log.take();
        shop.report(&key, now(), &failure(&shop, &order, status, metadata)).await.expect(204);
        assert!(!log.take().contains(METRIC), "{status} {metadata}");
        assert_eq!(shop.dump().await, before);
    }
}
