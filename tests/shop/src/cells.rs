//! The cells of a stock, directly in the table.

use serde_json::json;

use crate::Shop;

/// The key of a cell: its partition key and its sort key.
pub fn place(product: &str, cell: usize) -> [String; 2] {
    if cell == 0 {
        return [format!("p#{product}"), "stock".to_owned()];
    }
    let key = format!("stock#{product}#{cell}");
    [key.clone(), key]
}

/// Sets the units of each cell directly in the table.
pub async fn lay_out(shop: &Shop, product: &str, units: &[u64]) {
    for (cell, units) in units.iter().enumerate() {
        let [pk, sk] = place(product, cell);
        let update = json!({
            "TableName": shop.table(), "Key": { "PK": { "S": pk }, "SK": { "S": sk } },
            "UpdateExpression": "SET available = :units", "ConditionExpression": "attribute_exists(PK)",
            "ExpressionAttributeValues": { ":units": { "N": units.to_string() } },
        });
        shop.dynamodb("UpdateItem", &update).await;
    }
}
