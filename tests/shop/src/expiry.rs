//! Orders that are not paid in time.

use serde_json::{Value, json};

use crate::Shop;

impl Shop {
    /// Invokes `expire-orders` once, and returns its report.
    pub async fn expire(&self) -> Value {
        self.consumer("expire-orders", &self.endpoints())(json!({})).await.expect("a report")
    }

    /// Makes an order older than the time limit for payment, directly in the table.
    pub async fn age(&self, order: &Value) {
        let id = order["orderId"].as_str().expect("an id");
        let at = "2026-01-01T00:00:00.000Z";
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
