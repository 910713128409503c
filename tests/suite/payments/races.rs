//! Two changes at once, which change different fields of one payment: only both together decide what is due.

use super::{VISA, cancel, order, shop};
use crate::prelude::*;

/// Cancels an order. The cancellation reads the order, and reaches the table only after `meanwhile` is done.
async fn cancel_late(shop: &Shop, order: &Value, meanwhile: impl AsyncFnOnce()) {
    shop.overtaken(order, "TransactWriteItems", cancel(shop, order), meanwhile).await;
    shop.settle_payments().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_starts_while_its_order_is_cancelled_is_voided() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    cancel_late(&shop, &order, async || _ = shop.start_payment(&order).await.expect(200)).await;
    shop.await_payment(&order, "voided").await;
    assert_eq!(format!("{:?}", shop.intent(&order).status), "Canceled");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_that_lapses_while_its_order_is_cancelled_leaves_nothing_to_do() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    shop.settle_payments().await;
    let lapse = async || {
        let intent = shop.intent(&order).id;
        shop.payments().provider.let_authorization_lapse(&intent).expect("it is authorized");
        shop.await_payment(&order, "expired").await;
    };
    cancel_late(&shop, &order, lapse).await;
    shop.await_payment(&order, "voided").await;
    assert_eq!(shop.admin().get("/payments-due").await.expect(200)["items"], json!([]));
    invariants::hold(&shop).await;
}
