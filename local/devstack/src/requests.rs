//! The stack's routes about requests.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use futures_util::stream::unfold;
use serde_json::json;
use tokio::sync::watch;

use crate::problem::{answer, problem};
use crate::stories::{KEPT, Stories, Summary};

/// The time in which changes are gathered before they are told.
const GATHERED: Duration = Duration::from_millis(50);

/// The most stories that are watched for changes.
const WATCHED: usize = 100;

/// Answers `/_local/requests` (all, the newest first), `/_local/requests/live` and `/_local/requests/ID`, of which this is
/// the end of the path.
pub(crate) fn get(stories: &Arc<Stories>, path: &str) -> Response<Body> {
    match path {
        "" => answer(StatusCode::OK, "application/json", json!({ "items": stories.newest(KEPT) }).to_string()),
        "/live" => live(stories),
        path => match path.strip_prefix('/').and_then(|id| stories.story(id)) {
            Some(story) => answer(StatusCode::OK, "application/json", json!(story).to_string()),
            None => problem(StatusCode::NOT_FOUND, "No such request is remembered."),
        },
    }
}

/// Stories in short as server-sent events: those that there are, and then each whenever it changes.
fn live(stories: &Arc<Stories>) -> Response<Body> {
    let watching = Watching { changes: stories.changes(), stories: Arc::clone(stories), told: None };
    let events = unfold(watching, |mut watching| async {
        let events = watching.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(events)), watching))
    });
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

struct Watching {
    stories: Arc<Stories>,
    changes: watch::Receiver<u64>,
    /// What was told of each story. `None`: the client has just connected.
    told: Option<BTreeMap<String, Summary>>,
}

impl Watching {
    /// The next events. `None`: the stack has ended.
    async fn next(&mut self) -> Option<String> {
        if self.told.is_some() {
            self.changes.changed().await.ok()?;
            tokio::time::sleep(GATHERED).await;
        }
        self.changes.mark_unchanged();
        let newest = self.stories.newest(WATCHED);
        // A comment shows a client at once that it is connected.
        let mut events = ":\n\n".to_owned();
        let told = self.told.take().unwrap_or_default();
        for summary in newest.iter().rev().filter(|summary| told.get(&summary.id) != Some(*summary)) {
            // Writing to a `String` cannot fail.
            _ = write!(events, "data: {}\n\n", json!(summary));
        }
        self.told = Some(newest.into_iter().map(|summary| (summary.id.clone(), summary)).collect());
        Some(events)
    }
}
