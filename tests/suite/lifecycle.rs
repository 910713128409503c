//! The lifecycle of an order after it is placed, also with concurrent changes.

pub mod invoices;
mod money;
mod repeated;

use fastrand::Rng;

/// A requested change of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Capture,
    Ship,
    Deliver,
    Cancel,
    Refund,
}

use Change::{Cancel, Capture, Deliver, Refund, Ship};
use shop::seed::seeds;

use crate::prelude::*;

async fn ask(client: &Client, order: &Value, change: Change) -> Reply {
    let order_id = order_id(order);
    let invoice_id = invoice_id(order);
    let (path, body) = match change {
        Capture => (format!("/invoices/{invoice_id}/payments"), json!({ "reference": "bank-1" })),
        Ship => (format!("/orders/{order_id}/status"), json!({ "status": "SHIPPED" })),
        Deliver => (format!("/orders/{order_id}/status"), json!({ "status": "DELIVERED" })),
        Cancel => (format!("/orders/{order_id}/cancellation"), json!({ "reason": "changed my mind" })),
        Refund => (format!("/invoices/{invoice_id}/refunds"), json!({ "reference": "back-1" })),
    };
    client.post(&path, body).await
}

/// A shop with an order of two things that a discount code, a gift card and a bank card pay.
async fn shop_with_order() -> (Shop, Value) {
    let shop = stocked().await;
    shop.gift_card("GIFT", 500).await;
    let order = place(&shop, "k", "GIFT").await;
    (shop, order)
}

/// A shop whose stock and discount code last for five orders.
async fn stocked() -> Shop {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.discount("TEN", 10, Some(5)).await;
    shop
}

async fn place(shop: &Shop, key: &str, card: &str) -> Value {
    let body = json!({
        "lines": [{ "productId": "thing", "quantity": 2 }], "discountCode": "TEN", "giftCards": [card],
    });
    shop.customer("ada").order(key, body).await.expect(201)
}

/// The changes that lead to a status, the status, and the changes that are allowed then: each with the resulting
/// status, and whether it changes anything.
type Way = (&'static [Change], &'static str, &'static [(Change, &'static str, bool)]);

