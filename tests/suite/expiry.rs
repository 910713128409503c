//! Orders that are not paid in time are cancelled, and return what they reserved.

mod lapsed;

use crate::prelude::*;

async fn shop() -> Shop {
    let shop = Shop::selling("thing", 1000, 100).await;
    shop.gift_card("GIFT-CARD", 500).await;
    shop.gift_card("FULL-GIFT-CARD", 5000).await;
    shop.discount("TEN", 10, Some(50)).await;
    shop
}

async fn order(shop: &Shop, key: &str, more: Value) -> Value {
    let mut body = basket("thing", 2);
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    shop.customer("ada").order(key, body).await.expect(201)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_not_paid_in_time_returns_all_it_reserved() {
    let shop = shop().await;
    let late = order(&shop, "late", json!({ "discountCode": "TEN", "giftCards": ["GIFT-CARD"] })).await;
    let paid = order(&shop, "paid", json!({})).await;
    let young = order(&shop, "young", json!({})).await;
    shop.admin().capture(&paid, "bank-1").await.expect(200);
    for old in [&late, &paid] {
        shop.age(old).await;
    }
    let report = shop.expire().await;
    assert_eq!(report, json!({ "expired": 1, "settled": 0, "failed": 0, "done": true }));
    assert_eq!(shop.available("thing").await, 96);
    assert_eq!(shop.admin().get("/discounts/TEN").await.expect(200)["uses"], 0);
    let late_now = shop.customer("ada").read(&late).await;
    assert_eq!((&late_now["status"], &late_now["cancellation"]["cause"]), (&json!("CANCELLED"), &json!("unpaid")));
    assert_eq!(shop.admin().status(&paid).await, "PAID");
    assert_eq!(shop.admin().status(&young).await, "PENDING");

    // Another run changes nothing, and a payment that is captured now is due for refund.
    let before = shop.dump().await;
    assert_eq!(shop.expire().await["expired"], 0);
    assert_eq!(shop.dump().await, before);
    assert_eq!(shop.admin().capture(&late, "bank-1").await.expect(200)["payments"][1]["status"], "refundDue");
    invariants::hold(&shop).await;
}

/// Orders that are paid later wait for 14 days on a laptop.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_paid_later_waits_for_days() {
    let shop = shop().await;
    let orders = [order(&shop, "soon", json!({})).await, order(&shop, "later", json!({ "payLater": true })).await];
    assert_eq!((&orders[0]["payLater"], &orders[1]["payLater"]), (&Value::Null, &json!(true)));
    let paid = order(&shop, "by gift card", json!({ "payLater": true, "giftCards": ["FULL-GIFT-CARD"] })).await;
    assert_eq!((&paid["status"], &paid["payLater"]), (&json!("PAID"), &Value::Null));
    for (days, statuses) in [(13, ["CANCELLED", "PENDING"]), (15, ["CANCELLED", "CANCELLED"])] {
        for order in &orders {
            shop.age_by(order, days).await;
        }
        let report = shop.expire().await;
        assert_eq!((&report["expired"], &report["done"]), (&json!(1), &json!(true)), "{days} days");
        for (order, expected) in orders.iter().zip(statuses) {
            assert_eq!(shop.admin().status(order).await, expected, "{days} days");
        }
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_is_paid_at_once_takes_no_order_that_is_paid_later() {
    let shop = Shop::open_where(&[("PAY_LATER_DAYS", "0")]).await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 100).await;
    let before = shop.dump().await;
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 2 }], "payLater": true });
    shop.customer("ada").order("later", body).await.problem(Kind::Validation);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_order_does_not_prevent_the_expiry_of_others() {
    let shop = shop().await;
    for number in 0..3 {
        let order = order(&shop, &format!("k{number}"), json!({})).await;
        shop.age(&order).await;
    }
    shop.fault_proxy().inject(commit(), Fault::Cancel { item: 2, code: "ValidationError", message: "no" }, 1);
    let report = shop.expire().await;
    assert_eq!((&report["expired"], &report["failed"]), (&json!(2), &json!(1)));
    assert_eq!(shop.expire().await["expired"], 1);
    assert_eq!(shop.available("thing").await, 100);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_cannot_be_read_does_not_prevent_the_expiry_of_others() {
    let shop = shop().await;
    let mut orders = Vec::new();
    for number in 0..3 {
        orders.push(order(&shop, &format!("k{number}"), json!({})).await);
        shop.age(&orders[number]).await;
    }
    let key = format!("o#{}", order_id(&orders[1]));
    shop.set(&key, &key, "version", json!({ "S": "newer" })).await;
    let report = shop.expire().await;
    assert_eq!(report, json!({ "expired": 2, "settled": 0, "failed": 1, "done": true }));

    shop.set(&key, &key, "version", json!({ "N": "1" })).await;
    assert_eq!(shop.expire().await["expired"], 1);
    assert_eq!(shop.available("thing").await, 100);
    invariants::hold(&shop).await;
}
