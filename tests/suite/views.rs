//! Views are counted in shards that share the load: each one that is answered, and none that was not sent.

use std::time::Duration;

use devstack::fault_proxy::{Fault, Match};
use http_api::Kind;
use serde_json::json;
use shop::Shop;
use tokio::task::JoinSet;

async fn view(shop: &Shop, products: Vec<String>) {
    let nobody = shop.nobody();
    for product in products {
        assert_eq!(nobody.post(&format!("/products/{product}/views"), json!({})).await.status, 204);
    }
}

/// The views in each shard.
async fn parts(shop: &Shop, product: &str) -> Vec<u64> {
    let dump = shop.dump().await;
    let parts = dump.iter().filter(|item| item["EntityType"]["S"] == "viewShard" && item["productId"]["S"] == product);
    parts.map(|part| part["views"]["N"].as_str().expect("a number").parse().expect("views")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_views_are_counted() {
    let shop = std::sync::Arc::new(Shop::open().await);
    shop.product("thing", 1000, 1).await;
    let mut viewing = JoinSet::new();
    for _ in 0..64 {
        let shop = shop.clone();
        viewing.spawn(async move { view(&shop, vec!["thing".to_owned(); 100]).await });
    }
    viewing.join_all().await;

    // A write whose answer comes too late is sent again, and then counts twice. Nothing else does.
    while !shop.fault_proxy().is_idle() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let calls = shop.fault_proxy().calls();
    let sent = |action| calls.iter().filter(|call| call.action == action && call.status != Some(400)).count();
    let (updates, puts) = (sent("UpdateItem"), sent("PutItem"));
    let stats = shop.admin().get("/products/thing/stats").await.expect(200);
    let views = stats["views"].as_u64().expect("a number");
    assert!((6400..=updates as u64 + puts as u64).contains(&views), "{views} views, {updates} updates, {puts} puts");
    assert_eq!(stats, json!({ "productId": "thing", "views": views, "orders": 0, "units": 0, "revenue": [] }));
    // One request for each view, except for the first of each shard, concurrent first ones and lost answers.
    assert!(updates + puts < 6400 + 64, "{updates} updates, {puts} puts");

    let parts = parts(&shop, "thing").await;
    assert_eq!(parts.len(), 16);
    // 400 each on average. 520 is six standard deviations away.
    assert!(parts.iter().max() < Some(&520), "{parts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_views_of_a_popular_product_are_spread_over_partitions() {
    let shop = std::sync::Arc::new(Shop::open().await);
    for product in 0..8 {
        shop.product(&format!("p{product}"), 1000, 1).await;
    }
    // Zipf's law: the second most popular product is viewed half as often as the first, the third a third as often.
    let mut viewing = JoinSet::new();
    for product in 0..8 {
        for _ in 0..8 / (product + 1) {
            let shop = shop.clone();
            viewing.spawn(async move { view(&shop, vec![format!("p{product}"); 200]).await });
        }
    }
    viewing.join_all().await;
    for product in ["p0", "p1"] {
        let parts = parts(&shop, product).await;
        let all: u64 = parts.iter().sum();
        let most = parts.iter().max().copied().unwrap_or_default();
        assert!(most * 100 <= all * (100 / 16 + 20), "{product}: {most} of {all}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unprocessed_shards_are_not_missing_from_the_sum() {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 1).await;
    view(&shop, vec!["thing".to_owned(); 100]).await;
    shop.fault_proxy().inject(Match::action("BatchGetItem"), Fault::Unprocessed(7), 2);
    assert_eq!(shop.admin().get("/products/thing/stats").await.expect(200)["views"], 100);
    assert_eq!(shop.fault_proxy().pending(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_product_cannot_be_viewed() {
    let shop = Shop::open().await;
    let before = shop.dump().await;
    shop.nobody().post("/products/none/views", json!({})).await.problem(Kind::NotFound);
    shop.admin().get("/products/none/stats").await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);
}
