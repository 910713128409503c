//! The schedule of `settle-payments`, which finds what the queue has left.

use super::{VISA, cancel, order, ship, shop};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_counts_what_the_provider_settles_and_not_what_is_left_to_staff() {
    let shop = shop().await;
    let [transferred, charged] = [order(&shop, "a").await, order(&shop, "b").await];
    shop.admin().capture(&transferred, "bank-1").await.expect(200);
    shop.pay(&charged, VISA).await;
    shop.await_payment(&charged, "authorized").await;
    shop.settle_payments().await;

    // No event reaches the queue.
    shop.bus().fail(|_| Some("InternalFailure"));
    cancel(&shop, &transferred).await;
    ship(&shop, &charged).await;
    shop.age_payments_due().await;
    assert_eq!(shop.sweep_payments().await, json!({ "settled": 1, "failed": 0, "done": true }));
    assert_eq!(shop.sweep_payments().await, json!({ "settled": 0, "failed": 0, "done": true }));
    let due = shop.admin().get("/payments-due").await.expect(200);
    let due: Vec<_> = due["items"].as_array().expect("items").iter().map(order_id).collect();
    assert_eq!(due, [order_id(&transferred)], "staff have to refund it");
    shop.bus().heal();
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mark_that_cannot_be_read_holds_up_no_other_payment() {
    let shop = shop().await;
    let orders = [order(&shop, "a").await, order(&shop, "b").await, order(&shop, "c").await];
    for charged in &orders {
        shop.pay(charged, VISA).await;
        shop.await_payment(charged, "authorized").await;
    }
    shop.settle_payments().await;
    // No event reaches the queue.
    shop.bus().fail(|_| Some("InternalFailure"));
    for charged in &orders {
        ship(&shop, charged).await;
    }
    shop.age_payments_due().await;
    let dump = shop.dump().await;
    let is_spoilt =
        |item: &&Value| item["EntityType"]["S"] == "paymentDue" && item["orderId"]["S"] == order_id(&orders[1]);
    let mark = dump.iter().find(is_spoilt).expect("a mark");
    let key = |name: &str| mark[name]["S"].as_str().expect("a key").to_owned();
    let since = mark["since"].clone();
    shop.set(&key("PK"), &key("SK"), "since", json!({ "S": "once" })).await;
    assert_eq!(shop.sweep_payments().await, json!({ "settled": 2, "failed": 1, "done": true }));

    shop.set(&key("PK"), &key("SK"), "since", since).await;
    assert_eq!(shop.sweep_payments().await, json!({ "settled": 1, "failed": 0, "done": true }));
    shop.bus().heal();
    invariants::hold(&shop).await;
}
