//! DynamoDB's charge for every operation of Till.
//!
//! - [`size`]: the size of an item in bytes.
//! - [`rules`]: the units of reads and writes.
//! - [`ledger`]: every operation of every function, as a list of requests.
//! - [`markdown_tables`]: the ledger as the tables in the documentation.
//!
//! An operation's [`Charge`] is computed from its recorded requests, the items of a [`Sample`](sample_items::Sample), and
//! the key schema, which determines the index entries of each item. No units are counted by hand.
//!
//! The crate is pure: no AWS client, no async, no clock.
//!
//! **Invariant: every computation of charges is in this crate.** At run time a function uses the units that DynamoDB
//! reports. If it must estimate them beforehand, the suite compares its estimate with the ledger.

#![cfg_attr(test, allow(clippy::expect_used, clippy::float_cmp, clippy::panic, reason = "tests, and sums of halves"))]

mod charge;
pub mod ledger;
pub mod markdown_tables;
pub mod rules;
pub mod size;

pub use charge::{Charge, Units};
