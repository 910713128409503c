//! Estimates a month's bill from a traffic profile, a price list and the templates.
//!
//! - [`profile`]: the traffic of a shop in a month.
//! - [`deployment`]: the billed settings of the templates.
//! - [`month`]: the length of a month.
//! - [`usage`]: the calls, units and bytes of a profile and a deployment. Units come from the ledger of the crate
//!   `capacity`: `cases` finds its operations, and [`units_by_index`] adds units up. [`comparison`] is the comparison
//!   of counts, which reads most.
//! - [`prices`]: AWS's prices.
//! - [`bill`]: the bill.
//! - [`estimate`]: the bill, and those of the other billing modes and table classes.
//! - [`show`]: both as text.
//!
//! The library is pure: no clock, no AWS, no files. Amounts are decimals, and each line of a bill is rounded to the
//! cent, so that the lines add up to the total.

pub mod bill;
mod cases;
pub mod comparison;
pub mod deployment;
pub mod estimate;
pub mod month;
pub mod prices;
pub mod profile;
pub mod show;
pub mod units_by_index;
pub mod usage;

use anyhow::{Result, anyhow};
use rust_decimal::Decimal;
use serde::de::DeserializeOwned;

/// Parses YAML. An error names the field at fault, and its position if known.
fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    let document = yaml_serde::Deserializer::from_str(text);
    serde_path_to_error::deserialize(document).map_err(|error| {
        let (path, cause) = (error.path().to_string(), error.inner().to_string());
        // The parser's message may also begin with a part of the path.
        let cause = cause.split_once(": ").filter(|(part, _)| path.starts_with(part)).map_or(&*cause, |(_, rest)| rest);
        if path == "." { anyhow!("{cause}") } else { anyhow!("{path}: {cause}") }
    })
}

/// The share of a part, from 0 to 1. Nothing has no parts.
fn share(part: Decimal, all: Decimal) -> Decimal {
    if all.is_zero() { Decimal::ZERO } else { part / all }
}

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;
