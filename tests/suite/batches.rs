//! A batch of products is the same as the requests for its products one by one.

use std::time::Instant;

use http_api::{Route, Verb};
use local::functions;

use crate::prelude::*;

const BATCH: &str = "/products/batch";

fn create(id: &str, cells: u8) -> Value {
    json!({ "create": goods(id, json!({ "price": eur(500), "stock": 7, "cells": cells })) })
}

fn update(id: &str, version: u64, changes: &Value) -> Value {
    json!({ "update": { "productId": id, "version": version, "changes": changes } })
}

/// A shop with three products, one of them in three cells.
async fn shop() -> Shop {
    let shop = Shop::open().await;
    for product in ["thing", "taken"] {
        shop.product(product, 1000, 10).await;
    }
    shop.admin().post("/products", create("spread", 3)["create"].clone()).await.expect(201);
    shop
}

/// One entry of each kind, and each outcome that depends on the shop.
fn entries() -> Vec<Value> {
    vec![
        create("new", 1),
        create("wide", 4),
        update("thing", 1, &json!({ "name": "Better", "category": "others" })),
        update("spread", 1, &json!({ "price": eur(900), "cells": 5 })),
        create("taken", 1),
        update("none", 1, &json!({ "name": "Nothing" })),
    ]
}

async fn send(client: &Client, entries: &[Value]) -> Vec<Value> {
    let answer = client.post(BATCH, json!({ "products": entries })).await.expect(200);
    answer["results"].as_array().expect("results").clone()
}

/// The result of an entry that is sent as a request of its own.
async fn send_alone(client: &Client, entry: &Value) -> Value {
    let (id, reply) = if let Some(new) = entry["create"].as_object() {
        (&new["productId"], client.post("/products", entry["create"].clone()).await)
    } else {
        let update = &entry["update"];
        let path = format!("/products/{}", update["productId"].as_str().expect("an id"));
        let if_match = format!("\"{}\"", update["version"]);
        let changes = Some(update["changes"].to_string());
        (&update["productId"], client.send(Method::PATCH, &path, &[("if-match", &if_match)], changes).await)
    };
    let Reply { status, body, .. } = reply;
    if status < 300 {
        json!({ "productId": id, "status": status, "version": body["version"] })
    } else {
        json!({ "productId": id, "status": status, "problem": body })
    }
}

