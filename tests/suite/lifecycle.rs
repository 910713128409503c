//! The lifecycle of an order after it is placed, also with concurrent changes.

pub mod invoices;
mod money;
mod repeated;

use devstack::fault_proxy::{Fault, Match};
use http_api::Kind;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::invariants;

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
use shop::engine::schedules;
use shop::{Client, Reply, Shop, eur};

async fn ask(client: &Client, order: &Value, change: Change) -> Reply {
    let order_id = order["orderId"].as_str().expect("an id");
    let invoice_id = order["invoice"]["invoiceId"].as_str().expect("an id");
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
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 10).await;
    shop.gift_card("GIFT", 500).await;
    shop.discount("TEN", 10, Some(5)).await;
    let order = place(&shop, "k").await;
    (shop, order)
}

async fn place(shop: &Shop, key: &str) -> Value {
    let body = json!({
        "lines": [{ "productId": "thing", "quantity": 2 }], "discountCode": "TEN", "giftCards": ["GIFT"],
    });
    shop.customer("ada").order(key, body).await.expect(201)
}

async fn status(shop: &Shop, order: &Value) -> String {
    let id = order["orderId"].as_str().expect("an id");
    let order = shop.admin().get(&format!("/orders/{id}")).await.expect(200);
    order["status"].as_str().expect("a status").to_owned()
}

/// The changes that lead to a status, the status, and the changes that are allowed then: each with the resulting
/// status, and whether it changes anything.
type Way = (&'static [Change], &'static str, &'static [(Change, &'static str, bool)]);

#[tokio::test]
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
        for change in [Capture, Ship, Deliver, Cancel, Refund] {
            let (shop, order) = shop_with_order().await;
            for step in way {
                ask(&shop.admin(), &order, *step).await.expect(200);
            }
            assert_eq!(status(&shop, &order).await, from);
            let before = shop.dump().await;
            let reply = ask(&shop.admin(), &order, change).await;
            let to = allowed.iter().find(|(asked, ..)| *asked == change).map(|(_, to, is_new)| (*to, *is_new));
            if let Some((to, is_new)) = to {
                // A change that was already made is a replay.
                assert_eq!(reply.header("idempotent-replayed").is_none(), is_new, "{way:?} {change:?}");
                reply.expect(200);
                assert_eq!(status(&shop, &order).await, to);
                assert_eq!(shop.dump().await != before, is_new);
            } else {
                assert_eq!(reply.problem(Kind::InvalidTransition)["orderStatus"], from);
                assert_eq!(shop.dump().await, before, "{way:?} {change:?}");
            }
            invariants::hold(&shop).await;
        }
    }
}

/// Changes an item of an order directly in the table.
async fn update(shop: &Shop, order_id: &str, sort: &str, expression: &str) {
    let update = json!({
        "TableName": shop.table(), "Key": { "PK": { "S": format!("o#{order_id}") }, "SK": { "S": sort } },
        "UpdateExpression": expression,
    });
    shop.dynamodb("UpdateItem", &update).await;
}

#[tokio::test]
async fn the_status_route_cannot_set_paid_or_cancelled() {
    let (shop, order) = shop_with_order().await;
    let path = format!("/orders/{}/status", order["orderId"].as_str().expect("an id"));
    for status in ["PENDING", "PAID", "CANCELLED"] {
        shop.admin().post(&path, json!({ "status": status })).await.problem(Kind::InvalidTransition);
    }
    shop.admin().post(&path, json!({ "status": "LOST" })).await.problem(Kind::Validation);
    shop.customer("ada").post(&path, json!({ "status": "SHIPPED" })).await.problem(Kind::Forbidden);
}

#[tokio::test]
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
    assert_eq!(place(&shop, "k").await, order);
    assert_eq!(shop.available("thing").await, 10);
}

#[tokio::test]
async fn a_stranger_cannot_cancel() {
    let (shop, order) = shop_with_order().await;
    let before = shop.dump().await;
    ask(&shop.customer("eve"), &order, Cancel).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test]
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

#[tokio::test]
async fn a_flag_comes_and_goes() {
    let (shop, order) = shop_with_order().await;
    let admin = shop.admin();
    let path = format!("/orders/{}/flag", order["orderId"].as_str().expect("an id"));
    let put = |reason: &str| admin.send(Method::PUT, &path, &[], Some(json!({ "reason": reason }).to_string()));

    let flag = put("looks odd").await.expect(200);
    assert_eq!(put("looks odd").await.expect(200), flag, "the same flag again is the same flag");
    let other = put("looks very odd").await.expect(200);
    assert_eq!(admin.walk("/flagged-orders", 10).await, [other]);
    let shown = admin.get(&format!("/orders/{}", order["orderId"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(shown["flag"]["reason"], "looks very odd");

    for _ in 0..2 {
        assert_eq!(admin.send(Method::DELETE, &path, &[], None).await.status, 204);
    }
    assert!(admin.walk("/flagged-orders", 10).await.is_empty());
    let unknown = json!({ "reason": "no such order" }).to_string();
    admin.send(Method::PUT, "/orders/nothing/flag", &[], Some(unknown)).await.problem(Kind::NotFound);
    assert!(admin.walk("/flagged-orders", 10).await.is_empty());
}

/// A small random generator with a seed, so that a failing run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn change(&mut self) -> Change {
        match self.below(5) {
            0 => Capture,
            1 => Ship,
            2 => Refund,
            _ => Cancel,
        }
    }
}

#[tokio::test]
async fn concurrent_changes_end_like_sequential_ones() {
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 100_000).await;
    for run in 0..schedules(300) {
        let mut random = Random(run);
        shop.gift_card(&format!("G{run}"), 1500).await;
        shop.discount(&format!("D{run}"), 10, Some(2)).await;
        let body = |random: &mut Random| {
            let mut body = json!({ "lines": [{ "productId": "thing", "quantity": random.below(3) + 1 }] });
            if random.below(2) == 0 {
                body["giftCards"] = json!([format!("G{run}")]);
            }
            if random.below(2) == 0 {
                body["discountCode"] = json!(format!("D{run}"));
            }
            body
        };
        let placed = shop.customer("ada").order(&format!("{run}-0"), body(&mut random)).await.expect(201);
        if random.below(3) == 0 {
            let fault = if random.below(2) == 0 { Fault::CutAfter } else { Fault::conflict(0) };
            shop.fault_proxy().inject(Match::action("TransactWriteItems"), fault, 1);
        }
        let mut happening = JoinSet::new();
        for at in 0..random.below(4) + 3 {
            let (client, placed) = (shop.admin(), placed.clone());
            let change = random.change();
            let (ada, order, key) = (shop.customer("ada"), body(&mut random), format!("{run}-{}", at % 3 + 1));
            let orders_anew = random.below(3) == 0;
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
