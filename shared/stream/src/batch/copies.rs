//! The streams of both tables of a migration: each change is in exactly one of them as a change.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;
use serde_dynamo::AttributeValue;
use serde_json::{Map, Value, json};

use super::Batch;

/// A write during a migration.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Replaces the item.
    Put,
    /// Changes a part of the item, or creates it.
    Update,
    /// Deletes the item.
    Delete,
}

/// A write, the table that leads, and whether the other table is written in the same transaction or repaired later.
type Step = (Op, usize, bool);

fn any_step() -> impl Strategy<Value = Step> {
    (prop_oneof![Just(Op::Put), Just(Op::Update), Just(Op::Delete)], 0..2_usize, any::<bool>())
}

/// Two tables with one item, and their streams.
#[derive(Default)]
struct Tables {
    items: [Option<Map<String, Value>>; 2],
    streams: [Vec<Value>; 2],
    copies: u32,
}

impl Tables {
    /// Does a write, and returns whether it was a change that a consumer must see: deletions are processed for products
    /// alone, which only people delete.
    fn step(&mut self, number: usize, (op, leader, in_step): Step) -> bool {
        self.write(leader, op, number, None);
        if in_step {
            self.copies += 1;
            let mark = format!("copy {}", self.copies);
            self.write(1 - leader, op, number, Some(&mark));
        } else {
            self.repair(leader);
        }
        !matches!(op, Op::Delete)
    }

    fn write(&mut self, table: usize, op: Op, number: usize, mark: Option<&str>) {
        let old = self.items[table].clone();
        let mut item = match (op, &old) {
            (Op::Delete, _) => None,
            (Op::Put, _) | (Op::Update, None) => Some(Map::new()),
            (Op::Update, Some(old)) => Some(old.clone()),
        };
        if let Some(item) = &mut item {
            item.insert("number".to_owned(), json!({ "N": number.to_string() }));
            if let Some(mark) = mark {
                item.insert("copied".to_owned(), json!({ "S": mark }));
            }
        }
        self.record(table, item);
    }

    /// Copies the leader's item to the other table. A copy is marked before it is removed.
    fn repair(&mut self, leader: usize) {
        let follower = 1 - leader;
        match self.items[leader].clone() {
            Some(mut item) => {
                self.copies += 1;
                item.insert("copied".to_owned(), json!({ "S": format!("copy {}", self.copies) }));
                self.record(follower, Some(item));
            }
            None => {
                if let Some(mut item) = self.items[follower].clone() {
                    item.insert("copied".to_owned(), json!({ "S": "removed" }));
                    self.record(follower, Some(item));
                    self.record(follower, None);
                }
            }
        }
    }

    fn record(&mut self, table: usize, new: Option<Map<String, Value>>) {
        let old = self.items[table].clone();
        let name = match (&old, &new) {
            (None, None) => return,
            (None, Some(_)) => "INSERT",
            (Some(_), Some(_)) => "MODIFY",
            (Some(_), None) => "REMOVE",
        };
        // DynamoDB makes no record of a write that changes nothing.
        if old == new {
            return;
        }
        let position = self.streams[table].len() + 1;
        let mut change = json!({
            "ApproximateCreationDateTime": 1, "SequenceNumber": position.to_string(), "Keys": { "PK": { "S": "o#1" } }, "SizeBytes": 1,
        });
        for (image, item) in [("OldImage", old), ("NewImage", new.clone())] {
            if let Some(item) = item {
                change[image] = Value::Object(item);
            }
        }
        self.streams[table]
            .push(json!({ "awsRegion": "eu-west-1", "eventID": "1", "eventName": name, "dynamodb": change }));
        self.items[table] = new;
    }

    /// The numbers of the changes that the consumers of both streams see, in order.
    fn seen(&self) -> Vec<usize> {
        let batches = self.streams.iter().map(|records| json!({ "Records": records }).to_string());
        let batches = batches.map(|text| serde_json::from_str::<Batch>(&text).expect("a batch"));
        let records = batches.flat_map(|batch| batch.records).map(|delivered| delivered.record.expect("a record"));
        let mut seen: Vec<usize> = records
            .filter_map(|record| match record.new.get("number")? {
                AttributeValue::N(number) => number.parse().ok(),
                _ => None,
            })
            .collect();
        seen.sort_unstable();
        seen
    }
}

proptest! {
    #[test]
    fn each_change_is_seen_once_in_the_streams_of_both_tables(steps in vec(any_step(), 1..30)) {
        let mut tables = Tables::default();
        let mut expected = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            if tables.step(number, step) {
                expected.push(number);
            }
        }
        prop_assert_eq!(tables.seen(), expected);
    }
}

#[test]
fn the_removal_of_a_copy_is_no_change_and_every_other_removal_is_one() {
    let removed = |copied: Option<&str>| {
        let mut old = json!({ "EntityType": { "S": "product" } });
        if let Some(mark) = copied {
            old["copied"] = json!({ "S": mark });
        }
        let record = json!({
            "awsRegion": "eu-west-1", "eventID": "1", "eventName": "REMOVE",
            "dynamodb": { "ApproximateCreationDateTime": 1, "SequenceNumber": "1", "OldImage": old, "SizeBytes": 1 },
        });
        let batch: Batch = serde_json::from_str(&json!({ "Records": [record] }).to_string()).expect("a batch");
        let record = batch.records.into_iter().next().expect("a record").record.expect("readable");
        !record.old.is_empty()
    };
    assert!(removed(None) && removed(Some("copy 1")));
    assert!(!removed(Some("removed")));
}
