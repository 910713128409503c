//! Orders that are not paid in time.

use key_schema::value::Timestamp;
use serde_json::{Value, json};

use crate::Shop;

impl Shop {
    /// Invokes `expire-orders` once, and returns its report.
    pub async fn expire(&self) -> Value {
        self.consumer("expire-orders", &self.endpoints())(json!({})).await.expect("a report")
    }

    /// Makes an order older than the time limits for payment, directly in the table.
    pub async fn age(&self, order: &Value) {
        self.date(order, "2026-01-01T00:00:00.000Z").await;
    }

    /// Makes an order this many days old, directly in the table.
    pub async fn age_by(&self, order: &Value, days: u32) {
        self.age_by_minutes(order, days * 24 * 60).await;
    }

    /// Makes an order this many minutes old, directly in the table.
    pub async fn age_by_minutes(&self, order: &Value, minutes: u32) {
        self.date(order, &Timestamp::now().minus_seconds(minutes * 60).to_string()).await;
    }

    async fn date(&self, order: &Value, at: &str) {
        let id = order["orderId"].as_str().expect("an id");
        let update = json!({
            "TableName": self.table(),
            "Key": { "PK": { "S": format!("o#{id}") }, "SK": { "S": format!("o#{id}") } },
            "UpdateExpression": "SET placedAt = :at, GSI1SK = :gsi1, GSI2SK = :gsi2",
            "ExpressionAttributeValues": {
                ":at": { "S": at }, ":gsi1": { "S": format!("{at}#{id}") }, ":gsi2": { "S": format!("o#{at}#{id}") },
            },
        });
        self.dynamodb("UpdateItem", &update).await;
    }
}
