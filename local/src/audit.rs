//! Checks that a whole table keeps the shop's invariants.
//!
//! An operator runs the audit over a table at rest, for example a restored one. The audit scans the table and writes
//! nothing.

mod accounts;
mod numbers;
mod order;
mod verdict;

use std::fmt;
use std::pin::pin;

use anyhow::Result;
use futures_util::StreamExt;
use key_schema::value::Timestamp;
use lambda::Environment;

use self::accounts::Accounts;
pub(crate) use self::order::faults as faults_of_order;
use crate::scan;

/// The time for which the stream's consumer retries a record, plus half an hour. A change older than that is counted or
/// lost.
pub const SETTLE_SECONDS: u32 = 23_400;

/// The result of an audit.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of items.
    pub items: u64,
    /// The number of orders checked.
    pub orders: u64,
    /// The number of aggregates that could only be checked against bounds, because their orders changed after the
    /// horizon.
    pub unsettled: u64,
    /// The breaches found.
    pub breaches: Vec<Breach>,
}

/// A breach of an invariant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// The key of the item, or the name of the aggregate.
    pub of: String,
    /// A description of the breach.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.of, self.what)
    }
}

/// Reads the whole table of this environment, and checks it: in the layout that the environment names, and during a
/// migration the table that leads. Changes before the horizon must be counted, by the days of the zone `TIME_ZONE`. `progress` receives the number of
/// items read so far.
pub async fn audit(environment: &Environment, horizon: Timestamp, progress: impl Fn(u64)) -> Result<Report> {
    let mut pages = pin!(scan::pages(environment).await?);
    let mut accounts = Accounts::new(horizon, environment.parsed("TIME_ZONE")?);
    while let Some(page) = pages.next().await {
        page?.1.into_iter().for_each(|item| accounts.add(item));
        progress(accounts.items());
    }
    Ok(accounts.close())
}
