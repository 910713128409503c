//! The description of a table whose cost does not depend on the size of its indexes.

use anyhow::Result;
use dynoxide::Database;
use rusqlite::Connection;
use serde_json::{Value, json};
use uuid::Uuid;

/// What the engine says about this table of this database; `None` if there is no such table.
///
/// The engine counts the entries of every index, by a join with the table that takes seconds for 400,000 items, while all
/// other requests wait. So an empty twin of the table is described, and the table's own items are counted. The indexes'
/// numbers are left out. (DynamoDB counts every six hours.)
pub(super) fn describe(name: &str, table: &str) -> Result<Option<Value>> {
    let twin = format!("file:{}?mode=memory&cache=shared", Uuid::new_v4());
    let engine = Database::new(&twin)?;
    let connection = Connection::open(&twin)?;
    // In memory the two share a cache, where a reader that locks would fail the engine's writes.
    connection.execute_batch("PRAGMA read_uncommitted = ON")?;
    connection.execute("ATTACH ?1 AS whole", [name])?;
    let copied = "INSERT INTO main._tables SELECT * FROM whole._tables WHERE table_name = ?1";
    if connection.execute(copied, [table])? == 0 {
        return Ok(None);
    }
    let counts = format!("SELECT COUNT(*), COALESCE(SUM(item_size), 0) FROM whole.\"{table}\"");
    let (items, bytes): (i64, i64) = connection.query_row(&counts, [], |row| Ok((row.get(0)?, row.get(1)?)))?;

    let described = engine.describe_table(serde_json::from_value(json!({ "TableName": table }))?)?;
    let mut described = serde_json::to_value(described)?;
    let of_table = &mut described["Table"];
    of_table["ItemCount"] = items.into();
    of_table["TableSizeBytes"] = bytes.into();
    for index in of_table["GlobalSecondaryIndexes"].as_array_mut().into_iter().flatten() {
        if let Some(index) = index.as_object_mut() {
            index.retain(|field, _| field != "ItemCount" && field != "IndexSizeBytes");
        }
    }
    Ok(Some(described))
}
