//! Lists say whether a product can be bought: `mark-availability` copies it from the stock when the units cross a mark.

use local::marking::mark_availabilities;
use shop::bus::records;
use shop::queue::url;
use shop::set_everywhere;

use crate::prelude::*;

/// A shop with its consumers, and the customer ada.
async fn shop() -> Shop {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop
}

/// What the lists say of each product, after everything that is under way is done.
async fn listed(shop: &Shop) -> BTreeMap<String, String> {
    shop.settle_payments().await;
    let found = shop.nobody().get("/products?category=things&limit=100").await.expect(200);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let items = found["items"].as_array().expect("items").iter();
    items.map(|item| (text(&item["productId"]), text(&item["availability"]))).collect()
}

async fn says(shop: &Shop, expected: &str) {
    let found = listed(shop).await;
    assert_eq!(found["thing"], expected);
}

async fn deliver(shop: &Shop, delta: i64) {
    let body = json!({ "delta": delta });
    shop.admin().post_if("/products/thing/stock", "*", body).await.expect(200);
}

async fn recall(shop: &Shop, recalled: bool) {
    shop.admin().patch("/products/thing", "*", json!({ "recalled": recalled })).await.expect(200);
}

/// The number of times that the product's availability was written.
async fn writes(shop: &Shop) -> u64 {
    let item = shop.item("p#thing", "p#thing").await;
    item["availabilityChanges"]["N"].as_str().map_or(0, |number| number.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_says_what_is_left_and_only_marks_are_written() {
    let shop = shop().await;
    shop.product("thing", 1000, 9).await;
    says(&shop, "inStock").await;
    let ada = shop.customer("ada");
    let mut orders = Vec::new();
    for (number, expected) in [(3, "inStock"), (1, "fewLeft"), (4, "fewLeft"), (1, "soldOut")] {
        let lines = json!({ "lines": [{ "productId": "thing", "quantity": number }] });
        orders.push(ada.order(&format!("k{}", orders.len()), lines).await.expect(201));
        says(&shop, expected).await;
    }
    assert_eq!(writes(&shop).await, 2);
    let version = shop.nobody().get("/products/thing").await.expect(200)["version"].clone();
    assert_eq!(version, 1, "a sale changes no ETag");
    ada.cancel(&orders[2], json!({})).await.expect(200);
    says(&shop, "fewLeft").await;
    deliver(&shop, 2).await;
    says(&shop, "inStock").await;
    recall(&shop, true).await;
    says(&shop, "soldOut").await;
    recall(&shop, false).await;
    says(&shop, "inStock").await;
    assert_eq!(writes(&shop).await, 6);
    let told = shop.bus().events().into_iter().filter(|event| event["detail-type"] == "AvailabilityChanged");
    let told: Vec<_> = told.map(|event| event["detail"]["availability"].clone()).collect();
    assert_eq!(told, ["fewLeft", "soldOut", "fewLeft", "inStock", "soldOut", "inStock"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_has_only_what_can_be_bought_if_that_is_asked_for() {
    let shop = shop().await;
    for (at, units) in [0, 1, 0, 0, 7, 0].into_iter().enumerate() {
        shop.product(&format!("p{at}"), 1000, units).await;
    }
    shop.settle_payments().await;
    for (path, sizes) in
        [("/products?available=true&category=things", &[2, 0][..]), ("/products?available=true", &[1, 0, 1, 0][..])]
    {
        let (mut found, mut next, mut pages) = (Vec::new(), String::new(), Vec::new());
        loop {
            let page = shop.nobody().get(&format!("{path}&limit=2{next}")).await.expect(200);
            let items = page["items"].as_array().expect("items");
            found.extend(items.iter().map(|item| (item["productId"].clone(), item["availability"].clone())));
            pages.push(items.len());
            let Some(cursor) = page["next"].as_str() else { break };
            next = format!("&cursor={cursor}");
        }
        assert_eq!(found, [(json!("p1"), json!("fewLeft")), (json!("p4"), json!("inStock"))], "{path}");
        assert_eq!(pages, sizes, "{path}");
    }
    shop.nobody().get("/products?available=perhaps").await.problem(Kind::Validation);
}

/// **Law: once nothing changes any more, each product says what its stock says**, whatever was bought, cancelled, delivered,
/// and recalled at once, and however late a mark is written.
#[tokio::test(flavor = "multi_thread")]
async fn what_64_buyers_and_staff_leave_is_what_the_list_says() {
    for cells in [1, 4] {
        let shop = shop().await;
        shop.create("thing", json!({ "stock": 70, "cells": cells })).await;
        // Late writes of what is no longer so.
        let marks = || Match::action("UpdateItem").when(|body| body.to_string().contains("availabilityChanges"));
        shop.fault_proxy().inject(marks(), Fault::InternalError, 2);
        shop.fault_proxy().inject(marks(), Fault::Delay(Duration::from_millis(400)), 3);
        let rounds = at_once(0..64, async |buyer| {
            let (ada, key) = (shop.customer("ada"), format!("k{buyer}"));
            let order = ada.order(&key, json!({ "lines": [{ "productId": "thing", "quantity": 1 }] })).await;
            match (order.status, buyer % 8) {
                (201, 0) => ada.cancel(&order.expect(201), json!({})).await.status == 200,
                (_, 1) => {
                    shop.admin().post_if("/products/thing/stock", "*", json!({ "delta": -1 })).await.status == 200
                }
                (_, 2) if buyer % 16 == 2 => {
                    let recalled = json!({ "recalled": buyer % 32 == 2 });
                    shop.admin().patch("/products/thing", "*", recalled).await.status == 200
                }
                (status, _) => status == 201,
            }
        });
        let done = rounds.await.into_iter().filter(|done| *done).count();
        assert!(done > 8, "{done} of 64 steps were done");
        recall(&shop, false).await;
        let left = |product: &Value| product["available"].as_u64().expect("a number");
        let product = shop.nobody().get("/products/thing").await.expect(200);
        for (delta, expected) in [(0, None), (1 - i64::try_from(left(&product)).expect("few"), Some("fewLeft"))] {
            if delta != 0 {
                deliver(&shop, delta).await;
            }
            let found = listed(&shop).await["thing"].clone();
            let product = shop.nobody().get("/products/thing").await.expect(200);
            let truth = match left(&product) {
                0 => "soldOut",
                1..=5 => "fewLeft",
                _ => "inStock",
            };
            assert_eq!(found, truth, "{cells} cells: {product}");
            assert!(expected.is_none_or(|expected| expected == truth));
        }
        assert!(writes(&shop).await < 24, "the marks are written, and not each sale");
    }
}

/// Writes another mark, as a restored table may have.
async fn misplace(shop: &Shop, product: &str, mark: &str) {
    let key = format!("p#{product}");
    if mark == "inStock" {
        shop.update(&key, &key, "REMOVE availability", &Value::Null).await;
    } else {
        shop.update(&key, &key, "SET availability = :mark", &json!({ ":mark": { "S": mark } })).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_all_marks_are_written_anew_beside_buyers() {
    let shop = Shop::with_ada().await;
    for (at, units) in [0, 3, 8, 30, 8, 30].into_iter().enumerate() {
        shop.create(&format!("p{at}"), json!({ "stock": units, "cells": 1 + 3 * (at / 4) })).await;
    }
    // `FewLeft` was 5, and the stream before the restore is gone.
    let shop = shop
        .beside(|template| {
            set_everywhere(template, "FEW_LEFT", "10");
            let publisher = template.stream_sources.iter_mut().find(|source| source.function == "PublishOrderEvents");
            publisher.expect("it reads the stream").enabled = true;
        })
        .await;
    shop.settle_payments().await;
    for (product, mark) in
        [("p0", "inStock"), ("p2", "inStock"), ("p3", "soldOut"), ("p4", "soldOut"), ("p5", "fewLeft")]
    {
        misplace(&shop, product, mark).await;
    }
    let more = [("TABLE_NAME", shop.table()), ("AWS_ENDPOINT_URL_SQS", shop.sqs_url())];
    let operator = shop.operator().with(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let low_stocks = url("till-local-low-stocks");
    let mark = async || mark_availabilities(&operator, &low_stocks, 1000, |_| ()).await.expect("all are sent");
    let buy = at_once(0..8, async |buyer| {
        let product = ["p1", "p3", "p5"][buyer % 3];
        shop.customer("ada").order(&format!("k{buyer}"), basket(product, 3)).await.status
    });
    let (sent, bought) = tokio::join!(mark(), buy);
    assert_eq!((sent, bought.iter().filter(|status| **status == 201).count()), (6, 6));
    let found = listed(&shop).await;
    assert_eq!(found.len(), 6);
    for (product, mark) in &found {
        let available = shop.nobody().get(&format!("/products/{product}")).await.expect(200)["available"].clone();
        let truth = match available.as_u64().expect("a number") {
            0 => "soldOut",
            1..=10 => "fewLeft",
            _ => "inStock",
        };
        assert_eq!(mark, truth, "{product}: {available}");
    }
    let (before, _) = (shop.dump().await, mark().await);
    assert_eq!(listed(&shop).await, found);
    assert_eq!(shop.dump().await, before, "a mark that is right is not written");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_says_what_its_stock_says_whatever_its_mark() {
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 0).await;
    for mark in ["inStock", "fewLeft", "soldOut"] {
        misplace(&shop, "thing", mark).await;
        for (delta, recalled) in [(0, false), (9, false), (0, true), (0, false), (-9, false)] {
            if delta != 0 {
                deliver(&shop, delta).await;
            }
            recall(&shop, recalled).await;
            let product = shop.nobody().get("/products/thing").await.expect(200);
            let expected = match (product["available"].as_u64(), recalled) {
                (Some(9), false) if mark == "soldOut" => "inStock",
                (Some(9), false) => mark,
                _ => "soldOut",
            };
            assert_eq!(product["availability"], expected, "{mark}: {product}");
        }
    }
}

/// Of the marks that a product crosses within a batch, the last is told: its reader looks after all of the changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_tells_once_of_each_product_whose_units_crossed_marks() {
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 9).await;
    shop.create("spread", json!({ "stock": 9, "cells": 3 })).await;
    for product in ["thing", "spread", "thing", "spread"] {
        for delta in [-9, 9] {
            let path = format!("/products/{product}/stock");
            shop.admin().post_if(&path, "*", json!({ "delta": delta })).await.expect(200);
        }
    }
    let publish = shop.consumer("publish-order-events", &shop.endpoints());
    let (records, mut told) = (records(&shop).await, Vec::new());
    for batch in records.chunks(1).chain([records.as_slice()]) {
        let before = shop.bus().events().len();
        publish(json!({ "Records": batch })).await.expect("an answer");
        let events = shop.bus().events().split_off(before);
        let events = events.into_iter().filter(|event| event["detail-type"] == "StockRanLow");
        told.push(
            events.map(|event| (event["detail"]["productId"].to_string(), event["detail"]["id"].to_string())).collect(),
        );
    }
    let of_batch: Vec<_> = told.pop().expect("all records at once");
    let each: BTreeMap<_, _> = told.iter().flatten().cloned().collect();
    assert!(told.concat().len() > 7, "each change of one alone is told: {told:?}");
    assert_eq!(of_batch.len(), 2);
    // The last of each product.
    assert_eq!(of_batch.into_iter().collect::<BTreeMap<_, _>>(), each);
}
