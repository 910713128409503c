//! What DynamoDB charges for everything that Till does.
//!
//! - [`size`]: how many bytes an item has.
//! - [`rules`]: how many units a read or a write of it consumes.
//! - [`sample`]: one of each item that a shop stores, as large as somebody says.
//! - [`ledger`]: every operation of every function, and every access pattern, as the requests it makes.
//! - [`markdown_tables`]: the ledger as the tables in the documentation.
//!
//! An operation's [`Charge`] is computed: its requests are declared, the items come from the sample, and which index
//! has an entry of which item, under which key, is what the key schema says. Nothing here counts units by hand.
//!
//! The crate is pure: no AWS client, no async, no clock.
//!
//! **Invariant: whoever asks what something is charged asks here.** A function at work goes by what DynamoDB reports;
//! where it must reckon beforehand, the suite compares its reckoning with the ledger.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::expect_used, clippy::float_cmp, clippy::panic, reason = "tests, and sums of halves"))]

mod charge;
pub mod ledger;
pub mod markdown_tables;
pub mod rules;
pub mod sample;
pub mod size;

pub use charge::{Charge, Units};
