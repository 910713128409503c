//! Messages that are late or doubled, and what must never be sent.

use super::{VISA, order, shop};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn late_and_doubled_messages_change_nothing_more() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    let before = shop.dump().await;
    for _ in 0..3 {
        shop.tell(&order).await.expect(204);
    }
    assert_eq!(shop.dump().await, before);
    invariants::hold(&shop).await;
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
