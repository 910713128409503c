//! The capacity that a call consumed, by the engine's own figures.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The actions that can report what they consume.
const METERED: [&str; 10] = [
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "GetItem",
    "PutItem",
    "Query",
    "Scan",
    "TransactGetItems",
    "TransactWriteItems",
    "UpdateItem",
];

/// The kind of capacity that was consumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// The capacity units that one call consumed of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Consumed {
    /// The table's name.
    pub table: String,
    /// The kind of the units.
    pub access: Access,
    /// Units of the table itself.
    pub table_units: f64,
    /// Units of each index, by the index's name.
    pub index_units: BTreeMap<String, f64>,
}

impl Consumed {
    /// Units of the table and its indexes together.
    pub fn units(&self) -> f64 {
        self.table_units + self.index_units.values().sum::<f64>()
    }
}

/// Makes the request ask for the capacity figures of the table and its indexes. Returns whether the client had asked
/// for figures itself.
pub(super) fn ask(action: &str, request: &mut Value) -> bool {
    if !METERED.contains(&action) {
        return false;
    }
    let asked = matches!(request["ReturnConsumedCapacity"].as_str(), Some("INDEXES" | "TOTAL"));
    if let Some(request) = request.as_object_mut() {
        request.insert("ReturnConsumedCapacity".to_owned(), json!("INDEXES"));
    }
    asked
}

/// The figures of a response: one entry for a single-table action, a list for a batch or a transaction.
pub(super) fn read(action: &str, response: &Value) -> Vec<Consumed> {
    let entries = match &response["ConsumedCapacity"] {
        Value::Array(entries) => entries.as_slice(),
        Value::Null => &[],
        entry => std::slice::from_ref(entry),
    };
    entries.iter().flat_map(|entry| consumed(action, entry)).collect()
}

/// Transactions report the kind of their units (a replayed one reads). For the other actions the kind follows from the
/// action.
fn consumed(action: &str, entry: &Value) -> Vec<Consumed> {
    let kinds = [(Access::Read, "ReadCapacityUnits"), (Access::Write, "WriteCapacityUnits")];
    let named: Vec<_> = kinds.into_iter().filter(|(_, unit)| !entry[*unit].is_null()).collect();
    if !named.is_empty() {
        return named.into_iter().map(|(access, unit)| of_kind(entry, access, unit)).collect();
    }

    let reads = matches!(action, "BatchGetItem" | "GetItem" | "Query" | "Scan" | "TransactGetItems");
    vec![of_kind(entry, if reads { Access::Read } else { Access::Write }, "CapacityUnits")]
}

fn of_kind(entry: &Value, access: Access, unit: &str) -> Consumed {
    let units = |detail: &Value| detail[unit].as_f64().unwrap_or_default();
    let indexes = entry["GlobalSecondaryIndexes"].as_object().into_iter().flat_map(Map::iter);
    Consumed {
        table: entry["TableName"].as_str().unwrap_or_default().to_owned(),
        access,
        table_units: units(&entry["Table"]),
        index_units: indexes.map(|(name, detail)| (name.clone(), units(detail))).collect(),
    }
}
