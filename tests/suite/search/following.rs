//! The index follows the table, whatever becomes of the messages.

use shop::seed::seeds;

use super::found;
use crate::prelude::*;

const PRODUCTS: usize = 5;

/// All products as the table has them.
async fn stored(shop: &Shop) -> Vec<Value> {
    let mut products = shop.nobody().walk("/products", 100).await;
    products.sort_by_key(|item| item["productId"].to_string());
    products
}

async fn remove(shop: &Shop, id: &str) {
    let pk = format!("p#{id}");
    for sk in [&pk, "stock"] {
        shop.delete(&pk, sk).await;
    }
}

async fn create(shop: &Shop, id: &str, price: u64) {
    let created = shop.admin().post("/products", goods(id, json!({ "name": id, "price": eur(price) }))).await;
    assert!([201, 409].contains(&created.status), "{created:?}");
}

fn batch(products: &[String]) -> Value {
    let records: Vec<_> = products
        .iter()
        .enumerate()
        .map(|(at, id)| json!({ "messageId": format!("m{at}"), "body": json!({ "detail": { "productId": id } }).to_string() }))
        .collect();
    let batch = json!({ "Records": records });
    batch
}

#[tokio::test(flavor = "multi_thread")]
async fn products_are_found_after_they_are_created_changed_and_removed() {
    let shop = Shop::open_searchable().await;
    create(&shop, "cup", 100).await;
    shop.search_until("q=cup", |found| found["total"] == 1).await;
    let change = json!({ "name": "Saucer", "category": "kitchen", "price": eur(250) });
    shop.admin().patch("/products/cup", "*", change).await.expect(200);
    shop.search_until("q=saucer&category=kitchen&currency=EUR&from=250&to=251", |found| found["total"] == 1).await;
    assert_eq!(found(&shop, "q=cup").await["total"], 0);
    // A product that is not listed is not found.
    for (listed, total) in [(false, 0), (true, 1)] {
        let change = json!({ "listed": listed });
        shop.admin().patch("/products/cup", "*", change).await.expect(200);
        shop.search_until("q=saucer", |found| found["total"] == total).await;
    }
    remove(&shop, "cup").await;
    shop.search_until("", |found| found["total"] == 0).await;
    // Its version begins anew.
    create(&shop, "cup", 300).await;
    shop.search_until("q=cup", |found| found["items"][0]["price"]["amount"] == 300).await;
}

/// The stream's events are replaced by messages of this test: late, twice, in any order, and to several environments of the
/// function at once. Each product has a message after its last change, as SQS guarantees.
#[tokio::test(flavor = "multi_thread")]
async fn late_repeated_and_disordered_messages_leave_the_index_as_the_table() {
    for seed in seeds(2) {
        let shop = Shop::open_searchable_with(|template| {
            template.stream_sources.iter_mut().for_each(|source| source.enabled = false);
        })
        .await;
        let mut random = fastrand::Rng::with_seed(seed);
        let name = |at: usize| format!("p{at}");
        let indexing = (0..3).map(|_| shop.consumer("index-products", &shop.endpoints())).collect::<Vec<_>>();
        let mut working = JoinSet::new();
        for (worker, index) in indexing.iter().cloned().enumerate() {
            let mut random = fastrand::Rng::with_seed(seed * 10 + worker as u64);
            working.spawn(async move {
                for _ in 0..12 {
                    let some: Vec<_> = (0..random.usize(1..6)).map(|_| name(random.usize(0..PRODUCTS))).collect();
                    index(batch(&some)).await.expect("an answer");
                }
            });
        }
        for _ in 0..20 {
            let (id, price) = (name(random.usize(0..PRODUCTS)), random.u64(1..1000));
            match random.u8(0..4) {
                0 => remove(&shop, &id).await,
                1 => create(&shop, &id, price).await,
                _ => {
                    let change = json!({ "price": eur(price) });
                    let path = format!("/products/{id}");
                    let changed = shop.admin().patch(&path, "*", change).await;
                    assert!([200, 404].contains(&changed.status), "{changed:?}");
                }
            }
        }
        working.join_all().await;
        let mut last: Vec<_> = (0..PRODUCTS).map(name).collect();
        random.shuffle(&mut last);
        let answer = indexing[0](batch(&last)).await.expect("an answer");
        assert_eq!(answer["batchItemFailures"], json!([]));
        // An index shows what is written after its next refresh. Each product's name is its id.
        let expected = json!(stored(&shop).await);
        shop.search_until("sort=name&limit=100", |found| found["items"] == expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_fail_while_the_index_does_not_answer_and_a_message_without_a_product_fails_alone() {
    let mut shop = Shop::open_searchable_with(|template| {
        template.stream_sources.iter_mut().for_each(|source| source.enabled = false);
    })
    .await;
    create(&shop, "cup", 100).await;
    let index = shop.consumer("index-products", &shop.endpoints());
    let mut one = batch(&["cup".to_owned()]);
    one["Records"].as_array_mut().expect("records").push(json!({ "messageId": "other", "body": "no event" }));
    let answer = index(one).await.expect("an answer");
    assert_eq!(answer["batchItemFailures"], json!([{ "itemIdentifier": "other" }]));
    shop.search_until("q=cup", |found| found["total"] == 1).await;
    if std::env::var("TILL_SEARCH_URL").is_err() {
        shop.end_search();
        let answer = index(batch(&["cup".to_owned(), "cup".to_owned()])).await.expect("an answer");
        assert_eq!(answer["batchItemFailures"], json!([{ "itemIdentifier": "m0" }, { "itemIdentifier": "m1" }]));
    }
}
