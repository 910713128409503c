//! The tables. They require that every operation costs the same in every table.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Size;
use super::probe::{Cost, Measured};
use crate::figures::grouped;
use key_schema::markdown_tables::table;

/// The tables of units, of times and of sizes.
///
/// # Errors
/// An operation, by name, has a different cost in one of the tables.
pub(super) fn tables(sizes: &[Size]) -> Result<[String; 3]> {
    let operations = sizes.iter().map(|size| (size.orders, size.operations.as_slice()));
    Ok([costs(operations)?, times(sizes), in_all(sizes)])
}

/// The table of each operation's cost.
///
/// # Errors
/// As [`tables`].
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
    let rows = first.iter().map(|Measured { what, cost: Cost { requests, read, written }, .. }| {
        let written = written.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ");
        let written = if written == "0 + 0 + 0" { "0".to_owned() } else { written };
        vec![what.clone(), requests.clone(), read.to_string(), written]
    });
    Ok(table(&["operation", "requests", "read units", "write units"], rows))
}

fn times(sizes: &[Size]) -> String {
    let mut columns = vec!["operation, milliseconds: whole / engine busy".to_owned()];
    columns.extend(sizes.iter().map(|size| format!("{} orders", grouped(&size.orders.to_string()))));
    let columns: Vec<_> = columns.iter().map(String::as_str).collect();
    let operations = sizes.first().map(|size| size.operations.as_slice()).unwrap_or_default();
    let rows = operations.iter().enumerate().map(|(position, operation)| {
        let of = |size: &Size| match size.operations.get(position) {
            Some(Measured { route, engine, .. }) => format!("{} / {}", milliseconds(*route), milliseconds(*engine)),
            None => String::new(),
        };
        [operation.what.clone()].into_iter().chain(sizes.iter().map(of)).collect()
    });
    table(&columns, rows)
}

fn in_all(sizes: &[Size]) -> String {
    let rows = sizes.iter().map(|size| {
        let filled = match size.filled.as_secs() {
            0 => "less than 1 s".to_owned(),
            seconds => format!("{seconds} s"),
        };
        vec![grouped(&size.orders.to_string()), megabytes(size.bytes), megabytes(size.resident), filled]
    });
    table(&["orders", "table and indexes on disk", "memory of the process", "filled in"], rows)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1_000.0)
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
