//! Building the index anew, while the shop is open and searched.

use std::sync::atomic::{AtomicBool, Ordering};

use lambda::FromEnvironment as _;
use local::reindex::reindex;
use shop::kills::for_steps;

use crate::prelude::*;

async fn create(client: &Client, id: &str) {
    client.post("/products", goods(id, json!({ "name": id, "price": eur(100) }))).await.expect(201);
}

async fn indexes(shop: &Shop) -> Vec<String> {
    let search = ::search::Search::from_environment(&shop.indexer()).expect("a search");
    search.written().await.expect("the indexes").iter().map(|name| format!("{name:?}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn while_an_index_is_built_no_change_is_lost_and_searches_find_everything() {
    let shop = Arc::new(Shop::open_searchable().await);
    for at in 0..30 {
        create(&shop.admin(), &format!("before-{at:02}")).await;
    }
    shop.search_until("", |found| found["total"] == 30).await;

    let done = Arc::new(AtomicBool::new(false));
    let (customers, until) = (Arc::clone(&shop), Arc::clone(&done));
    let buyer = tokio::spawn(async move {
        let mut searches = 0;
        while !until.load(Ordering::Relaxed) {
            let found = customers.nobody().get("/search?q=before").await.expect(200);
            assert_eq!(found["total"], 30, "a part of the index was searched");
            searches += 1;
        }
        searches
    });
    let staff = Arc::clone(&shop);
    let changing = tokio::spawn(async move {
        for at in 0..20 {
            create(&staff.admin(), &format!("during-{at:02}")).await;
            let change = json!({ "price": eur(200 + at) });
            let path = format!("/products/before-{at:02}");
            staff.admin().patch(&path, "*", change).await.expect(200);
        }
    });
    for _ in 0..3 {
        shop.reindex().await;
        assert_eq!(indexes(&shop).await.len(), 1, "the old index is deleted");
    }
    changing.await.expect("changed");
    shop.search_until("", |found| found["total"] == 50).await;
    done.store(true, Ordering::Relaxed);
    assert!(buyer.await.expect("searched") > 0);
    let at_last = |found: &Value| found["total"] == 20;
    shop.search_until("currency=EUR&from=200", at_last).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_killed_anywhere_or_beside_another_leaves_one_whole_index() {
    let shop = Shop::open_searchable().await;
    for at in 0..10 {
        create(&shop.admin(), &format!("p{at}")).await;
    }
    shop.search_until("", |found| found["total"] == 10).await;
    let environment = shop.indexer();
    for steps in [0, 1, 3, 5, 8, 12, 20, 40, 80] {
        _ = for_steps(steps, reindex(&environment, |_| ())).await;
        let found = shop.nobody().get("/search").await.expect(200);
        assert_eq!(found["total"], 10, "killed after {steps} steps");
    }
    let (first, second) = tokio::join!(reindex(&environment, |_| ()), reindex(&environment, |_| ()));
    assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
    assert_eq!(shop.nobody().get("/search").await.expect(200)["total"], 10);
    assert_eq!(shop.reindex().await, 10);
    assert_eq!(indexes(&shop).await.len(), 1);
    assert_eq!(shop.nobody().get("/search").await.expect(200)["total"], 10);
    // Changes still reach it.
    create(&shop.admin(), "last").await;
    shop.search_until("q=last", |found| found["total"] == 1).await;
}
