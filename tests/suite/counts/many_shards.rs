//! Many shards are counted at once, in a table whose transactions lock their items.

use futures_util::future::join_all;
use shop::stream::{Tail, batch, is_wanted};

use super::book::Book;
use crate::prelude::*;

/// The number of shards, each with a consumer of its own.
const SHARDS: usize = 24;

/// The time for which a transaction holds its items.
const HELD: Duration = Duration::from_millis(10);

/// A shop with orders that are not counted yet, and the records of each shard.
async fn uncounted(orders: u32) -> (Shop, Book, Vec<Vec<Value>>) {
    let shop = Shop::open().await;
    let book = Book::of(&shop, 5, orders).await;
    let mut records = Tail::default().new_records(&shop).await;
    records.retain(is_wanted);
    let mut shards = vec![Vec::new(); SHARDS];
    for record in records {
        let partition = record["dynamodb"]["Keys"]["PK"]["S"].as_str().expect("a key");
        shards[partition.bytes().map(usize::from).sum::<usize>() % SHARDS].push(record);
    }
    (shop, book, shards)
}

/// The items that are parked or held for folding.
async fn left_over(shop: &Shop) -> Vec<Value> {
    let is_left_over =
        |item: &Value| item["EntityType"]["S"] == "parkedCounts" || item["EntityType"]["S"] == "foldLease";
    shop.dump().await.into_iter().filter(is_left_over).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_shards_at_once_are_counted_exactly_and_nothing_stays_parked() {
    let (shop, book, shards) = uncounted(60).await;
    let counters = shop.counters();
    let counters: Vec<_> = shards.iter().map(|_| counters().expect("the counter starts")).collect();
    shop.fault_proxy().hold_items(HELD);
    shop.fault_proxy().take_calls();
    // Each shard in several batches, by an environment that remembers its conflicts.
    let counted = shards.iter().zip(&counters).enumerate().map(async |(shard, (records, counter))| {
        for records in records.chunks(4) {
            let answer = counter(batch(&format!("shardId-{shard}"), records, &json!({}))).await.expect("an answer");
            assert_eq!(answer["batchItemFailures"], json!([]));
        }
    });
    join_all(counted).await;
    let calls = shop.fault_proxy().take_calls();
    shop.fault_proxy().hold_items(Duration::ZERO);
    book.check(&shop).await;
    assert_eq!(left_over(&shop).await, Vec::<Value>::new());

    let parked = calls.iter().filter(|call| call.request.to_string().contains("parkedCounts")).count();
    assert!(parked > SHARDS, "{parked} calls parked counts");
    let transactions = calls.iter().filter(|call| call.action == "TransactWriteItems").count();
    let batches: usize = shards.iter().map(|records| records.chunks(4).len()).sum();
    assert!(transactions < 6 * batches, "{transactions} transactions of {batches} batches");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_shard_alone_parks_nothing() {
    let (shop, book, shards) = uncounted(10).await;
    shop.fault_proxy().hold_items(HELD);
    for (shard, records) in shards.iter().enumerate() {
        shop.count(&format!("shardId-{shard}"), records).await;
    }
    book.check(&shop).await;
    let calls = shop.fault_proxy().take_calls();
    assert!(calls.iter().all(|call| !call.request.to_string().contains("parked")));
}

/// Parks the counts of these shards with consumers that cannot fold.
async fn park(shop: &Shop, shards: &[Vec<Value>]) {
    // The first two transactions of each batch meet others, and no lease can be taken.
    for (shard, records) in shards.iter().enumerate() {
        let adds = |request: &Value| request.to_string().contains("day#");
        shop.fault_proxy().inject(commit().when(adds), Fault::conflict(1), 2);
        let denied = Fault::Refused { status: 400, exception: "AccessDeniedException" };
        shop.fault_proxy().inject(Match::action("PutItem"), denied, usize::MAX);
        let answer = shop.count(&format!("shardId-{shard}"), records).await;
        assert_eq!(answer["batchItemFailures"], json!([]), "what is parked is counted");
        shop.fault_proxy().heal();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_consumer_cannot_fold_is_folded_by_the_next_one_and_by_a_comparison() {
    let (shop, book, mut shards) = uncounted(20).await;
    shards.retain(|records| !records.is_empty());
    let last = shards.pop().expect("a shard");
    park(&shop, &shards).await;
    assert!(!left_over(&shop).await.is_empty());
    // The next one that parks folds the rest, too: its own groups, and a comparison folds the others.
    let adds = |request: &Value| request.to_string().contains("day#");
    shop.fault_proxy().inject(commit().when(adds), Fault::conflict(1), 2);
    shop.count("shardId-last", &last).await;
    shop.reconcile(false).await;
    assert_eq!(left_over(&shop).await, Vec::<Value>::new());
    book.check(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_that_are_folded_twice_at_once_are_added_once() {
    let (shop, book, shards) = uncounted(20).await;
    park(&shop, &shards).await;
    shop.fault_proxy().hold_items(HELD);
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 2);
    join_all((0..4).map(|_| shop.reconcile(false))).await;
    shop.fault_proxy().hold_items(Duration::ZERO);
    assert_eq!(left_over(&shop).await, Vec::<Value>::new());
    book.check(&shop).await;
}

/// A release that parks counts of its own layout leaves those of a later one alone, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn counts_that_a_later_release_has_parked_stop_the_comparison_and_stay() {
    let (shop, _, shards) = uncounted(3).await;
    park(&shop, &shards).await;
    for item in left_over(&shop).await {
        let [pk, sk] = ["PK", "SK"].map(|name| item[name]["S"].as_str().expect("a key"));
        shop.set(pk, sk, "layout", json!({ "N": "99" })).await;
    }
    let before = left_over(&shop).await;
    shop.reconcile(false).await;
    assert_eq!(left_over(&shop).await, before, "younger than two minutes, so the comparison goes on");
}
