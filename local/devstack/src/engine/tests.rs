//! The engine's own limits.

use std::time::{Duration, Instant};

use dynoxide::ImportOptions;
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
    let directory = Directory::new();
    costs_the_same_after_many_records(directory.0.join(DATABASE_FILE).to_str().unwrap());
}

#[test]
fn databases_in_memory_are_apart() {
    let [(_, first), (_, second)] = [open(None).unwrap(), open(None).unwrap()];
    create_table(&first, &json!({ "StreamEnabled": false }));
    assert_eq!((first.table_count().unwrap(), second.table_count().unwrap()), (1, 0));
}

/// A directory that is deleted at the end.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new() -> Self {
        let directory = std::env::temp_dir().join(format!("devstack-growth-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The time of the fastest of some pages.
fn fastest_page(name: &str, database: &Database, segments: Option<u32>) -> Duration {
    let mut after = Value::Null;
    let times = (0..10).map(|_| {
        let mut scan = json!({ "TableName": TABLE, "Limit": 100, "ConsistentRead": true });
        if let Some(total) = segments {
            scan["Segment"] = 1.into();
            scan["TotalSegments"] = total.into();
        }
        if !after.is_null() {
            scan["ExclusiveStartKey"] = after.take();
        }
        let began = Instant::now();
        let page = serde_json::to_value(database.scan(request(scan)).unwrap()).unwrap();
        assert_eq!(page["Count"], 100, "{name}");
        after = page["LastEvaluatedKey"].clone();
        began.elapsed()
    });
    times.min().unwrap()
}

#[test]
fn a_page_of_a_scan_takes_no_longer_in_a_large_table() {
    let directory = Directory::new();
    for name in ["file:pages?mode=memory&cache=shared", directory.0.join(DATABASE_FILE).to_str().unwrap()] {
        let database = open_at(name).unwrap();
        create_table(&database, &json!({ "StreamEnabled": false }));
        add_indexes(name).unwrap();
        let fill = |from: u32, to: u32| {
            let item = |number: u32| {
                request(json!({ "PK": { "S": format!("n{number}") }, "text": { "S": "word ".repeat(40) } }))
            };
            database.import_items(TABLE, (from..to).map(item).collect(), ImportOptions::default()).unwrap();
        };
        fill(0, 5_000);
        let pages = || [None, Some(4)].map(|segments| fastest_page(name, &database, segments));
        let before = pages();
        fill(5_000, 60_000);
        for (before, after) in before.into_iter().zip(pages()) {
            assert!(after < 4 * before, "{name}: {before:?} of 5,000 items, {after:?} of 60,000");
        }
    }
}

#[test]
fn a_description_is_the_engines_own_without_the_numbers_of_indexes() {
    let directory = Directory::new();
    for name in ["file:described?mode=memory&cache=shared", directory.0.join(DATABASE_FILE).to_str().unwrap()] {
        let database = open_at(name).unwrap();
        let (attribute, key) = (|name| json!({ "AttributeName": name, "AttributeType": "S" }), "KeyType");
        let index = json!({ "IndexName": "GSI1", "Projection": { "ProjectionType": "ALL" },
            "KeySchema": [{ "AttributeName": "other", key: "HASH" }] });
        let table = json!({ "TableName": TABLE, "BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexes": [index],
            "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_IMAGE" },
            "KeySchema": [{ "AttributeName": "PK", key: "HASH" }],
            "AttributeDefinitions": [attribute("PK"), attribute("other")] });
        database.create_table(request(table)).unwrap();
        let item = json!({ "TableName": TABLE, "Item": { "PK": { "S": "a" }, "other": { "S": "b" } } });
        database.put_item(request(item)).unwrap();

        let own = database.describe_table(request(json!({ "TableName": TABLE }))).unwrap();
        let mut own = serde_json::to_value(own).unwrap();
        let index = own["Table"]["GlobalSecondaryIndexes"][0].as_object_mut().unwrap();
        assert_eq!(index.remove("ItemCount"), Some(json!(1)));
        assert!(index.remove("IndexSizeBytes").is_some());
        assert_eq!(own["Table"]["ItemCount"], 1);
        assert_eq!(describe::describe(name, TABLE).unwrap(), Some(own), "{name}");
        assert_eq!(describe::describe(name, "nothing").unwrap(), None);
    }
}
