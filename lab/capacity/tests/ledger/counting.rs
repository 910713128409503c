//! Operations of the stream's consumers, and the comparison of counts with orders.

use key_schema::entity::StreamCheckpoint;
use key_schema::value::{Day, Timestamp};
use sample_items::Revision::First;
use sample_items::{Batch, Kind, SampleSizes};
use serde_dynamo::Item;
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

/// Records of other customers, products and days, to make a batch of the sample's size. They are numbered from `first`.
///
/// They copy the records of an order's header and of one of its lines. Their days are long past, so that no comparison
/// of counts finds them.
fn others(shop: &MeteredShop, of: &[Value], first: u128) -> Vec<Value> {
    let SampleSizes { lines, batch: Batch { customers, products, days }, .. } = shop.sizes();
    let is_header = |record: &&Value| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order";
    let header = of.iter().find(is_header).expect("a header");
    let line = of.iter().find(|record| !is_header(record)).expect("a line");
    let headers = (1..customers).map(|other| (header, "customerId", shop.id("x", other), other));
    let lines = (lines..products).map(|other| (line, "productId", shop.id("y", other), other - lines + 1));
    let others = headers.chain(lines).zip(first..).map(|((record, name, id, other), next)| {
        let mut record = record.clone();
        let image = &mut record["dynamodb"]["NewImage"];
        image[name] = json!({ "S": id });
        let day =
            "2019-06-01".parse::<Day>().expect("a day").plus(i64::from((other - 1) % days.max(2).saturating_sub(1)));
        let at: Timestamp = format!("{day}T09:30:00.000Z").parse().expect("a time");
        image["placedAt"] = json!({ "S": at.to_string() });
        // An order is counted if it is written when it is placed.
        record["dynamodb"]["ApproximateCreationDateTime"] = json!(at.as_second());
        record["eventName"] = json!("INSERT");
        let width = number(&record).len();
        record["dynamodb"]["SequenceNumber"] = json!(format!("{next:0>width$}"));
        record
    });
    others.collect()
}

fn numbered(record: &Value) -> u128 {
    number(record).parse().expect("a number")
}

/// Counts the first order, and compares the counts with it.
pub async fn count_first(shop: &mut MeteredShop, order: &Placed) {
    let own = records(shop).await;
    let records = [others(shop, &own, numbered(&own[0]) - 10), own].concat();
    shop.pass().await;
    shop.shop.count(SHARD, &records).await;
    shop.check("count-orders", "the first batch of a shard").await;
    shop.shop.count(SHARD, &records).await;
    shop.check("count-orders", "counted before").await;
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
    shop.check("count-orders", "a record that cannot be counted").await;

    let publish = shop.shop.consumer("publish-order-events", &shop.shop.endpoints());
    let is_header = |record: &&Value| {
        record["dynamodb"]["NewImage"]["orderId"]["S"] == order.id()
            && record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order"
    };
    let placed: Vec<_> = records.iter().rfind(is_header).map(lambda_record).into_iter().collect();
    publish(json!({ "Records": placed })).await.expect("an answer");
    shop.check("publish-order-events", "an order that was placed").await;

    let day: Day = order.0["placedAt"].as_str().expect("a time")[..10].parse().expect("a day");
    reconcile(shop, day, "a day of one order").await;
}

/// The state of a window whose last batch left the shard's present checkpoint.
async fn state(shop: &MeteredShop) -> Value {
    let key = format!("shard#{SHARD}");
    let item: Item = serde_json::from_value(shop.shop.item(&key, &key).await).expect("an item");
    let checkpoint: StreamCheckpoint = serde_dynamo::from_item(item).expect("a checkpoint");
    json!({ "checkpoint": serde_json::to_string(&checkpoint).expect("JSON") })
}

/// Counts the second order in an environment that knows the checkpoint.
pub async fn count_second(shop: &mut MeteredShop) {
    let records = records(shop).await;
    let of_first = records.len() / 2;
    let state = state(shop).await;
    shop.pass().await;
    let others = others(shop, &records, numbered(records.last().expect("a record")) + 1);
    let records = [&records[of_first..], &others].concat();
    shop.shop.counter()(batch(SHARD, &records, &state)).await.expect("an answer");
    shop.check("count-orders", "a batch").await;
}

pub async fn count_cancellation(shop: &mut MeteredShop, order: &Placed) {
    let records = records(shop).await;
    let is_of = |record: &&Value| {
        let image = &record["dynamodb"]["NewImage"];
        image["orderId"]["S"] == order.id() && image["status"]["S"] == "CANCELLED"
    };
    let at = records.iter().rposition(|record| is_of(&record)).expect("a record");
    // Pretends that the records in between were counted.
    let moved = json!({
        "TableName": shop.shop.table(),
        "Key": { "PK": { "S": format!("shard#{SHARD}") }, "SK": { "S": format!("shard#{SHARD}") } },
        "UpdateExpression": "SET mark = :mark",
        "ExpressionAttributeValues": { ":mark": { "S": number(&records[at - 1]) } },
    });
    shop.shop.dynamodb("UpdateItem", &moved).await;
    let state = state(shop).await;
    shop.pass().await;
    let cancelled =
        [vec![records[at].clone()], others(shop, &records, numbered(records.last().expect("a record")) + 1)];
    shop.shop.counter()(batch(SHARD, &cancelled.concat(), &state)).await.expect("an answer");
    shop.check("count-orders", "an order that was called off").await;
    let publish = shop.shop.consumer("publish-order-events", &shop.shop.endpoints());
    publish(json!({ "Records": [lambda_record(&records[at])] })).await.expect("an answer");
    shop.check("publish-order-events", "another change").await;
}

pub async fn count_alone(shop: &mut MeteredShop, order: &Placed) {
    let mut records = records(shop).await;
    records.retain(|record| record["dynamodb"]["NewImage"]["orderId"]["S"] == order.id());
    shop.shop.count("shardId-00000001795253400000-00000002", &records).await;
    shop.pass().await;
}

async fn reconcile(shop: &mut MeteredShop, day: Day, case: &'static str) {
    let ask = json!({ "from": day.to_string(), "to": day.plus(1).to_string(), "repair": true });
    shop.pass().await;
    let answer = shop.shop.reconciler()(ask).await.expect("an answer");
    assert_eq!(answer["done"], true, "{answer}");
    shop.check("reconcile-counts", case).await;
}

pub async fn put_totals(shop: &MeteredShop, day: Day) {
    let mut totals = json!(shop.sample.item(Kind::DayTotals(First)).expect("totals"));
    totals["PK"]["S"] = json!(format!("day#{day}"));
    totals["date"]["S"] = json!(day.to_string());
    shop.shop.dynamodb("PutItem", &json!({ "TableName": shop.shop.table(), "Item": totals })).await;
}

/// The totals of days, and the scheduled comparison.
pub async fn send_all(shop: &mut MeteredShop) {
    let long_ago: Day = "2020-01-01".parse().expect("a day");
    reconcile(shop, long_ago, "a day of no orders").await;
    put_totals(shop, long_ago).await;
    reconcile(shop, long_ago, "a day's totals that drifted, repaired").await;

    for case in ["scheduled, after a week of no orders", "done today"] {
        let answer = shop.shop.reconciler()(json!({})).await.expect("an answer");
        assert_eq!(answer["done"], true, "{answer}");
        shop.check("reconcile-counts", case).await;
    }
}
