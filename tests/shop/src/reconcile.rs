//! Comparing a shop's counts with its orders.

use devstack::Template;
use devstack::fault_proxy::{Access, Call, Consumed};
use devstack::gateway::Invoke;
use key_schema::value::Timestamp;
use serde_json::{Value, json};

use crate::Shop;
use crate::stream::{Tail, is_wanted};

/// A read rate that does not slow a test down.
pub const FAST: u32 = 100_000;

/// Sets the age after which a change must be counted, and the read rate.
pub fn reconciled(template: &mut Template, settle_seconds: u32, read_units: u32) {
    let function = template.functions.iter_mut().find(|function| function.handler == "reconcile-counts");
    let variables = &mut function.expect("it is declared").environment;
    variables.insert("SETTLE_SECONDS".to_owned(), settle_seconds.to_string());
    variables.insert("RECONCILE_READ_UNITS".to_owned(), read_units.to_string());
}

/// An event for the days on which a test may have placed orders.
pub fn ask(repair: bool) -> Value {
    let today = Timestamp::now().day();
    json!({ "from": today.plus(-1).to_string(), "to": today.plus(1).to_string(), "repair": repair })
}

pub async fn count(shop: &Shop, tail: &mut Tail, shard: &str) {
    let mut records = tail.new_records(shop).await;
    records.retain(is_wanted);
    let answer = shop.count(shard, &records).await;
    assert_eq!(answer["batchItemFailures"], json!([]));
}

pub fn read_units(calls: &[Call]) -> f64 {
    let reads = calls.iter().flat_map(|call| &call.consumed).filter(|consumed| consumed.access == Access::Read);
    reads.map(Consumed::units).sum()
}

impl Shop {
    /// Starts `reconcile-counts` in a new execution environment.
    pub fn reconciler(&self) -> Invoke {
        self.consumer("reconcile-counts", &self.endpoints())
    }

    /// Compares all counts with the orders, until the comparison is done.
    pub async fn reconcile(&self, repair: bool) -> Value {
        let reconciler = self.reconciler();
        let mut event = ask(repair);
        loop {
            let answer = reconciler(event).await.expect("an answer");
            if answer["done"] == true {
                return answer;
            }
            event = json!({ "resume": answer["resume"] });
        }
    }

    /// Adds to a number of an item directly in the table.
    pub async fn add(&self, pk: &str, sk: &str, attribute: &str, amount: i64) {
        let update = json!({
            "TableName": self.table(), "Key": { "PK": { "S": pk }, "SK": { "S": sk } },
            "UpdateExpression": "ADD #a :a", "ExpressionAttributeNames": { "#a": attribute },
            "ExpressionAttributeValues": { ":a": { "N": amount.to_string() } },
        });
        self.dynamodb("UpdateItem", &update).await;
    }

    /// Sets one attribute of an item, directly in the table.
    pub async fn set(&self, pk: &str, sk: &str, attribute: &str, value: Value) {
        self.set_in(self.table(), [pk, sk], attribute, value).await;
    }

    /// The same in another table.
    pub async fn set_in(&self, table: &str, [pk, sk]: [&str; 2], attribute: &str, value: Value) {
        let update = json!({
            "TableName": table, "Key": { "PK": { "S": pk }, "SK": { "S": sk } },
            "UpdateExpression": "SET #a = :a", "ExpressionAttributeNames": { "#a": attribute },
            "ExpressionAttributeValues": { ":a": value },
        });
        self.dynamodb("UpdateItem", &update).await;
    }

    /// Deletes an item directly from the table.
    pub async fn delete(&self, pk: &str, sk: &str) {
        let key = json!({ "PK": { "S": pk }, "SK": { "S": sk } });
        self.dynamodb("DeleteItem", &json!({ "TableName": self.table(), "Key": key })).await;
    }
}
