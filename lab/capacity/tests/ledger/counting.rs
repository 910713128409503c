//! Operations of the stream's consumers, and the comparison of counts with orders.

use key_schema::value::Day;
use sample_items::Kind;
use sample_items::Revision::First;
use serde_json::{Value, json};
use shop::stream::{Tail, batch, is_wanted, lambda_record, number};

use super::metered_shop::MeteredShop;
use super::requests::Placed;

const SHARD: &str = "shardId-00000001795253400000-00000001";

/// All relevant records, from the beginning.
async fn records(shop: &MeteredShop) -> Vec<Value> {
    let mut records = Tail::default().new_records(&shop.shop).await;
    records.retain(is_wanted);
    records
}

/// Counts the first order, and compares the counts with it.
pub async fn count_first(shop: &mut MeteredShop, order: &Placed) {
    let records = records(shop).await;
    shop.pass();
    shop.shop.count(SHARD, &records).await;
    shop.check("count-orders", "the first batch of a shard");
    shop.shop.count(SHARD, &records).await;
    shop.check("count-orders", "counted before");
    shop.check_sizes(&[
        ("customerStats", Kind::CustomerStats(First)),
        ("productStats", Kind::ProductStats(First)),
        ("dayTotals", Kind::DayTotals(First)),
        ("streamCheckpoint", Kind::StreamCheckpoint(First)),
    ])
    .await;

    let mut unreadable = lambda_record(&records[0]);
    unreadable["dynamodb"]["NewImage"]["placedAt"] = json!({ "S": "yesterday" });
    // The same length as the other shard's name.
    shop.shop.count("shardId-00000001795253400000-00000003", &[unreadable]).await;
    shop.check("count-orders", "a record that cannot be counted");

    let publish = shop.shop.consumer("publish-order-events", &shop.shop.endpoints());
    let is_header = |record: &&Value| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order";
    let placed: Vec<_> = records.iter().filter(is_header).map(lambda_record).collect();
    assert_eq!(placed.len(), 1);
    publish(json!({ "Records": placed })).await.expect("an answer");
    shop.check("publish-order-events", "an order that was placed");

    let day: Day = order.0["placedAt"].as_str().expect("a time")[..10].parse().expect("a day");
    reconcile(shop, day, "a day of one order").await;
}

/// Counts the second order in an environment that knows the checkpoint.
pub async fn count_second(shop: &mut MeteredShop) {
    let records = records(shop).await;
    let of_first = records.len() / 2;
    let state = json!({ "mark": number(&records[of_first - 1]) });
    shop.pass();
    shop.shop.counter()(batch(SHARD, &records[of_first..], &state)).await.expect("an answer");
    shop.check("count-orders", "a batch");
}

/// Counts the cancellation of the order.
pub async fn count_cancellation(shop: &mut MeteredShop, order: &Placed) {
    let records = records(shop).await;
    let is_of = |record: &&Value| {
        let image = &record["dynamodb"]["NewImage"];
        image["orderId"]["S"] == order.id() && image["status"]["S"] == "CANCELLED"
    };
    let at = records.iter().rposition(|record| is_of(&record)).expect("a record");
    let state = json!({ "mark": number(&records[at - 1]) });
    // Pretends that the records in between were counted.
    let moved = json!({
        "TableName": shop.shop.table(),
        "Key": { "PK": { "S": format!("shard#{SHARD}") }, "SK": { "S": format!("shard#{SHARD}") } },
        "UpdateExpression": "SET mark = :mark",
        "ExpressionAttributeValues": { ":mark": { "S": number(&records[at - 1]) } },
    });
    shop.shop.dynamodb("UpdateItem", &moved).await;
    shop.pass();
    shop.shop.counter()(batch(SHARD, &records[at..=at], &state)).await.expect("an answer");
    shop.check("count-orders", "an order that was called off");
    let publish = shop.shop.consumer("publish-order-events", &shop.shop.endpoints());
    publish(json!({ "Records": [lambda_record(&records[at])] })).await.expect("an answer");
    shop.check("publish-order-events", "another change");
}

/// Counts the order in a shard of its own.
pub async fn count_alone(shop: &MeteredShop, order: &Placed) {
    let mut records = records(shop).await;
    records.retain(|record| record["dynamodb"]["NewImage"]["orderId"]["S"] == order.id());
    shop.shop.count("shardId-00000001795253400000-00000002", &records).await;
    shop.pass();
}

async fn reconcile(shop: &mut MeteredShop, day: Day, case: &'static str) {
    let ask = json!({ "from": day.to_string(), "to": day.plus(1).to_string(), "repair": true });
    shop.pass();
    let answer = shop.shop.reconciler()(ask).await.expect("an answer");
    assert_eq!(answer["done"], true, "{answer}");
    shop.check("reconcile-counts", case);
}

/// Puts an item directly into the table.
async fn put(shop: &MeteredShop, item: &Value) {
    shop.shop.dynamodb("PutItem", &json!({ "TableName": shop.shop.table(), "Item": item })).await;
}

/// The totals of days, and the scheduled comparison.
pub async fn send_all(shop: &mut MeteredShop) {
    let long_ago: Day = "2020-01-01".parse().expect("a day");
    reconcile(shop, long_ago, "a day of no orders").await;
    let mut totals = json!(shop.sample.item(Kind::DayTotals(First)).expect("totals"));
    totals["PK"]["S"] = json!(format!("day#{long_ago}"));
    totals["date"]["S"] = json!(long_ago.to_string());
    put(shop, &totals).await;
    reconcile(shop, long_ago, "a day's totals that drifted, repaired").await;

    for case in ["scheduled, after a week of no orders", "done today"] {
        let answer = shop.shop.reconciler()(json!({})).await.expect("an answer");
        assert_eq!(answer["done"], true, "{answer}");
        shop.check("reconcile-counts", case);
    }
}
