//! Records that can never be processed: each is given up alone, by name, and its neighbours are not lost with it.

use local::gateway::Invoke;
use serde_json::{Value, json};

use crate::shop::Shop;
use crate::shop_bus::text;
use crate::shop_stream::{Tail, lambda_record, number};

const LOST_EVENTS: &str = "till-local-lost-events";

/// Orders of one line each, so that there are so many headers and so many lines.
const ORDERS: usize = 9;

async fn shop_of_orders() -> (Shop, Vec<Value>) {
    let shop = Shop::with_ada().await;
    shop.product("cup", 350, 100).await;
    for at in 0..ORDERS {
        let order = json!({ "lines": [{ "productId": "cup", "quantity": 1 }] });
        shop.customer("ada").order(&format!("k{at}"), order).await.expect(201);
    }
    let records = Tail::default().new_records(&shop).await;
    let is_header = |record: &Value| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order";
    (shop, records.iter().filter(|record| is_header(record)).map(lambda_record).collect())
}

/// The records with some that nobody can read: a status that no version knows, or a time that is none.
fn spoilt(records: &[Value], poisons: &[usize]) -> Vec<Value> {
    let mut records = records.to_vec();
    for at in poisons {
        records[*at]["dynamodb"]["NewImage"]["placedAt"] = json!({ "S": "yesterday" });
    }
    records
}

/// Every position alone, and some pairs: next to each other, apart, first and last.
fn positions() -> impl Iterator<Item = Vec<usize>> {
    let pairs = [[0, 1], [3, 5], [0, ORDERS - 1], [ORDERS - 2, ORDERS - 1]];
    (0..ORDERS).map(|at| vec![at]).chain(pairs.map(Vec::from))
}

/// The records that a queue was told are lost. Each message is an event with the record itself.
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

/// Delivers as Lambda does: from the first failure on, until nothing fails.
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
async fn events_of_the_neighbours_are_published_wherever_the_poison_is() {
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
