//! Reports that are late, doubled or out of order, and what must never be reported.

use super::{order, shop};
use crate::prelude::*;

pub fn now() -> i64 {
    Timestamp::now().as_second()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_number_is_refused_and_reaches_nothing() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    let before = shop.dump().await;
    let path = format!("/orders/{}/payment", order_id(&order));
    let card = json!({ "number": "4242424242424242", "cvc": "123" });
    let problem = shop.customer("ada").post(&path, card).await.problem(Kind::CardNumber);
    assert!(!problem.to_string().contains("4242"), "{problem}");
    assert_eq!(shop.dump().await, before);
}
