//! Reports that are late, doubled or out of order, and what must never be reported.

use http_api::Kind;
use key_schema::value::Timestamp;
use serde_json::json;

use super::{VISA, id, order, shop};
use crate::invariants;

pub fn now() -> i64 {
    Timestamp::now().as_second()
}

#[tokio::test]
async fn late_doubled_and_disordered_reports_change_nothing_more() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    let before = shop.dump().await;
    let secret = shop.webhook_secret().to_owned();
    for status in ["requires_payment_method", "requires_capture", "processing", "requires_capture"] {
        shop.report(&secret, now(), &shop.report_of(&order, status)).await.expect(204);
    }
    assert_eq!(shop.dump().await, before);
    invariants::hold(&shop).await;
}

/// The provider's report may be faster than the request that starts the payment.
#[tokio::test]
async fn a_payment_that_is_authorized_after_its_order_expired_is_voided() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    let payment = shop.start_payment(&order).await.expect(200);
    shop.age(&order).await;
    shop.expire().await;
    shop.await_payment(&order, "expired").await;
    // The customer was quick: the provider still took the card.
    let (status, _) = shop.confirm(&payment, VISA).await;
    shop.settle_payments().await;
    let entry = shop.intent(&order);
    assert_eq!((format!("{:?}", entry.status).as_str(), entry.captured), ("Canceled", 0), "confirmed: {status}");
    assert_eq!(shop.available("thing").await, 10);
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_card_number_is_refused_and_reaches_nothing() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    let before = shop.dump().await;
    let path = format!("/orders/{}/payment", id(&order));
    let card = json!({ "number": "4242424242424242", "cvc": "123" });
    let problem = shop.customer("ada").post(&path, card).await.problem(Kind::CardNumber);
    assert!(!problem.to_string().contains("4242"), "{problem}");
    assert_eq!(shop.dump().await, before);
}
