//! Views are counted exactly, in shards that share the load.

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
async fn concurrent_views_are_counted_exactly() {
    let shop = std::sync::Arc::new(Shop::open().await);
    shop.product("thing", 1000, 1).await;
    let mut viewing = JoinSet::new();
    for _ in 0..64 {
        let shop = shop.clone();
        viewing.spawn(async move { view(&shop, vec!["thing".to_owned(); 100]).await });
    }
    viewing.join_all().await;

    let stats = shop.admin().get("/products/thing/stats").await.expect(200);
    assert_eq!(stats, json!({ "productId": "thing", "views": 6400, "orders": 0, "units": 0, "revenue": [] }));
    let parts = parts(&shop, "thing").await;
    assert_eq!(parts.len(), 16);
    // 400 each on average. 520 is six standard deviations away.
    assert!(parts.iter().max() < Some(&520), "{parts:?}");

    // One request for each view, except for the first of each shard and concurrent first ones.
    let calls = shop.fault_proxy().calls();
    let updates = calls.iter().filter(|call| call.action == "UpdateItem" && call.status == Some(200)).count();
    let puts = calls.iter().filter(|call| call.action == "PutItem" && call.status == Some(200)).count();
    assert_eq!((updates, puts), (6400 - 16, 16));
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
