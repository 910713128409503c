//! What follows from the stream, and the comparison of the counts with the orders.

use capacity::sample::Kind;
use capacity::sample::Revision::First;
use key_schema::value::Day;
use serde_json::{Value, json};

use super::book::Book;
use super::story::Placed;
use crate::shop_stream::{Tail, batch, is_wanted, lambda_record, number};

const SHARD: &str = "shardId-00000001795253400000-00000001";

/// All records that count, from the beginning.
async fn records(book: &Book) -> Vec<Value> {
    let mut records = Tail::default().new_records(&book.shop).await;
    records.retain(is_wanted);
    records
}

/// The first order is counted, and then compared with its counts.
pub async fn count_first(book: &mut Book, order: &Placed) {
    let records = records(book).await;
    book.pass();
    book.shop.count(SHARD, &records).await;
    book.check("count-orders", "the first batch of a shard");
    book.shop.count(SHARD, &records).await;
    book.check("count-orders", "counted before");
    book.check_sizes(&[
        ("customerStats", Kind::CustomerStats(First)),
        ("productStats", Kind::ProductStats(First)),
        ("dayTotals", Kind::DayTotals(First)),
        ("streamCheckpoint", Kind::StreamCheckpoint(First)),
    ])
    .await;

    let mut unreadable = lambda_record(&records[0]);
    unreadable["dynamodb"]["NewImage"]["placedAt"] = json!({ "S": "yesterday" });
    // As long as the other shard's name.
    book.shop.count("shardId-00000001795253400000-00000003", &[unreadable]).await;
    book.check("count-orders", "a record that cannot be counted");

    let publish = book.shop.consumer("publish-order-events", &book.shop.endpoints());
    let is_header = |record: &&Value| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order";
    let placed: Vec<_> = records.iter().filter(is_header).map(lambda_record).collect();
    assert_eq!(placed.len(), 1);
    publish(json!({ "Records": placed })).await.expect("an answer");
    book.check("publish-order-events", "an order that was placed");

    let day: Day = order.0["placedAt"].as_str().expect("a time")[..10].parse().expect("a day");
    reconcile(book, day, "a day of one order").await;
}

/// The second is, by somebody who knows where the mark is.
pub async fn count_second(book: &mut Book) {
    let records = records(book).await;
    let of_first = records.len() / 2;
    let state = json!({ "mark": number(&records[of_first - 1]) });
    book.pass();
    book.shop.counter()(batch(SHARD, &records[of_first..], &state)).await.expect("an answer");
    book.check("count-orders", "a batch");
}

/// It is called off.
pub async fn count_cancellation(book: &mut Book, order: &Placed) {
    let records = records(book).await;
    let is_of = |record: &&Value| {
        let image = &record["dynamodb"]["NewImage"];
        image["orderId"]["S"] == order.id() && image["status"]["S"] == "CANCELLED"
    };
    let at = records.iter().rposition(|record| is_of(&record)).expect("a record");
    let state = json!({ "mark": number(&records[at - 1]) });
    // As if what lies between had been counted.
    let moved = json!({
        "TableName": book.shop.table(),
        "Key": { "PK": { "S": format!("shard#{SHARD}") }, "SK": { "S": format!("shard#{SHARD}") } },
        "UpdateExpression": "SET mark = :mark",
        "ExpressionAttributeValues": { ":mark": { "S": number(&records[at - 1]) } },
    });
    book.shop.dynamodb("UpdateItem", &moved).await;
    book.pass();
    book.shop.counter()(batch(SHARD, &records[at..=at], &state)).await.expect("an answer");
    book.check("count-orders", "an order that was called off");
    let publish = book.shop.consumer("publish-order-events", &book.shop.endpoints());
    publish(json!({ "Records": [lambda_record(&records[at])] })).await.expect("an answer");
    book.check("publish-order-events", "another change");
}

/// It is counted, in a shard of its own.
pub async fn count_alone(book: &Book, order: &Placed) {
    let mut records = records(book).await;
    records.retain(|record| record["dynamodb"]["NewImage"]["orderId"]["S"] == order.id());
    book.shop.count("shardId-00000001795253400000-00000002", &records).await;
    book.pass();
}

async fn reconcile(book: &mut Book, day: Day, case: &'static str) {
    let ask = json!({ "from": day.to_string(), "to": day.plus(1).to_string(), "repair": true });
    book.pass();
    let answer = book.shop.reconciler()(ask).await.expect("an answer");
    assert_eq!(answer["done"], true, "{answer}");
    book.check("reconcile-counts", case);
}

/// Puts an item into the table, past the fault proxy.
async fn put(book: &Book, item: &Value) {
    book.shop.dynamodb("PutItem", &json!({ "TableName": book.shop.table(), "Item": item })).await;
}

/// The counts of days, and what is compared when nobody says what.
pub async fn tell(book: &mut Book) {
    let long_ago: Day = "2020-01-01".parse().expect("a day");
    reconcile(book, long_ago, "a day of no orders").await;
    let mut totals = json!(book.sample.item(Kind::DayTotals(First)).expect("totals"));
    totals["PK"]["S"] = json!(format!("day#{long_ago}"));
    totals["date"]["S"] = json!(long_ago.to_string());
    put(book, &totals).await;
    reconcile(book, long_ago, "a day's totals that drifted, repaired").await;

    for case in ["scheduled, after a week of no orders", "done today"] {
        let answer = book.shop.reconciler()(json!({})).await.expect("an answer");
        assert_eq!(answer["done"], true, "{answer}");
        book.check("reconcile-counts", case);
    }
}
