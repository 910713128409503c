//! Items as an import leaves them.

use serde_json::{Value, json};

use crate::Shop;

/// Gives an order's invoice, directly in the table, an id of another shop: of the same length, but not derived from the
/// order's id.
pub async fn other_invoice_id(shop: &Shop, order: &Value) -> String {
    let (order_id, invoice_id) =
        (order["orderId"].as_str().expect("an id"), order["invoice"]["invoiceId"].as_str().expect("an id"));
    let other_id = invoice_id.replace("inv-", "shp2-");
    let item = shop.item(&format!("o#{order_id}"), &format!("i#{invoice_id}")).await;
    let mut renamed: Value = serde_json::from_str(&item.to_string().replace(invoice_id, &other_id)).expect("JSON");
    // An imported invoice gets no number: it is in the index by its id.
    if let Some(attributes) = renamed.as_object_mut() {
        attributes.remove("unnumbered");
    }
    for name in ["GSI1PK", "GSI1SK"] {
        renamed[name] = json!({ "S": format!("i#{other_id}") });
    }
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": renamed })).await;
    let key = json!({ "PK": item["PK"], "SK": item["SK"] });
    shop.dynamodb("DeleteItem", &json!({ "TableName": shop.table(), "Key": key })).await;
    other_id
}