#[tokio::test(flavor = "multi_thread")]
async fn only_declared_transitions_are_allowed() {
    const PAID: &str = "PAID";
    const CANCELLED: &str = "CANCELLED";
    // Changes that are not listed are refused.
    let ways: [Way; 8] = [
        (&[], "PENDING", &[(Capture, PAID, true), (Cancel, CANCELLED, true)]),
        (&[Capture], PAID, &[(Capture, PAID, false), (Ship, "SHIPPED", true), (Cancel, CANCELLED, true)]),
        (
            &[Capture, Ship],
            "SHIPPED",
            &[(Capture, "SHIPPED", false), (Ship, "SHIPPED", false), (Deliver, "DELIVERED", true)],
        ),
        (
            &[Capture, Ship, Deliver],
            "DELIVERED",
            &[(Capture, "DELIVERED", false), (Ship, "DELIVERED", false), (Deliver, "DELIVERED", false)],
        ),
        (&[Cancel], CANCELLED, &[(Cancel, CANCELLED, false), (Capture, CANCELLED, true)]),
        (
            &[Cancel, Capture],
            CANCELLED,
            &[(Cancel, CANCELLED, false), (Capture, CANCELLED, false), (Refund, CANCELLED, true)],
        ),
        (
            &[Capture, Cancel],
            CANCELLED,
            &[(Cancel, CANCELLED, false), (Capture, CANCELLED, false), (Refund, CANCELLED, true)],
        ),
        (
            &[Capture, Cancel, Refund],
            CANCELLED,
            &[(Cancel, CANCELLED, false), (Capture, CANCELLED, false), (Refund, CANCELLED, false)],
        ),
    ];
    for (way, from, allowed) in ways {
        let shop = stocked().await;
        for change in [Capture, Ship, Deliver, Cancel, Refund] {
            let card = format!("{change:?}").to_uppercase();
            shop.gift_card(&card, 500).await;
            let order = place(&shop, &card, &card).await;
            for step in way {
                ask(&shop.admin(), &order, *step).await.expect(200);
            }
            assert_eq!(shop.admin().status(&order).await, from);
            let before = shop.dump().await;
            let reply = ask(&shop.admin(), &order, change).await;
            let to = allowed.iter().find(|(asked, ..)| *asked == change).map(|(_, to, is_new)| (*to, *is_new));
            if let Some((to, is_new)) = to {
                // A change that was already made is a replay.
                assert_eq!(reply.header("idempotent-replayed").is_none(), is_new, "{way:?} {change:?}");
                reply.expect(200);
                assert_eq!(shop.admin().status(&order).await, to);
                assert_eq!(shop.dump().await != before, is_new);
            } else {
                assert_eq!(reply.problem(Kind::InvalidTransition)["orderStatus"], from);
                assert_eq!(shop.dump().await, before, "{way:?} {change:?}");
            }
        }
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_route_cannot_set_paid_or_cancelled() {
    let (shop, order) = shop_with_order().await;
    for status in ["PENDING", "PAID", "CANCELLED"] {
        shop.admin().advance(&order, status).await.problem(Kind::InvalidTransition);
    }
    shop.admin().advance(&order, "LOST").await.problem(Kind::Validation);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_returns_everything_the_order_reserved() {
    let (shop, order) = shop_with_order().await;
    let cancelled = ask(&shop.customer("ada"), &order, Cancel).await.expect(200);

    assert_eq!(cancelled["status"], "CANCELLED");
    assert_eq!(cancelled["cancellation"]["reason"], "changed my mind");
    assert_eq!(cancelled["cancellation"]["cause"], "customer");
    let payments = cancelled["invoice"]["payments"].as_array().expect("payments");
    let states: Vec<_> = payments.iter().map(|payment| (&payment["type"], &payment["status"])).collect();
    assert_eq!(json!(states), json!([["giftCard", "refunded"], ["card", "voided"]]));
    assert_eq!(shop.available("thing").await, 10);
    let card = shop.admin().get("/gift-cards/GIFT").await.expect(200);
    assert_eq!(card["balance"], eur(500));
    assert_eq!(card["entries"][0]["status"], "refunded");
    assert_eq!(shop.admin().get("/discounts/TEN").await.expect(200)["uses"], 0);
    invariants::hold(&shop).await;
    // If the order is sent again, the answer is the original one, and nothing is ordered.
    assert_eq!(place(&shop, "k", "GIFT").await, order);
    assert_eq!(shop.available("thing").await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_many_concurrent_equal_changes_is_applied() {
    for (before, change) in [(None, Capture), (None, Cancel), (Some(Capture), Ship)] {
        let (shop, order) = shop_with_order().await;
        if let Some(before) = before {
            ask(&shop.admin(), &order, before).await.expect(200);
        }
        let mut asking = JoinSet::new();
        for _ in 0..20 {
            let (client, order) = (shop.admin(), order.clone());
            asking.spawn(async move { ask(&client, &order, change).await });
        }
        let replies = asking.join_all().await;
        assert!(replies.iter().all(|reply| reply.status == 200), "{change:?}");
        let did = replies.iter().filter(|reply| reply.header("idempotent-replayed").is_none()).count();
        assert_eq!(did, 1, "{change:?}");
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_comes_and_goes() {
    let (shop, order) = shop_with_order().await;
    let admin = shop.admin();
    let path = format!("/orders/{}/flag", order_id(&order));
    let put = async |reason: &str| admin.flag(&order, reason).await;

    let flag = put("looks odd").await.expect(200);
    assert_eq!(put("looks odd").await.expect(200), flag, "the same flag again is the same flag");
    let other = put("looks very odd").await.expect(200);
    assert_eq!(admin.walk("/flagged-orders", 10).await, [other]);
    let shown = admin.read(&order).await;
    assert_eq!(shown["flag"]["reason"], "looks very odd");

    for _ in 0..2 {
        assert_eq!(admin.delete(&path).await.status, 204);
    }
    assert!(admin.walk("/flagged-orders", 10).await.is_empty());
    admin.put("/orders/nothing/flag", json!({ "reason": "no such order" })).await.problem(Kind::NotFound);
    assert!(admin.walk("/flagged-orders", 10).await.is_empty());
}

fn any_change(random: &mut Rng) -> Change {
    *random.choice(&[Capture, Ship, Refund, Cancel, Cancel]).expect("one of them")
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_end_like_sequential_ones() {
    let shop = Shop::selling("thing", 1000, 100_000).await;
    for run in seeds(30) {
        let mut random = Rng::with_seed(run);
        shop.gift_card(&format!("G{run}"), 1500).await;
        shop.discount(&format!("D{run}"), 10, Some(2)).await;
        let body = |random: &mut Rng| {
            let mut body = basket("thing", random.u8(1..=3));
            if random.bool() {
                body["giftCards"] = json!([format!("G{run}")]);
            }
            if random.bool() {
                body["discountCode"] = json!(format!("D{run}"));
            }
            body
        };
        let placed = shop.customer("ada").order(&format!("{run}-0"), body(&mut random)).await.expect(201);
        if random.u8(..3) == 0 {
            let fault = if random.bool() { Fault::CutAfter } else { Fault::conflict(0) };
            shop.fault_proxy().inject(commit(), fault, 1);
        }
        let mut happening = JoinSet::new();
        for at in 0..random.u8(3..7) {
            let (client, placed) = (shop.admin(), placed.clone());
            let change = any_change(&mut random);
            let (ada, order, key) = (shop.customer("ada"), body(&mut random), format!("{run}-{}", at % 3 + 1));
            let orders_anew = random.u8(..3) == 0;
            happening.spawn(async move {
                if orders_anew {
                    let reply = ada.order(&key, order).await;
                    assert!([201, 409, 422].contains(&reply.status), "{}", reply.body);
                } else {
                    let reply = ask(&client, &placed, change).await;
                    assert!([200, 409].contains(&reply.status), "{}", reply.body);
                }
            });
        }
        happening.join_all().await;
    }
    invariants::hold(&shop).await;
}
