//! Poison records, which can never be processed: each is given up alone and reported, and its neighbours are processed.

use devstack::gateway::Invoke;
use shop::bus::text;
use shop::stream::{Tail, batch, lambda_record, number};

use crate::counts::book::Book;
use crate::prelude::*;

const LOST_COUNTS: &str = "till-local-lost-counts";
const LOST_EVENTS: &str = "till-local-lost-events";

/// The number of orders. Each has one line, so there are as many headers as lines.
const ORDERS: usize = 9;

async fn shop_of_orders() -> (Shop, Vec<Value>) {
    let shop = Shop::selling("cup", 350, 100).await;
    for at in 0..ORDERS {
        let order = basket("cup", 1);
        shop.customer("ada").order(&format!("k{at}"), order).await.expect(201);
    }
    let records = Tail::default().new_records(&shop).await;
    let is_header = |record: &Value| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order";
    (shop, records.iter().filter(|record| is_header(record)).map(lambda_record).collect())
}

/// The records, some of them made unreadable: with an unknown status or an invalid time.
fn spoilt(records: &[Value], poisons: &[usize]) -> Vec<Value> {
    let mut records = records.to_vec();
    for at in poisons {
        records[*at]["dynamodb"]["NewImage"]["placedAt"] = json!({ "S": "yesterday" });
    }
    records
}

/// Every single position, and some pairs: adjacent, apart, first and last.
fn positions() -> impl Iterator<Item = Vec<usize>> {
    let pairs = [[0, 1], [3, 5], [0, ORDERS - 1], [ORDERS - 2, ORDERS - 1]];
    (0..ORDERS).map(|at| vec![at]).chain(pairs.map(Vec::from))
}

/// The records that the queue's messages report as lost. Each message is an event with the record itself.
async fn given_up(shop: &Shop, queue: &str) -> Vec<String> {
    let messages = shop.take_from(queue).await;
    let numbers = messages.iter().map(|message| {
        let body: Value = serde_json::from_str(&text(&message["body"])).expect("JSON");
        assert!(body["keys"]["PK"]["S"].is_string() && !text(&body["reason"]).is_empty(), "{body}");
        assert_eq!(body["Records"][0]["dynamodb"]["SequenceNumber"], body["sequenceNumber"]);
        text(&body["sequenceNumber"])
    });
    numbers.collect()
}

