//! Products that are not listed: they are in no list, no category and no search, and can be read and ordered.

use crate::prelude::*;

const CATEGORIES: [&str; 3] = ["a", "b", "c"];

fn product(id: &str, category: &str) -> Value {
    goods(id, json!({ "category": category, "price": eur(100), "stock": 10 }))
}

async fn patch(client: &Client, id: &str, change: Value) -> Reply {
    client.patch(&format!("/products/{id}"), "*", change).await
}

/// The number of products of each category that has any, as the API shows it.
async fn categories(shop: &Shop) -> BTreeMap<String, u64> {
    let found = shop.nobody().walk("/categories", 2).await;
    let one = |one: &Value| {
        (one["category"].as_str().expect("a name").to_owned(), one["products"].as_u64().expect("a number"))
    };
    found.iter().map(one).filter(|(_, products)| *products > 0).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_that_is_not_listed_is_in_no_list_and_can_be_read_and_ordered() {
    let shop = Shop::with_ada().await;
    let (admin, ada) = (shop.admin(), shop.customer("ada"));
    let mut hidden = product("hidden", "a");
    hidden["listed"] = json!(false);
    for _ in 0..2 {
        assert_eq!(admin.post("/products", hidden.clone()).await.expect(201)["listed"], false);
    }
    let other = admin.post("/products", product("shown", "a")).await.expect(201);
    assert!(other["listed"].is_null());
    let listed = async || {
        let mut ids = Vec::new();
        for path in ["/products?category=a", "/products"] {
            let products = shop.nobody().walk(path, 1).await;
            ids.push(products.iter().map(|product| product["productId"].clone()).collect::<Vec<_>>());
        }
        (ids, categories(&shop).await.get("a").copied())
    };
    let only_shown = (vec![vec![json!("shown")]; 2], Some(1));
    assert_eq!(listed().await, only_shown);
    assert_eq!(shop.nobody().get("/products/hidden").await.expect(200)["listed"], false);
    let order = basket("hidden", 1);
    assert_eq!(ada.order("k", order).await.expect(201)["total"], eur(100));

    for _ in 0..2 {
        assert!(patch(&admin, "hidden", json!({ "listed": true })).await.expect(200)["listed"].is_null());
        assert_eq!(listed().await, (vec![vec![json!("hidden"), json!("shown")]; 2], Some(2)));
        assert_eq!(patch(&admin, "hidden", json!({ "listed": false })).await.expect(200)["listed"], false);
        assert_eq!(listed().await, only_shown);
    }
    // A change of its category, and of the stock, leaves it where it is: nowhere.
    patch(&admin, "hidden", json!({ "category": "b", "cells": 3 })).await.expect(200);
    admin.post_if("/products/hidden/stock", "*", json!({ "delta": 5 })).await.expect(200);
    assert_eq!((listed().await, categories(&shop).await.len()), (only_shown, 1));
    assert_eq!(invariants::breaches(&shop, invariants::BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

/// Workers change categories and listing at once, each of them or both in one request, while answers are lost.
#[tokio::test(flavor = "multi_thread")]
async fn after_any_changes_of_category_and_listing_the_numbers_are_those_of_the_lists() {
    let shop = Shop::open().await;
    let mut expected = 0;
    for at in 0..8 {
        let mut new = product(&format!("p{at}"), CATEGORIES[at % 3]);
        new["listed"] = json!(at % 2 == 0);
        shop.admin().post("/products", new).await.expect(201);
    }
    for fault in [Fault::CutAfter, Fault::CutBefore] {
        shop.fault_proxy().inject_share(commit(), fault, 0.15, 5);
    }
    at_once(0..4, async |worker| {
        let admin = shop.admin();
        let mut random = fastrand::Rng::with_seed(worker);
        for _ in 0..12 {
            let (category, listed) = (random.choice(CATEGORIES).expect("one"), random.bool());
            let change = match random.u8(0..3) {
                0 => json!({ "category": category }),
                1 => json!({ "listed": listed }),
                _ => json!({ "category": category, "listed": listed }),
            };
            let changed = patch(&admin, &format!("p{}", random.u8(0..8)), change).await;
            assert!([200, 412, 503].contains(&changed.status), "{changed:?}");
        }
    })
    .await;
    shop.fault_proxy().heal();
    let mut of_lists = BTreeMap::new();
    for category in CATEGORIES {
        let products = shop.nobody().walk(&format!("/products?category={category}"), 100).await;
        of_lists.extend((!products.is_empty()).then(|| (category.to_owned(), products.len() as u64)));
    }
    for at in 0..8 {
        let found = shop.nobody().get(&format!("/products/p{at}")).await.expect(200);
        expected += u64::from(found["listed"].is_null());
    }
    assert_eq!(of_lists.values().sum::<u64>(), expected);
    assert_eq!(categories(&shop).await, of_lists);
    assert_eq!(shop.nobody().walk("/products", 3).await.len() as u64, expected);
    invariants::hold(&shop).await;
}
