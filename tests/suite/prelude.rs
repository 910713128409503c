//! What most tests use.

pub use std::collections::{BTreeMap, BTreeSet};
pub use std::sync::Arc;
pub use std::time::Duration;

pub use devstack::fault_proxy::{Fault, Match};
pub use http_api::Kind;
pub use key_schema::value::Timestamp;
pub use reqwest::Method;
pub use serde_json::{Value, json};
pub use shop::queue::order_later;
pub use shop::{Client, Reply, Shop, at_once, basket, eur, every_change, goods, invoice_id, order_id, things, until};
pub use tokio::task::JoinSet;

pub(crate) use crate::invariants;

/// The transactions that write.
pub fn commit() -> Match {
    Match::action("TransactWriteItems")
}
