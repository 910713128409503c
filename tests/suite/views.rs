//! Views are counted in shards that share the load: each one that is answered, and none that was not sent.

use crate::prelude::*;

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
    at_once(0..32, async |_| view(&shop, vec!["thing".to_owned(); 25]).await).await;

    // A write whose answer comes too late is sent again, and then counts twice. Nothing else does.
    shop.until_idle().await;
    let calls = shop.fault_proxy().calls();
    let sent = |action| calls.iter().filter(|call| call.action == action && call.status != Some(400)).count();
    let (updates, puts) = (sent("UpdateItem"), sent("PutItem"));
    let stats = shop.admin().get("/products/thing/stats").await.expect(200);
    let views = stats["views"].as_u64().expect("a number");
    assert!((800..=updates as u64 + puts as u64).contains(&views), "{views} views, {updates} updates, {puts} puts");
    assert_eq!(stats, json!({ "productId": "thing", "views": views, "orders": 0, "units": 0, "revenue": [] }));
    // One request for each view, except for the first of each shard, concurrent first ones and lost answers.
    assert!(updates + puts < 800 + 64, "{updates} updates, {puts} puts");

    let parts = parts(&shop, "thing").await;
    assert_eq!(parts.len(), 16);
    // 50 each on average. 93 is more than six standard deviations away.
    assert!(parts.iter().max() < Some(&93), "{parts:?}");
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
            viewing.spawn(async move { view(&shop, vec![format!("p{product}"); 40]).await });
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

async fn view_all(shop: &Shop, body: Value) -> Reply {
    shop.nobody().post("/views", body).await
}

async fn counted(shop: &Shop, product: &str) -> u64 {
    parts(shop, product).await.iter().sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_views_of_a_request_are_one_write_for_each_product() {
    let shop = Shop::open_where(&[("VIEW_SHARDS", "1")]).await;
    for product in ["cup", "pot"] {
        shop.product(product, 1000, 1).await;
    }
    let viewed = json!({ "products": ["cup", "pot", "cup", "none", "cup"] });
    for _ in 0..2 {
        shop.fault_proxy().take_calls();
        view_all(&shop, viewed.clone()).await.expect(204);
    }
    assert_eq!((counted(&shop, "cup").await, counted(&shop, "pot").await), (6, 2));
    assert_eq!(shop.admin().get("/products/cup/stats").await.expect(200)["views"], 6);
    assert_eq!(parts(&shop, "none").await, Vec::<u64>::new());
    // The second request found the shards of both products.
    let calls = shop.fault_proxy().take_calls();
    let updates = calls.iter().filter(|call| call.action == "UpdateItem" && call.status == Some(200));
    assert_eq!(updates.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_with_several_views_are_counted_exactly() {
    let shop = std::sync::Arc::new(Shop::open().await);
    for product in ["cup", "pot"] {
        shop.product(product, 1000, 1).await;
    }
    at_once(0..4, async |_| {
        for _ in 0..20 {
            view_all(&shop, json!({ "products": ["cup", "pot", "cup"] })).await.expect(204);
        }
    })
    .await;
    assert_eq!((counted(&shop, "cup").await, counted(&shop, "pot").await), (160, 80));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_counts_once_a_day_for_each_product_and_is_not_stored() {
    let shop = Shop::open().await;
    for product in ["cup", "pot"] {
        shop.product(product, 1000, 1).await;
    }
    let by = |visitor: &str, products: Value| json!({ "products": products, "visitor": visitor });
    let (first, second) = ("0123456789abcdef", "fedcba9876543210");
    for _ in 0..3 {
        view_all(&shop, by(first, json!(["cup", "cup", "none"]))).await.expect(204);
    }
    assert_eq!(counted(&shop, "cup").await, 1);
    view_all(&shop, by(second, json!(["cup", "pot"]))).await.expect(204);
    view_all(&shop, by(first, json!(["pot"]))).await.expect(204);
    view_all(&shop, json!({ "products": ["pot"] })).await.expect(204);
    assert_eq!((counted(&shop, "cup").await, counted(&shop, "pot").await), (2, 3));

    let dump = shop.dump().await;
    let marks: Vec<_> = dump.iter().filter(|item| item["EntityType"]["S"] == "viewMark").collect();
    assert_eq!(marks.len(), 4, "two visitors of two products, and none of a product that does not exist");
    for mark in marks {
        let expires_at: i64 = mark["expiresAt"]["N"].as_str().expect("a number").parse().expect("seconds");
        assert!((86_000..=86_400).contains(&(expires_at - Timestamp::now().as_second())), "{mark}");
        let told = mark.to_string();
        assert!(["cup", "pot", first, second].iter().all(|secret| !told.contains(secret)), "{told}");
    }
    for visitor in ["short", "with spaces in it"] {
        view_all(&shop, by(visitor, json!(["cup"]))).await.problem(Kind::Validation);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn if_the_views_of_a_product_cannot_be_counted_those_of_the_others_are() {
    let shop = Shop::open().await;
    for product in ["cup", "mug", "pot"] {
        shop.product(product, 1000, 1).await;
        view_all(&shop, json!({ "products": [product] })).await.expect(204);
    }
    let of_mug = Match::any().when(|request| request.to_string().contains("v#mug"));
    let hurried = shop.hurried(5).await;
    hurried.fault_proxy().inject(of_mug, Fault::InternalError, usize::MAX);
    let problem = view_all(&hurried, json!({ "products": ["cup", "mug", "pot"] })).await.problem(Kind::Throttled);
    assert_eq!(problem["outcome"], "unknown");
    let counts = [counted(&shop, "cup").await, counted(&shop, "mug").await, counted(&shop, "pot").await];
    assert_eq!(counts, [2, 1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_1_to_20_views() {
    let shop = Shop::open().await;
    let before = shop.dump().await;
    view_all(&shop, json!({ "products": [] })).await.problem(Kind::Validation);
    view_all(&shop, json!({ "products": vec!["none"; 21] })).await.problem(Kind::TooLarge);
    view_all(&shop, json!({ "products": vec!["none"; 20] })).await.expect(204);
    assert_eq!(shop.dump().await, before);
}
