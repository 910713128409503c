//! What a month costs: a traffic profile, a price list and the templates become a bill.
//!
//! - [`profile`]: what a shop does in a month.
//! - [`deployment`]: what the templates say that costs money.
//! - [`month`] and [`schedule`]: how long a month is, and how often something comes in it.
//! - [`usage`]: what profile and deployment come to, in calls, units and bytes. Units are the ledger's, of the crate
//!   `capacity`. [`units_by_index`] adds them up, `cases` finds them, and [`comparison`] is what nobody calls and reads most.
//! - [`prices`]: what AWS asks.
//! - [`billing_mode`]: capacity by request, or by the hour.
//! - [`bill`]: the bill.
//! - [`estimate`]: the bill, beside those of the other choices.
//! - [`show`]: both as text.
//!
//! It is pure: no clock, no AWS, no file. Amounts are decimals, and each line of a bill is rounded to the cent, so that
//! the lines add up to the total.

pub mod bill;
pub mod billing_mode;
mod cases;
pub mod comparison;
pub mod deployment;
pub mod estimate;
pub mod month;
pub mod prices;
pub mod profile;
pub mod schedule;
pub mod show;
pub mod units_by_index;
pub mod usage;

use anyhow::{Result, anyhow};
use rust_decimal::Decimal;
use serde::de::DeserializeOwned;

/// Reads YAML. An error names the field at fault, and its place where it is known.
fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    let document = serde_yaml_ng::Deserializer::from_str(text);
    serde_path_to_error::deserialize(document).map_err(|error| {
        let (path, cause) = (error.path().to_string(), error.inner().to_string());
        // The parser names a part of the path, too, if not always all of it.
        let cause = cause.split_once(": ").filter(|(part, _)| path.starts_with(part)).map_or(&*cause, |(_, rest)| rest);
        if path == "." { anyhow!("{cause}") } else { anyhow!("{path}: {cause}") }
    })
}

/// How much of all this is, from 0 to 1; of nothing, there is no share.
fn share(part: Decimal, all: Decimal) -> Option<Decimal> {
    (!all.is_zero()).then(|| part / all)
}

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;
