//! Paid orders whose authorization lapsed end, too, unless the customer pays again in time.

use devstack::fault_proxy::{Fault, Match};
use serde_json::{Value, json};
use shop::Shop;
use tokio::task::JoinSet;

use super::{capture, order, status};
use crate::invariants;

const VISA: &str = "pm_card_visa";

async fn shop() -> Shop {
    let shop = Shop::open_paying().await;
    shop.product("thing", 1000, 100).await;
    shop.gift_card("GIFT-CARD", 500).await;
    shop.discount("TEN", 10, Some(50)).await;
    shop
}

fn id(order: &Value) -> &str {
    order["orderId"].as_str().expect("an id")
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
    assert_eq!((status(&shop, &late).await, shop.available("thing").await), (json!("PAID"), 98));
    shop.age_payments_due().await;
    // The same age, but secured; and a payment that lapsed a moment ago.
    let authorized = paid(&shop, "authorized", json!({})).await;
    let by_bank = order(&shop, "bank", json!({})).await;
    capture(&shop, &by_bank).await;
    shop.age(&by_bank).await;
    let fresh = lapsed(&shop, "fresh", json!({})).await;
    let marks = due(&shop).await;
    assert_eq!(
        marks.iter().map(|mark| mark["orderId"].as_str().expect("an id")).collect::<Vec<_>>(),
        [id(&late), id(&fresh)]
    );
    assert!(marks.iter().all(|mark| mark["lapsed"] == true), "{marks:?}");
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
        assert_eq!(status(&shop, order).await, "PAID");
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
        assert_eq!(status(&shop, &order).await, expected, "{days} days");
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_paid_again_while_it_expires_stays() {
    let shop = shop().await;
    let order = lapsed(&shop, "k", json!({})).await;
    let again = shop.start_payment(&order).await.expect(200);
    shop.age_payments_due().await;
    // The expiry has read the order, and its transaction reaches the table after the payment.
    let pay = async || {
        shop.confirm(&again, VISA).await;
        shop.await_payment(&order, "authorized").await;
    };
    let (report, ()) = shop.held(Match::action("TransactWriteItems"), shop.expire(), pay).await;
    assert_eq!(report, json!({ "expired": 0, "settled": 1, "failed": 0, "done": true }));
    assert_eq!((status(&shop, &order).await, due(&shop).await), (json!("PAID"), Vec::new()));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_expires_while_its_customer_pays_again_leaves_no_money_reserved() {
    let shop = shop().await;
    let [open, late] = [lapsed(&shop, "open", json!({})).await, lapsed(&shop, "late", json!({})).await];
    shop.start_payment(&open).await.expect(200);
    let again = shop.start_payment(&late).await.expect(200);
    shop.age_payments_due().await;
    assert_eq!(shop.expire().await["expired"], 2);
    // The browser still shows the form of a payment.
    shop.confirm(&again, VISA).await;
    // The events alone must suffice: the schedule does not run.
    shop.settle_payments().await;
    for order in [&open, &late] {
        shop.await_payment(order, "expired").await;
        assert_eq!(status(&shop, order).await, "CANCELLED");
        assert_eq!(format!("{:?}", shop.intent(order).status), "Canceled");
    }
    assert_eq!((shop.available("thing").await, due(&shop).await), (100, Vec::new()));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_and_payments_lose_no_unit_and_no_cent() {
    let shop = shop().await;
    let mut orders = Vec::new();
    for number in 0..8 {
        let order = lapsed(&shop, &format!("k{number}"), json!({})).await;
        let again = shop.start_payment(&order).await.expect(200);
        orders.push((order, again));
    }
    shop.age_payments_due().await;
    shop.fault_proxy().inject(Match::action("TransactWriteItems"), Fault::CutAfter, 2);
    let mut runs = JoinSet::new();
    for _ in 0..2 {
        let expire = shop.consumer("expire-orders", &shop.endpoints());
        runs.spawn(async move { _ = expire(json!({})).await.expect("a report") });
    }
    let payments = orders.iter().rev().map(|(_, again)| shop.confirm(again, VISA));
    tokio::join!(futures_util::future::join_all(payments), runs.join_all());
    // What the cut transactions left to do is done, and late reports have arrived.
    for _ in 0..2 {
        shop.settle_payments().await;
        shop.age_payments_due().await;
        shop.sweep_payments().await;
    }
    let mut stay = 0;
    for (order, _) in &orders {
        let intent = format!("{:?}", shop.intent(order).status);
        let status = status(&shop, order).await;
        stay += u64::from(status == "PAID");
        let expected = if status == "PAID" { "RequiresCapture" } else { "Canceled" };
        assert_eq!(intent, expected, "{status}");
    }
    assert_eq!(shop.available("thing").await, 100 - 2 * stay);
    invariants::hold(&shop).await;
}
