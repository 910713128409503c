//! Items as the last release wrote them.

use serde_json::{Value, json};

use crate::Shop;

/// Gives an order's invoice, directly in the table, an id like those of the last release: of the same length, but not
/// derived from the order's id.
pub async fn old_invoice_id(shop: &Shop, order: &Value) -> String {
    let (order_id, invoice_id) =
        (order["orderId"].as_str().expect("an id"), order["invoice"]["invoiceId"].as_str().expect("an id"));
    let old_id = invoice_id.replace("inv-", "old-");
    let item = shop.item(&format!("o#{order_id}"), &format!("i#{invoice_id}")).await;
    let mut renamed: Value = serde_json::from_str(&item.to_string().replace(invoice_id, &old_id)).expect("JSON");
    // The last release gives no numbers: the invoice is in the index by its id.
    if let Some(attributes) = renamed.as_object_mut() {
        attributes.remove("unnumbered");
    }
    for name in ["GSI1PK", "GSI1SK"] {
        renamed[name] = json!({ "S": format!("i#{old_id}") });
    }
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": renamed })).await;
    let key = json!({ "PK": item["PK"], "SK": item["SK"] });
    shop.dynamodb("DeleteItem", &json!({ "TableName": shop.table(), "Key": key })).await;
    old_id
}