/// Delivers like Lambda: retries from the first failure, until no record fails.
async fn deliver(consume: &Invoke, event: impl Fn(&[Value]) -> Value, records: &[Value]) {
    let mut next = 0;
    for _ in 0..10 {
        let answer = consume(event(&records[next..])).await.expect("an answer");
        match answer["batchItemFailures"].as_array().expect("failures").first() {
            None => return,
            Some(failure) => {
                let failed = records.iter().position(|record| failure["itemIdentifier"] == number(record));
                next = failed.expect("a record of the batch");
            }
        }
    }
    panic!("the batch is never done");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_neighbours_of_poison_records_are_published() {
    let (shop, records) = shop_of_orders().await;
    for poisons in positions() {
        let records = spoilt(&records, &poisons);
        let before = shop.bus().events().len();
        let publish = shop.consumer("publish-order-events", &shop.endpoints());
        deliver(&publish, |records| json!({ "Records": records }), &records).await;

        let events = shop.bus().events().split_off(before);
        let told = events.iter().map(|event| text(&event["detail"]["orderId"]));
        let good = records.iter().enumerate().filter(|(at, _)| !poisons.contains(at));
        let good = good.map(|(_, record)| text(&record["dynamodb"]["NewImage"]["orderId"]["S"]));
        assert_eq!(told.collect::<Vec<_>>(), good.collect::<Vec<_>>(), "{poisons:?}");
        let lost: Vec<_> = poisons.iter().map(|at| number(&records[*at]).to_owned()).collect();
        assert_eq!(given_up(&shop, LOST_EVENTS).await, lost, "{poisons:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_neighbours_of_poison_records_are_counted() {
    let (shop, records) = shop_of_orders().await;
    let orders = async || shop.customer("ada").get("/customers/ada").await.expect(200)["stats"]["orders"].as_u64();
    let mut expected = 0;
    for (shard, poisons) in positions().enumerate() {
        let records = spoilt(&records, &poisons);
        let shard = format!("shardId-{shard}");
        let event = |records: &[Value]| batch(&shard, records, &json!({}));
        deliver(&shop.counter(), event, &records).await;

        expected += u64::try_from(ORDERS - poisons.len()).expect("few");
        assert_eq!(orders().await, Some(expected), "{poisons:?}");
        let lost: Vec<_> = poisons.iter().map(|at| number(&records[*at]).to_owned()).collect();
        assert_eq!(given_up(&shop, LOST_COUNTS).await, lost, "{poisons:?}");

        // Delivered again from the beginning, nothing is counted or given up twice, even if poison records come last.
        deliver(&shop.counter(), event, &records).await;
        assert_eq!(orders().await, Some(expected), "{poisons:?}");
        assert_eq!(given_up(&shop, LOST_COUNTS).await, [""; 0], "{poisons:?}");
    }
}

/// If the queue for lost records does not accept a poison record, skipping it would lose it. So it is retried, and the
/// records before it are processed.
#[tokio::test(flavor = "multi_thread")]
async fn a_poison_record_is_retried_while_the_queue_for_lost_records_fails_and_earlier_records_are_processed() {
    let (shop, records) = shop_of_orders().await;
    let records = spoilt(&records, &[4]);
    let proxy = devstack::FaultProxy::start(&shop.endpoints().sqs).await.expect("a fault proxy");
    proxy.inject_share(Match::any(), Fault::CutBefore, 1.0, 0);
    let endpoints = devstack::Endpoints { sqs: proxy.url().to_owned(), ..shop.endpoints() };
    for name in ["count-orders", "publish-order-events"] {
        let consume = shop.consumer(name, &endpoints);
        let answer = consume(batch("shardId-0", &records, &json!({}))).await.expect("an answer");
        assert_eq!(answer["batchItemFailures"][0]["itemIdentifier"], *number(&records[4]), "{name}");
    }
    let ada = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!((&ada["stats"]["orders"], shop.bus().events().len()), (&json!(4), 4));
}

/// A manual write to the table, with the laptop's event sources.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_header_written_by_hand_stops_neither_counting_nor_publishing() {
    let shop = Shop::open_counted().await;
    let mut book = Book::open(&shop).await;
    let mut rng = fastrand::Rng::with_seed(1);
    let item = json!({
        "PK": { "S": "o#spoilt" }, "SK": { "S": "o#spoilt" }, "EntityType": { "S": "order" }, "status": { "S": "LOST" },
    });
    for _ in 0..3 {
        book.write(&shop, &mut rng).await;
        shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": item })).await;
        shop.dynamodb(
            "DeleteItem",
            &json!({ "TableName": shop.table(), "Key": { "PK": item["PK"], "SK": item["SK"] } }),
        )
        .await;
    }
    shop.settle().await;
    book.check(&shop).await;
    for queue in [LOST_COUNTS, LOST_EVENTS] {
        assert_eq!(given_up(&shop, queue).await.len(), 3, "{queue}");
    }
}

/// Like an operator who restores a lost order from a copy of its items.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_deleted_and_restored_later_is_neither_counted_nor_published_again() {
    let (shop, mut records) = shop_of_orders().await;
    let all = Tail::default().new_records(&shop).await;
    let is_of = |record: &&Value| {
        let kind = &record["dynamodb"]["NewImage"]["EntityType"]["S"];
        (kind == "order" || kind == "orderItem")
            && record["dynamodb"]["NewImage"]["orderId"] == records[0]["dynamodb"]["NewImage"]["orderId"]
    };
    let mut again: Vec<Value> = all.iter().filter(is_of).map(lambda_record).collect();
    assert_eq!(again.len(), 2, "the header and a line");
    for (at, record) in again.iter_mut().enumerate() {
        let written = record["dynamodb"]["ApproximateCreationDateTime"].as_f64().expect("a time");
        record["dynamodb"]["ApproximateCreationDateTime"] = json!(written + 3700.0);
        record["dynamodb"]["SequenceNumber"] = json!(format!("9{}{at}", number(record)));
    }
    records.extend(again);
    deliver(&shop.counter(), |records| batch("shardId-0", records, &json!({})), &records).await;
    let publish = shop.consumer("publish-order-events", &shop.endpoints());
    deliver(&publish, |records| json!({ "Records": records }), &records).await;
    let ada = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!((&ada["stats"]["orders"], shop.bus().events().len()), (&json!(ORDERS), ORDERS));
}
