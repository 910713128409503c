//! The engine's own limits.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

const TABLE: &str = "notes";

/// Enough that reading all of them takes far longer than a write.
const RECORDS: u32 = 200_000;

/// A table with a stream, and a reader at its end.
struct Notes {
    database: Database,
    iterator: String,
}

impl Notes {
    fn in_database(name: &str) -> Self {
        let database = open_at(name).unwrap();
        create_table(&database, &json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" }));
        let described = database.describe_table(request(json!({ "TableName": TABLE }))).unwrap();
        let described = serde_json::to_value(described).unwrap();
        let iterator = database.get_shard_iterator(request(json!({
            "StreamArn": described["Table"]["LatestStreamArn"], "ShardId": format!("shardId-00000001-{TABLE}"),
            "ShardIteratorType": "LATEST",
        })));
        Self { iterator: iterator.unwrap().shard_iterator.unwrap(), database }
    }

    /// The time of the fastest of some writes, with a read of the record of each.
    fn fastest(&mut self, from: u32) -> Duration {
        let times = (from..from + 20).map(|number| {
            let began = Instant::now();
            let item = json!({ "TableName": TABLE, "Item": { "PK": { "S": format!("n{number}") } } });
            self.database.put_item(request(item)).unwrap();
            let page = self.database.get_records(request(json!({ "ShardIterator": self.iterator }))).unwrap();
            assert_eq!(page.records.len(), 1);
            self.iterator = page.next_shard_iterator.unwrap();
            began.elapsed()
        });
        times.min().unwrap()
    }
}

fn request<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

fn create_table(database: &Database, stream: &Value) {
    let table = json!({
        "TableName": TABLE, "BillingMode": "PAY_PER_REQUEST", "StreamSpecification": stream,
        "KeySchema": [{ "AttributeName": "PK", "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": "PK", "AttributeType": "S" }],
    });
    database.create_table(request(table)).unwrap();
}

fn costs_the_same_after_many_records(name: &str) {
    let mut notes = Notes::in_database(name);
    let before = notes.fastest(0);
    // Records of the past, as the engine writes them.
    let fill = format!(
        "INSERT INTO _stream_records (table_name, event_name, keys_json, sequence_number, shard_id, created_at) \
         WITH RECURSIVE past(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM past WHERE n < {RECORDS}) \
         SELECT '{TABLE}', 'INSERT', '{{}}', CAST(n AS TEXT), 'shardId-00000001-{TABLE}', 0 FROM past"
    );
    Connection::open(name).unwrap().execute_batch(&fill).unwrap();
    let after = notes.fastest(100);
    assert!(after < 5 * before, "{before:?} before, {after:?} after {RECORDS} records");
}

#[test]
fn a_write_and_a_read_of_the_stream_take_no_longer_after_many_records_in_memory() {
    costs_the_same_after_many_records("file:growth?mode=memory&cache=shared");
}

#[test]
fn a_write_and_a_read_of_the_stream_take_no_longer_after_many_records_in_a_file() {
    let directory = std::env::temp_dir().join(format!("devstack-growth-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir_all(&directory).unwrap();
    costs_the_same_after_many_records(directory.join(DATABASE_FILE).to_str().unwrap());
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn databases_in_memory_are_apart() {
    let [first, second] = [open(None).unwrap(), open(None).unwrap()];
    create_table(&first, &json!({ "StreamEnabled": false }));
    assert_eq!((first.table_count().unwrap(), second.table_count().unwrap()), (1, 0));
}
