//! The table of the page. It requires that every operation costs the same in every table.

use anyhow::{Context, Result, ensure};
use key_schema::markdown_tables::table;

use super::probe::{Cost, Measured};

/// The table of each operation's cost.
///
/// # Errors
/// An operation, by name, has a different cost in one of the tables.
pub(super) fn costs<'a>(mut sizes: impl Iterator<Item = (usize, &'a [Measured])>) -> Result<String> {
    let (first_orders, first) = sizes.next().context("no table was measured")?;
    for (orders, operations) in sizes {
        for (one, other) in first.iter().zip(operations) {
            ensure!(
                (&one.what, &one.cost) == (&other.what, &other.cost),
                "{}: {:?} at {first_orders} orders, and {}: {:?} at {orders}",
                one.what,
                one.cost,
                other.what,
                other.cost
            );
        }
        ensure!(first.len() == operations.len(), "at {orders} orders not all was measured");
    }
    let rows = first.iter().map(|Measured { what, cost: Cost { requests, read, written } }| {
        let written = written.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ");
        let written = if written == "0 + 0 + 0" { "0".to_owned() } else { written };
        vec![what.clone(), requests.clone(), read.to_string(), written]
    });
    Ok(table(&["operation", "requests", "read units", "write units"], rows))
}
