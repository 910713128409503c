//! Payments that are started after an earlier one ended, or after their order did.

use http_api::Kind;
use serde_json::json;

use super::{VISA, cancel, id, order, shop};
use crate::invariants;

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_whose_authorization_lapsed_pays_again_with_another_intent() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    let first = shop.start_payment(&order).await.expect(200);
    shop.confirm(&first, VISA).await;
    shop.await_payment(&order, "authorized").await;
    let intent = first["intentId"].as_str().expect("an id");
    shop.payments().provider.let_authorization_lapse(intent).expect("it is authorized");
    shop.await_payment(&order, "expired").await;

    let second = shop.start_payment(&order).await.expect(200);
    assert_eq!(second["status"], "pending");
    assert_ne!(second["intentId"], first["intentId"]);
    assert!(second["clientSecret"].is_string(), "{second}");
    assert_eq!(shop.start_payment(&order).await.expect(200), second);
    shop.confirm(&second, VISA).await;
    assert_eq!(shop.await_payment(&order, "authorized").await["status"], "PAID");
    invariants::hold(&shop).await;
}

/// The intent of a cancelled order stays open at the provider until it is voided.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_the_secret_of_a_payment_that_the_shop_no_longer_wants() {
    let shop = shop().await;
    let [expired, cancelled] = [order(&shop, "a").await, order(&shop, "b").await];
    for order in [&expired, &cancelled] {
        shop.start_payment(order).await.expect(200);
    }
    shop.age(&expired).await;
    shop.expire().await;
    cancel(&shop, &cancelled).await;
    for (order, state) in [(&expired, "expired"), (&cancelled, "voided")] {
        let payment = shop.start_payment(order).await.expect(200);
        assert_eq!((&payment["status"], payment.get("clientSecret")), (&json!(state), None), "{}", id(order));
    }
    shop.settle_payments().await;
    for order in [&expired, &cancelled] {
        shop.start_payment(order).await.problem(Kind::InvalidTransition);
    }
    invariants::hold(&shop).await;
}
