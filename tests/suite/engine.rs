//! What answers as DynamoDB: the embedded engine, one for each shop, or another one for all of them.
//!
//! `TILL_TEST_DYNAMODB=http://127.0.0.1:8000 cargo test -p tests --test suite` runs the suite on the engine that listens
//! there. Each shop has a table of its own on it, and so a stream of its own, whatever its functions sign with.

use std::env;
use std::io::{Write as _, stderr};
use std::thread;

use reqwest::{Client as Http, RequestBuilder};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Names the base URL of another engine than the embedded one.
const ENDPOINT: &str = "TILL_TEST_DYNAMODB";

/// An engine wants a signature. Local ones do not check it.
const SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, \
                             SignedHeaders=host, Signature=0";

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

    /// Where it is, unless each stack starts its own.
    pub fn endpoint(self) -> Option<String> {
        match self {
            Self::Embedded => None,
            Self::At(url) => Some(url),
        }
    }
}

/// What only the embedded engine does as AWS does. docs/engines.md tells how it is known.
#[derive(Debug, Clone, Copy)]
pub enum Feature {
    /// Says what a transaction consumes.
    TransactionFigures,
}

impl Feature {
    /// What another engine does instead, so that it cannot be tested there.
    fn reason(self) -> &'static str {
        match self {
            Self::TransactionFigures => {
                "DynamoDB Local counts items of a transaction that cost the same as one, and its index entries twice"
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
    _ = writeln!(stderr(), "skipped: {test}: {}", feature.reason());
    true
}

/// A name that no other table has, of this run or another.
pub fn new_table_name() -> String {
    format!("till-test-{:016x}", fastrand::Rng::new().u64(..))
}

/// One call of an engine's own API: `DynamoDB_20120810`, `GetItem`, and what it asks.
pub async fn call(http: &Http, url: &str, service: &str, action: &str, request: &Value) -> Value {
    let answer = calling(http, url, service, action, request).send().await.expect("the engine answers");
    let ok = answer.status().is_success();
    let text = answer.text().await.expect("text");
    assert!(ok, "{action}: {text}");
    serde_json::from_str(&text).expect("JSON")
}

/// Deletes a shop's table, so that an engine which outlives the shop stays fast. It may be gone already.
pub fn forget(http: &Http, url: &str, table: &str) {
    if Engine::of_this_run() == Engine::Embedded {
        return;
    }
    let deleting = calling(http, url, "DynamoDB_20120810", "DeleteTable", &json!({ "TableName": table })).send();
    _ = block_in_place(|| Handle::current().block_on(deleting));
}

fn calling(http: &Http, url: &str, service: &str, action: &str, request: &Value) -> RequestBuilder {
    http.post(url)
        .header("x-amz-target", format!("{service}.{action}"))
        .header("content-type", "application/x-amz-json-1.0")
        .header("authorization", SIGNATURE)
        .header("x-amz-date", "20260101T000000Z")
        .body(request.to_string())
}
