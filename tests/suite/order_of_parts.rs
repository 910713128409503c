//! What an order shows comes in the order that people expect: lines as they were sent, everything else by time.

use shop::queue::no_longer_queued;
use shop::seed::random;

use crate::guests::{ID, SECRET, ask, grace};
use crate::history::copied;
use crate::prelude::*;

/// The products of some lines or units.
fn products(of: &Value) -> Vec<&str> {
    let lines = of.as_array().into_iter().flatten();
    lines.map(|line| line["productId"].as_str().expect("a product")).collect()
}

fn units(products: &[String], quantity: u64) -> Value {
    products.iter().map(|id| json!({ "productId": id, "quantity": quantity })).collect()
}

fn shuffled(random: &mut fastrand::Rng, products: &[String]) -> Vec<String> {
    let mut products = products.to_vec();
    random.shuffle(&mut products);
    products
}

/// Asserts that parts of an order come by time, and that their units come like the lines.
fn are_in_order(parts: &Value, time: &str, lines: &[String]) {
    let parts = parts.as_array().expect("parts");
    assert!(parts.iter().is_sorted_by_key(|part| part[time].as_str()), "{parts:#?}");
    for part in parts {
        assert_eq!(products(&part["lines"]), lines, "{part:#}");
    }
}

/// Asserts that an order with some shipments and returns of all of its lines shows everything in its order.
fn is_in_order(order: &Value, lines: &[String]) {
    assert_eq!(products(&order["lines"]), lines);
    assert_eq!(products(&order["credits"]), lines);
    are_in_order(&order["shipments"], "shippedAt", lines);
    are_in_order(&order["returns"], "requestedAt", lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_an_order_comes_in_the_order_of_its_lines_or_by_time() {
    let shop = Shop::open_counted().await;
    let (ada, admin, mut random) = (shop.customer("ada"), shop.admin(), random());
    shop.sign_up("ada").await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let all: Vec<_> = (0..10).map(|number| format!("product-{number}")).collect();
    for id in &all {
        shop.product(id, 1000, 1000).await;
    }
    let mut orders = Vec::new();
    for number in 0..6 {
        let mut lines = shuffled(&mut random, &all);
        lines.truncate(random.usize(2..=5));
        let (key, body) = (format!("key-{number}"), json!({ "lines": units(&lines, 4) }));
        assert_eq!(products(&ada.post("/quotes", body.clone()).await.expect(200)["lines"]), lines);
        let order = match number % 3 {
            0 => ada.order(&key, body).await.expect(201),
            1 => {
                let waits = order_later(&ada, &key, body).await.expect(202);
                no_longer_queued(&ada, &format!("/orders/{}", order_id(&waits))).await
            }
            _ => shop.guest_order(SECRET, &key, body).await.expect(201),
        };
        assert_eq!(products(&order["lines"]), lines);

        // Each step names the lines in another order.
        let mut some = |quantity| units(&shuffled(&mut random, &lines), quantity);
        admin.cancel(&order, json!({ "lines": some(1) })).await.expect(200);
        admin.capture(&order, "bank").await.expect(200);
        for key in ["s1", "s2"] {
            let [one, again] = [some(1), some(1)].map(|lines| json!({ "lines": lines, "carrier": "Post" }));
            let sent = admin.ship(&order, key, one).await.expect(201);
            assert_eq!(admin.ship(&order, key, again).await.expect(201), sent);
        }
        admin.ship(&order, "s3", json!({ "carrier": "Post" })).await.expect(201);
        admin.advance(&order, "DELIVERED").await.expect(200);
        for key in ["r1", "r2", "r3"] {
            let [one, again] = [some(1), some(1)].map(|lines| json!({ "lines": lines }));
            let returned = admin.request_return(&order, key, one).await.expect(201);
            assert_eq!(admin.request_return(&order, key, again).await.expect(201), returned);
        }
        orders.push((order, lines));
    }
    for (order, lines) in &orders {
        is_in_order(&admin.read(order).await, lines);
        let path = format!("/orders/{}", order_id(order));
        let listed = async |what: &str| admin.get(&format!("{path}/{what}")).await.expect(200)["items"].clone();
        assert_eq!(products(&listed("products").await), *lines);
        are_in_order(&listed("shipments").await, "shippedAt", lines);
        are_in_order(&listed("returns").await, "requestedAt", lines);
        let page = admin.get(&format!("{path}/invoice/page")).await;
        let page = page.body.as_str().expect("a page");
        assert!(lines.iter().map(|id| page.find(id.as_str()).expect("the line")).is_sorted(), "{page}");
        if order["customerId"] == "ada" {
            let mut bought = ada.walk("/customers/ada/products", 3).await;
            bought.retain(|line| line["orderId"] == order["orderId"]);
            assert_eq!(products(&bought.into()), *lines);
        } else {
            let seen = ask(&shop, SECRET, Method::GET, &format!("/guests/{ID}{path}")).await.expect(200);
            is_in_order(&seen, lines);
        }
    }
    shop.settle().await;
    for (order, lines) in &orders {
        let is_of = |event: &&Value| event["detail"]["orderId"] == order["orderId"];
        let mut kinds = BTreeSet::new();
        for event in shop.bus().events().iter().filter(is_of) {
            if event["detail"]["lines"].is_array() {
                assert_eq!(products(&event["detail"]["lines"]), *lines, "{event:#}");
                kinds.insert(event["detail-type"].as_str().expect("a type").to_owned());
            }
        }
        assert!(kinds.len() >= 4, "{kinds:?}");
    }
    let other = Shop::open().await;
    copied(&shop, &other).await;
    for (order, lines) in &orders {
        is_in_order(&other.admin().read(order).await, lines);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_entries_of_a_gift_card_come_by_time() {
    let shop = Shop::selling("thing", 1000, 100).await;
    shop.gift_card("GIFT", 100_000).await;
    let mut orders = Vec::new();
    for number in 0..6 {
        let mut body = things(1);
        body["giftCards"] = json!(["GIFT"]);
        orders.push(shop.customer("ada").order(&format!("key-{number}"), body).await.expect(201)["orderId"].clone());
    }
    let card = shop.admin().get("/gift-cards/GIFT").await.expect(200);
    let entries: Vec<_> = card["entries"].as_array().expect("entries").iter().map(|it| it["orderId"].clone()).collect();
    assert_eq!(entries, orders);
}