/// The items without the random marks of transfers between cells.
async fn items(shop: &Shop) -> Vec<Value> {
    let mut items = shop.dump().await;
    for item in &mut items {
        item.as_object_mut().expect("an item").remove("transferred");
    }
    items
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_the_same_as_its_entries_one_by_one() {
    let (together, alone) = (shop().await, shop().await);
    let results = send(&together.admin(), &entries()).await;
    let mut expected = Vec::new();
    for entry in entries() {
        expected.push(send_alone(&alone.admin(), &entry).await);
    }
    assert_eq!(results, expected);
    let statuses: Vec<_> = results.iter().map(|result| result["status"].as_u64().expect("a status")).collect();
    assert_eq!(statuses, [201, 201, 200, 200, 409, 404]);
    assert_eq!(items(&together).await, items(&alone).await);

    // Later versions.
    let later = [update("thing", 2, &json!({ "price": eur(1) })), update("spread", 1, &json!({ "price": eur(1) }))];
    let results = send(&together.admin(), &later).await;
    assert_eq!((&results[0]["status"], &results[0]["version"]), (&json!(200), &json!(3)));
    let problem = &results[1]["problem"];
    assert_eq!((&problem["type"], &problem["version"]), (&json!("/problems/version-conflict"), &json!(2)));
    assert_eq!(invariants::breaches(&together, invariants::BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_sent_twice_is_answered_the_same_and_changes_nothing() {
    let shop = shop().await;
    let first = send(&shop.admin(), &entries()).await;
    let before = shop.dump().await;
    assert_eq!(send(&shop.admin(), &entries()).await, first);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_copies_of_a_batch_are_answered_the_same_and_applied_once() {
    let (shop, once) = (shop().await, shop().await);
    let expected = send(&once.admin(), &entries()).await;
    for results in at_once(0..6, async |_| send(&shop.admin(), &entries()).await).await {
        assert_eq!(results, expected);
    }
    assert_eq!(items(&shop).await, items(&once).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_without_capacity_fails_alone_and_succeeds_when_the_batch_is_sent_again() {
    let shop = Shop::open().await;
    let hurried = shop.hurried(5).await;
    let entries = [create("first", 1), create("second", 1), create("third", 1)];
    let of_second = commit().when(|request| request.to_string().contains("p#second"));
    let reason = "TableWriteProvisionedThroughputExceeded";
    let fault = Fault::Cancel { item: 0, code: "ProvisionedThroughputExceeded", message: reason };
    hurried.fault_proxy().inject(of_second, fault, usize::MAX);
    let results = send(&hurried.admin(), &entries).await;
    let statuses: Vec<_> = results.iter().map(|result| result["status"].clone()).collect();
    assert_eq!(statuses, [json!(201), json!(503), json!(201)]);
    let problem = &results[1]["problem"];
    assert_eq!((&problem["type"], &problem["outcome"]), (&json!("/problems/throttled"), &json!("none")));

    let results = send(&shop.admin(), &entries).await;
    assert!(results.iter().all(|result| result["status"] == 201), "{results:?}");
    assert_eq!(shop.nobody().walk("/products?category=things", 10).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_the_same_product_are_refused_and_the_others_are_done() {
    let shop = shop().await;
    let entries =
        [create("new", 1), update("thing", 1, &json!({ "name": "A" })), update("thing", 1, &json!({ "name": "B" }))];
    let results = send(&shop.admin(), &entries).await;
    assert_eq!(results[0]["status"], 201);
    for result in &results[1..] {
        assert_eq!((&result["status"], &result["problem"]["type"]), (&json!(400), &json!("/problems/validation")));
    }
    assert_eq!(shop.item("p#thing", "p#thing").await["version"]["N"], "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_batch_is_refused_as_a_whole() {
    let shop = shop().await;
    let admin = shop.admin();
    let before = shop.dump().await;
    let mut unnamed = create("x", 1);
    unnamed["create"].as_object_mut().expect("fields").remove("productId");
    let mut both = create("x", 1);
    both["update"] = update("thing", 1, &json!({}))["update"].clone();
    for (entry, detail) in [
        (unnamed, "products[1]: create must have a productId"),
        (both, "products[1]: must have either create or update"),
        (json!({}), "products[1]: must have either create or update"),
        (update("thing", 1, &json!({ "stock": 5 })), "products[1].update.changes.stock: unknown field `stock`"),
        (json!({ "update": { "productId": "thing", "changes": {} } }), "products[1].update: missing field `version`"),
    ] {
        let problem = admin.post(BATCH, json!({ "products": [create("new", 1), entry] })).await;
        let problem = problem.problem(Kind::Validation);
        assert!(problem["detail"].as_str().is_some_and(|told| told.starts_with(detail)), "{problem}");
    }
    admin.post(BATCH, json!({ "products": [] })).await.problem(Kind::Validation);
    let many: Vec<_> = (0..101).map(|number| update(&format!("p{number}"), 1, &json!({}))).collect();
    admin.post(BATCH, json!({ "products": many })).await.problem(Kind::TooLarge);
    assert_eq!(shop.dump().await, before);

    assert_eq!(send(&admin, &many[..100]).await.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_asks_for_at_most_eight_products_at_once() {
    let shop = Shop::open().await;
    let entries: Vec<_> = (0..32).map(|number| create(&format!("p{number}"), 1)).collect();
    let each = Duration::from_millis(200);
    shop.fault_proxy().inject(commit(), Fault::Delay(each), 32);
    let began = Instant::now();
    let results = send(&shop.admin(), &entries).await;
    assert!(results.iter().all(|result| result["status"] == 201), "{results:?}");
    assert!(began.elapsed() >= each * 4, "32 products in {:?}", began.elapsed());
}

/// The path looks like that of a product, but only `POST` belongs to batches.
#[tokio::test(flavor = "multi_thread")]
async fn a_product_may_be_called_batch() {
    let is_of_product = |route: &Route| (route.path, route.method) == ("/products/{productId}", Verb::Post);
    assert!(!functions::routes().any(|route| is_of_product(route.route)));
    let shop = Shop::open().await;
    shop.product("batch", 1000, 10).await;
    let patch = json!({ "name": "Batch" });
    let changed = shop.admin().patch("/products/batch", "\"1\"", patch).await;
    assert_eq!(changed.status, 200);
}
