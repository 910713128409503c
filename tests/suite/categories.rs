//! Categories: their numbers of products are exact under concurrency, and the list of all products follows them.

use crate::prelude::*;

const CATEGORIES: [&str; 4] = ["a", "ab", "b", "things"];

async fn create(client: &Client, id: &str, category: &str) {
    client.post("/products", goods(id, json!({ "category": category }))).await.expect(201);
}

async fn patch(client: &Client, id: &str, change: Value) -> Reply {
    client.patch(&format!("/products/{id}"), "*", change).await
}

/// Moves a product to another category, whatever others do with it meanwhile.
async fn move_to(client: &Client, id: &str, category: &str) {
    patch(client, id, json!({ "category": category })).await.expect(200);
}

async fn listed(shop: &Shop) -> BTreeMap<String, u64> {
    let categories = shop.nobody().walk("/categories", 2).await;
    let one = |one: &Value| {
        (one["category"].as_str().expect("a name").to_owned(), one["products"].as_u64().expect("a number"))
    };
    categories.iter().map(one).collect()
}

/// Panics unless the numbers of all categories are those of their products, and the list of all products has the products
/// of each category, in order.
async fn expect_exact(shop: &Shop) {
    let (mut counted, mut all) = (BTreeMap::new(), Vec::new());
    for category in CATEGORIES {
        let products = shop.nobody().walk(&format!("/products?category={category}"), 100).await;
        if !products.is_empty() {
            counted.insert(category.to_owned(), products.len() as u64);
        }
        all.extend(products);
    }
    assert_eq!(listed(shop).await, counted);
    for limit in [1, 2, 7, 100] {
        assert_eq!(shop.nobody().walk("/products", limit).await, all, "limit {limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_any_concurrent_creations_and_moves_the_numbers_are_exact() {
    let shop = Shop::open().await;
    expect_exact(&shop).await;
    at_once(0..4, async |worker| {
        let admin = shop.admin();
        let mut random = fastrand::Rng::with_seed(worker);
        for at in 0..6 {
            create(&admin, &format!("p{worker}-{at}"), random.choice(CATEGORIES).expect("one")).await;
            // The same request again counts nothing.
            let other = format!("p{}-{}", random.u8(0..4), random.u8(0..=at));
            let change = json!({ "category": random.choice(CATEGORIES) });
            // Another worker may not have created that product yet.
            let moved = patch(&admin, &other, change).await;
            assert!([200, 404].contains(&moved.status), "{moved:?}");
        }
    })
    .await;
    expect_exact(&shop).await;
    assert_eq!(listed(&shop).await.values().sum::<u64>(), 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_creation_counts_once_and_a_category_without_products_disappears() {
    let shop = Shop::open().await;
    let admin = shop.admin();
    create(&admin, "cup", "a").await;
    create(&admin, "cup", "a").await;
    assert_eq!(listed(&shop).await, BTreeMap::from([("a".to_owned(), 1)]));
    move_to(&admin, "cup", "b").await;
    assert_eq!(listed(&shop).await, BTreeMap::from([("b".to_owned(), 1)]));
    // A change of something else does not write the count.
    shop.fault_proxy().take_calls();
    patch(&admin, "cup", json!({ "name": "A cup" })).await.expect(200);
    let calls = shop.fault_proxy().take_calls();
    assert!(calls.iter().all(|call| !format!("{call:?}").contains("categories")), "{calls:?}");
    move_to(&admin, "cup", "a").await;
    assert_eq!(listed(&shop).await, BTreeMap::from([("a".to_owned(), 1)]));
    expect_exact(&shop).await;
}
