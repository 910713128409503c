//! Paid orders whose authorization lapsed end, too, unless the customer pays again in time.

use super::order;
use crate::prelude::*;

const VISA: &str = "pm_card_visa";

async fn shop() -> Shop {
    let shop = Shop::open_paying().await;
    shop.product("thing", 1000, 100).await;
    shop.gift_card("GIFT-CARD", 500).await;
    shop.discount("TEN", 10, Some(50)).await;
    shop
}

/// An old order that is paid by card.
async fn paid(shop: &Shop, key: &str, more: Value) -> Value {
    let order = order(shop, key, more).await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    shop.age(&order).await;
    order
}

async fn lapse(shop: &Shop, order: &Value) {
    shop.payments().provider.let_authorization_lapse(&shop.intent(order).id).expect("it is authorized");
    shop.await_payment(order, "expired").await;
}

/// An old order whose payment lapsed just now.
async fn lapsed(shop: &Shop, key: &str, more: Value) -> Value {
    let order = paid(shop, key, more).await;
    lapse(shop, &order).await;
    order
}

async fn due(shop: &Shop) -> Vec<Value> {
    shop.admin().get("/payments-due").await.expect(200)["items"].as_array().expect("items").clone()
}

fn events(shop: &Shop, kind: &str) -> Vec<Value> {
    shop.bus().events().into_iter().filter(|event| event["detail-type"] == kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_order_whose_payment_is_not_replaced_in_time_returns_all_it_reserved() {
    let shop = shop().await;
    let late = lapsed(&shop, "late", json!({ "discountCode": "TEN", "giftCards": ["GIFT-CARD"] })).await;
    assert_eq!((shop.admin().status(&late).await, shop.available("thing").await), (json!("PAID"), 98));
    shop.age_payments_due().await;
    // The same age, but secured; and a payment that lapsed a moment ago.
    let authorized = paid(&shop, "authorized", json!({})).await;
    let by_bank = order(&shop, "bank", json!({})).await;
    shop.admin().capture(&by_bank, "bank-1").await.expect(200);
    shop.age(&by_bank).await;
    let fresh = lapsed(&shop, "fresh", json!({})).await;
    let marks = due(&shop).await;
    assert_eq!(marks.iter().map(order_id).collect::<Vec<_>>(), [order_id(&late), order_id(&fresh)]);
    assert!(marks.iter().all(|mark| mark["work"] == "lapsed"), "{marks:?}");
    shop.settle_payments().await;
    assert_eq!(events(&shop, "PaymentDue"), Vec::<Value>::new(), "there is nothing to ask of the provider");

    let report = shop.expire().await;
    assert_eq!(report, json!({ "expired": 1, "settled": 0, "failed": 0, "done": true }));
    let now = shop.await_payment(&late, "expired").await;
    assert_eq!((&now["status"], &now["cancellation"]["cause"]), (&json!("CANCELLED"), &json!("unpaid")));
    assert_eq!(shop.available("thing").await, 94);
    assert_eq!(shop.admin().get("/discounts/TEN").await.expect(200)["uses"], 0);
    assert_eq!(shop.admin().get("/gift-cards/GIFT-CARD").await.expect(200)["balance"]["amount"], 500);
    for order in [&authorized, &by_bank, &fresh] {
        assert_eq!(shop.admin().status(order).await, "PAID");
    }
    let left = due(&shop).await;
    assert_eq!((left.len(), &left[0]["orderId"]), (1, &fresh["orderId"]));

    let before = shop.dump().await;
    assert_eq!(shop.expire().await["expired"], 0);
    assert_eq!(shop.dump().await, before, "another run changes nothing");
    shop.settle_payments().await;
    let expired = events(&shop, "OrderExpired");
    assert_eq!((expired.len(), &expired[0]["detail"]["orderId"]), (1, &late["orderId"]));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_reads_no_order_whose_payment_is_secured() {
    let shop = shop().await;
    shop.fault_proxy().take_calls();
    shop.expire().await;
    let without = shop.fault_proxy().take_calls().len();
    for number in 0..3 {
        paid(&shop, &format!("k{number}"), json!({})).await;
    }
    shop.settle_payments().await;
    shop.fault_proxy().take_calls();
    shop.expire().await;
    assert_eq!(shop.fault_proxy().take_calls().len(), without);
}

/// Without orders that are paid later, the customer has three days.
#[tokio::test(flavor = "multi_thread")]
async fn a_payment_may_be_replaced_for_days_also_in_a_shop_that_is_paid_at_once() {
    let shop = Shop::open_paying_with(&[("PayLaterDays", "0")]).await;
    shop.product("thing", 1000, 100).await;
    let order = lapsed(&shop, "k", json!({})).await;
    for (days, expected) in [(2, "PAID"), (4, "CANCELLED")] {
        shop.age_payments_due_by(days).await;
        shop.expire().await;
        assert_eq!(shop.admin().status(&order).await, expected, "{days} days");
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_paid_again_while_it_expires_stays() {
    let shop = shop().await;
    let order = lapsed(&shop, "k", json!({})).await;
    shop.age_payments_due().await;
    // The expiry has read the order, and its transaction reaches the table after the payment.
    let pay = async || {
        shop.pay(&order, VISA).await;
        shop.await_payment(&order, "authorized").await;
    };
    let (report, ()) = shop.held(commit(), shop.expire(), pay).await;
    assert_eq!(report, json!({ "expired": 0, "settled": 1, "failed": 0, "done": true }));
    assert_eq!((shop.admin().status(&order).await, due(&shop).await), (json!("PAID"), Vec::new()));
    invariants::hold(&shop).await;
}
