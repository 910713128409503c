//! What answers as DynamoDB: the embedded engine, one for each shop, or another one for all of them.
//!
//! `TILL_TEST_DYNAMODB=http://127.0.0.1:8000 cargo test -p tests --test suite` runs the suite on the engine that
//! listens there. Each shop has a table of its own on it, and so a stream of its own. It calls the engine under an
//! access key of its own, too, whatever its functions sign with: DynamoDB Local has a database for each key, and in one
//! for all of them every call takes longer the more records all the streams hold.

use std::env;
use std::io::{Write as _, stderr};
use std::thread;

use local::FaultProxy;

/// Names the base URL of another engine than the embedded one.
const ENDPOINT: &str = "TILL_TEST_DYNAMODB";

/// What the tests run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// The one that the stack embeds.
    Embedded,
    /// The one at this base URL.
    At(String),
}

impl Engine {
    /// As the environment says.
    pub fn of_this_run() -> Self {
        match env::var(ENDPOINT) {
            Ok(url) if !url.is_empty() => Self::At(url),
            _ => Self::Embedded,
        }
    }

    /// A way to it for one shop alone, unless each stack starts its own.
    pub async fn open(self) -> Option<FaultProxy> {
        match self {
            Self::Embedded => None,
            Self::At(url) => Some(FaultProxy::start_as(&url, &unique()).await.expect("a way to the engine")),
        }
    }
}

/// What only the embedded engine does as AWS does. docs/engines.md tells how it is known.
#[derive(Debug, Clone, Copy)]
pub enum Feature {
    /// Says what transactions, and reads that find nothing, consume.
    CapacityFigures,
}

impl Feature {
    /// What another engine does instead, so that it cannot be tested there.
    fn reason(self) -> &'static str {
        match self {
            Self::CapacityFigures => {
                "DynamoDB Local counts a transaction's items of equal cost as one, its index entries twice, and reads that \
                 find nothing not at all"
            }
        }
    }
}

/// Whether this run's engine lacks it, and this test leaves out what needs it. Says so, too, past the capture of the
/// tests' output.
pub fn lacks(feature: Feature) -> bool {
    if Engine::of_this_run() == Engine::Embedded {
        return false;
    }
    let test = thread::current().name().unwrap_or_default().to_owned();
    _ = writeln!(stderr(), "left out: {test}, in part: {}", feature.reason());
    true
}

/// How many of so many random schedules to run: they are about Till, and so all of them on the embedded engine; another
/// one, which is asked for a second opinion, gets some.
pub fn schedules(all: u64) -> u64 {
    if Engine::of_this_run() == Engine::Embedded { all } else { all / 4 }
}

/// A name that no other table has, of this run or another.
pub fn new_table_name() -> String {
    format!("till-test-{}", unique())
}

fn unique() -> String {
    format!("{:016x}", fastrand::Rng::new().u64(..))
}
