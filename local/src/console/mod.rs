//! The console: the pages of `cargo local`. They are rendered on the server, from the stack's own routes and from its
//! table; a page runs no script but those of this folder, and loads nothing from elsewhere.

mod api;
mod backlog;
mod home;
mod payments;
mod problem;
mod requests;
pub mod shell;
mod stream;
mod table;

use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use devstack::stories::Stories;
use devstack::{Service, Stack, Template};
use key_schema::layout::Layout;
use maud::html;
use serde_json::Value;

use self::table::Table;
use crate::pretend_provider::{Dashboard, PretendProvider};
use crate::storefront;

/// The pages, and what they know of the stack that runs.
#[derive(Clone)]
pub struct Console {
    running: Arc<OnceLock<Running>>,
    payments: Option<Dashboard>,
}

/// What the pages need of the stack.
pub struct Running {
    /// The gateway's base URL.
    pub url: String,
    /// What runs, each with its address.
    pub addresses: Vec<(&'static str, String)>,
    /// Whether the demo shop is there to try.
    pub has_demo: bool,
    /// The number of routes, and of functions.
    pub counts: [usize; 2],
    /// DynamoDB, called as no function.
    pub dynamodb: Service,
    /// DynamoDB Streams, called as no function.
    pub streams: Service,
    /// The newest records of the first table's stream.
    pub tail: stream::Tail,
    /// What the newest requests did.
    pub stories: Arc<Stories>,
    /// The functions that have a schedule.
    pub scheduled: Vec<String>,
    client: reqwest::Client,
    /// The tables, the one that the shop reads first.
    pub tables: Vec<Table>,
    /// The start, in milliseconds since 1970: tokens of an earlier stack may not be valid.
    pub started: u128,
}

impl Console {
    /// The pages of a stack that takes payments at the pretend provider, or at another one.
    pub fn new(provider: Option<&PretendProvider>) -> Self {
        Self { running: Arc::default(), payments: provider.map(PretendProvider::dashboard) }
    }

    /// The pages as a router, for a stack that is not started yet. The storefront takes payments at this URL.
    pub fn router(&self, payments: &str) -> Router {
        let pages = Router::new()
            .route("/", get(home::page))
            .route("/_local/api", get(api::page))
            .route("/_local/api/{file}", get(api::file))
            .route("/_local/table", get(table::page))
            .route("/_local/table/patterns", get(table::patterns))
            .route("/_local/table/patterns/{number}", get(table::pattern))
            .route("/_local/stream", get(stream::page))
            .route("/_local/backlog", get(backlog::page))
            .route("/_local/console/requests", get(requests::page))
            .route("/_local/console/requests/{id}", get(requests::story))
            .route("/_local/payments", get(payments::page))
            .route("/_local/payments/{act}", post(payments::act))
            .route("/problems/{kind}", get(problem::page))
            .route("/_local/console.css", get(|| file("text/css; charset=utf-8", shell::stylesheet())))
            .route(
                "/_local/console/requests.js",
                get(|| file("text/javascript; charset=utf-8", include_str!("requests.js"))),
            )
            .route("/_local/console.js", get(|| file("text/javascript; charset=utf-8", include_str!("console.js"))));
        pages.with_state(self.clone()).merge(storefront::router(payments))
    }

    /// From now on the pages show this stack, and what runs beside it.
    ///
    /// # Errors
    /// There is no HTTP client on this machine.
    pub fn show(&self, stack: &Stack, beside: Vec<(&'static str, String)>, has_demo: bool) -> Result<()> {
        let s3 = stack.s3_url().map(|url| ("S3", url.to_owned()));
        let services = [
            ("API", stack.url()),
            ("DynamoDB", stack.dynamodb_url()),
            ("SQS", stack.sqs_url()),
            ("EventBridge", stack.bus().url()),
        ];
        let services = services.map(|(name, url)| (name, url.to_owned()));
        let template = stack.template();
        let running = Running {
            url: stack.url().to_owned(),
            addresses: services.into_iter().chain(s3).chain(beside).collect(),
            has_demo,
            counts: [template.routes.len(), template.functions.len()],
            dynamodb: Service::dynamodb(stack.dynamodb_url())?,
            streams: Service::dynamodb_streams(stack.dynamodb_url())?,
            tail: stream::Tail::default(),
            stories: Arc::clone(stack.stories()),
            scheduled: template.scheduled.keys().cloned().collect(),
            client: reqwest::Client::builder().no_proxy().build()?,
            tables: tables_of(template),
            started: SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_millis(),
        };
        // Only the first stack is shown.
        _ = self.running.set(running);
        Ok(())
    }
}

impl Running {
    /// What a route of the stack's own answers.
    async fn look(&self, path: &str) -> Result<Value> {
        let answer = self.client.get(format!("{}{path}", self.url)).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    }
}

/// The tables of the functions, each with its layout.
fn tables_of(template: &Template) -> Vec<Table> {
    let variables = template.functions.iter().map(|function| &function.environment);
    let named = variables.flat_map(|variables| {
        [("TABLE_NAME", "TABLE_LAYOUT"), ("NEXT_TABLE_NAME", "NEXT_TABLE_LAYOUT")].map(|(name, layout)| {
            let layout = variables.get(layout).and_then(|layout| layout.parse().ok());
            (name, variables.get(name).cloned(), layout.unwrap_or(Layout::V1))
        })
    });
    let mut tables: Vec<_> = named.filter_map(|(variable, name, layout)| Some((variable, name?, layout))).collect();
    // The table that the shop reads comes first.
    tables.sort_by_key(|(variable, ..)| *variable != "TABLE_NAME");
    let mut shown: Vec<Table> = Vec::new();
    for (_, name, layout) in tables {
        if shown.iter().all(|table| table.name != name) {
            shown.push(Table { name, layout });
        }
    }
    shown
}

/// The stack, once it runs. Before that, a page says so.
pub struct Shown(Arc<OnceLock<Running>>);

impl std::ops::Deref for Shown {
    type Target = Running;

    #[expect(clippy::expect_used, reason = "it was set when this was made")]
    fn deref(&self) -> &Running {
        self.0.get().expect("a stack that runs")
    }
}

impl FromRequestParts<Console> for Shown {
    type Rejection = Response;

    async fn from_request_parts(_: &mut Parts, console: &Console) -> Result<Self, Response> {
        if console.running.get().is_some() {
            return Ok(Self(Arc::clone(&console.running)));
        }
        let wait = html! { h1 { "Till starts" } p { "The stack is not ready yet. Load this page again in a moment." } };
        Err(shell::page_with(StatusCode::SERVICE_UNAVAILABLE, "/", "Till starts", &wait))
    }
}

/// A file of the console.
async fn file(media_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, media_type)], text)
}

#[cfg(test)]
mod tests;
