//! The DynamoDB engine of the tests: the embedded engine, one for each shop, or an external one for all of them.
//!
//! `TILL_TEST_DYNAMODB=http://127.0.0.1:8000 cargo test -p tests --test suite` runs the suite on the engine at that
//! address. Each shop has its own table there, and so its own stream. Each shop also calls the engine with its own
//! access key: DynamoDB Local has a separate database for each key, and in a shared database every call gets slower
//! with the number of records in all streams.

use std::env;
use std::io::{Write as _, stderr};
use std::thread;

use devstack::FaultProxy;

/// The environment variable with the base URL of an external engine.
const ENDPOINT: &str = "TILL_TEST_DYNAMODB";

/// The engine that the tests run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    Embedded,
    /// An external engine at this base URL.
    At(String),
}

impl Engine {
    /// The engine of this test run, by the environment variable.
    pub fn of_this_run() -> Self {
        match env::var(ENDPOINT) {
            Ok(url) if !url.is_empty() => Self::At(url),
            _ => Self::Embedded,
        }
    }

    /// A proxy to an external engine for one shop. `None` for the embedded engine, which each stack starts itself.
    pub async fn open(self) -> Option<FaultProxy> {
        match self {
            Self::Embedded => None,
            Self::At(url) => Some(FaultProxy::start_as(&url, &unique()).await.expect("a way to the engine")),
        }
    }
}

/// Behaviour of AWS that only the embedded engine reproduces: see docs/engines.md.
#[derive(Debug, Clone, Copy)]
pub enum Feature {
    /// Reports the capacity of transactions, and of reads that find nothing.
    CapacityFigures,
}

impl Feature {
    /// The different behaviour of other engines.
    fn reason(self) -> &'static str {
        match self {
            Self::CapacityFigures => {
                "DynamoDB Local counts a transaction's items of equal cost as one, its index entries twice, and reads that \
                 find nothing not at all"
            }
        }
    }
}

/// Whether this run's engine lacks the feature, so that a test skips its checks of it. Reports the omission on standard
/// error, even if test output is captured.
pub fn lacks(feature: Feature) -> bool {
    if Engine::of_this_run() == Engine::Embedded {
        return false;
    }
    let test = thread::current().name().unwrap_or_default().to_owned();
    _ = writeln!(stderr(), "left out: {test}, in part: {}", feature.reason());
    true
}

/// The name of a shop's first table. An external engine may keep the tables of all shops together.
pub fn table_name() -> String {
    match Engine::of_this_run() {
        Engine::Embedded => "till-test-orders".to_owned(),
        Engine::At(_) => format!("till-test-{}", unique()),
    }
}

fn unique() -> String {
    format!("{:016x}", fastrand::Rng::new().u64(..))
}
