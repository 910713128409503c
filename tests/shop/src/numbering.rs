//! Invoices that get numbers.

use serde_json::{Value, json};

use crate::Shop;

impl Shop {
    /// Invokes `number-invoices` once, and returns its report.
    pub async fn number(&self) -> Value {
        self.consumer("number-invoices", &self.endpoints())(json!({})).await.expect("a report")
    }

    /// Makes the order's invoice, which waits for its number, old enough to get it, directly in the table.
    pub async fn age_invoice(&self, order: &Value, at: &str) {
        self.change_invoice(order, at, "SET issuedAt = :at, GSI1SK = :gsi1, GSI2SK = :gsi2", json!({})).await;
    }

    /// Makes the order's invoice, placed in a shop without numbers, one that waits for its number.
    pub async fn let_invoice_wait(&self, order: &Value) {
        let expression = "SET issuedAt = :at, GSI1PK = :list, GSI1SK = :gsi1, GSI2SK = :gsi2, unnumbered = :shard";
        let more = json!({ ":list": { "S": "unnumbered#0" }, ":shard": { "N": "0" } });
        self.change_invoice(order, "2026-01-01T00:00:00.000Z", expression, more).await;
    }

    async fn change_invoice(&self, order: &Value, at: &str, expression: &str, more: Value) {
        let (order, invoice) = (&order["orderId"], &order["invoice"]["invoiceId"]);
        let [order, invoice] = [order, invoice].map(|id| id.as_str().expect("an id"));
        let mut values = json!({
            ":at": { "S": at }, ":gsi1": { "S": format!("{at}#{invoice}") }, ":gsi2": { "S": format!("i#{at}#{invoice}") },
        });
        if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
            values.extend(more);
        }
        let update = json!({
            "TableName": self.table(),
            "Key": { "PK": { "S": format!("o#{order}") }, "SK": { "S": format!("i#{invoice}") } },
            "UpdateExpression": expression,
            "ExpressionAttributeValues": values,
        });
        self.dynamodb("UpdateItem", &update).await;
    }
}
