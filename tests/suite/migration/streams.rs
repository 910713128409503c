//! The streams of both tables.

use key_schema::entity::Phase;

use super::MigratingShop;
use crate::prelude::*;

/// The counters of a product, without views.
async fn sold(migrating: &MigratingShop) -> [Value; 2] {
    let stats = migrating.shop.admin().get("/products/pot/stats").await.expect(200);
    [stats["orders"].clone(), stats["units"].clone()]
}

/// The records of a table's stream, as Lambda delivers them.
async fn records(migrating: &MigratingShop, table: &str) -> Vec<Value> {
    let shop = &migrating.shop;
    let list = shop.dynamodb_streams("ListStreams", &json!({ "TableName": table })).await;
    let arn = list["Streams"][0]["StreamArn"].clone();
    let described = shop.dynamodb_streams("DescribeStream", &json!({ "StreamArn": arn })).await;
    let mut records = Vec::new();
    for shard in described["StreamDescription"]["Shards"].as_array().expect("shards") {
        let ask = json!({ "StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON" });
        let mut iterator = shop.dynamodb_streams("GetShardIterator", &ask).await["ShardIterator"].clone();
        loop {
            let answer = shop.dynamodb_streams("GetRecords", &json!({ "ShardIterator": iterator })).await;
            let found = answer["Records"].as_array().expect("records");
            if found.is_empty() {
                break;
            }
            records.extend(found.iter().filter(|record| shop::stream::is_wanted(record)).cloned());
            iterator = answer["NextShardIterator"].clone();
        }
    }
    records
}

/// In each phase a customer places an order. Both streams are counted, in pieces and from their beginnings again.
#[tokio::test(flavor = "multi_thread")]
async fn the_streams_of_both_tables_are_counted_once() {
    let migrating = MigratingShop::open().await;
    let shop = &migrating.shop;
    migrating.enter(Phase::Both).await;
    shop.sign_up("ada").await;
    shop.product("pot", 1000, 100).await;
    let phases = [
        Phase::Both,
        Phase::Compare,
        Phase::Handover,
        Phase::Takeover,
        Phase::NextLeads,
        Phase::Takeover,
        Phase::Handover,
    ];
    for (at, phase) in phases.into_iter().enumerate() {
        migrating.enter(phase).await;
        let order = shop.customer("ada").order(&format!("k{at}"), basket("pot", 2)).await.expect(201);
        if at % 2 == 0 {
            shop.customer("ada").cancel(&order, json!({})).await.expect(200);
        }
    }
    let streams = [records(&migrating, shop.table()).await, records(&migrating, &migrating.next).await];
    for size in [3, 100] {
        for (table, records) in streams.iter().enumerate() {
            for batch in records.chunks(size) {
                let answer = shop.count(&format!("shard-of-table-{table}"), batch).await;
                assert_eq!(answer["batchItemFailures"], json!([]));
            }
        }
        assert_eq!(sold(&migrating).await, [json!(3), json!(6)], "in batches of {size}");
    }
    assert!(migrating.differences().await.is_empty(), "the counters and the checkpoints");
}
