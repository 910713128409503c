//! The stack's own pages: an index, the reference of the API, and the items of the tables. They are plain HTML without
//! scripts, so they work offline, and nothing in an item or a description can run. The program may add pages of its own.

mod reference;
mod table;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

pub(crate) use self::reference::reference;
pub(crate) use self::table::TableBrowser;
use crate::problem::answer;

const STYLE: &str = "\
    body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222 } \
    a { color: #0550ae } code, pre { font: 13px/1.45 ui-monospace, monospace } \
    pre { background: #f6f8fa; padding: .5rem; overflow-x: auto; white-space: pre-wrap; margin: 0 } \
    table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem } \
    th, td { border: 1px solid #d0d7de; padding: .3rem .5rem; text-align: left; vertical-align: top } \
    h2 { margin-top: 2.5rem } h3 { margin-top: 2rem; border-top: 1px solid #d0d7de; padding-top: 1rem } \
    .method { display: inline-block; min-width: 4rem; font-weight: 600 } .quiet { color: #57606a }";

/// A page with this title. No script runs in it, and it loads nothing.
fn page(status: StatusCode, title: &str, content: &Markup) -> Response<Body> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (content) }
        }
    };
    let mut response = answer(status, "text/html; charset=utf-8", page.into_string());
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; form-action 'self'");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// A file that the program which runs the stack adds to its pages.
#[derive(Clone, Debug)]
pub struct Page {
    /// The path below `/_local/`.
    pub path: &'static str,
    /// The text of its link on the page at `/`. Empty: there is no link.
    pub title: &'static str,
    pub media_type: &'static str,
    pub body: String,
    /// The sources that its scripts may call beside the stack.
    pub calls: String,
}

impl Page {
    /// The file as an answer. It loads nothing but files from here, and images.
    pub(crate) fn answer(&self) -> Response<Body> {
        let mut response = answer(StatusCode::OK, self.media_type, self.body.clone());
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src http: https: data:; \
             connect-src 'self' {}; base-uri 'none'",
            self.calls
        );
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        response
    }
}

/// The page at `/`, which links the others.
pub(crate) fn index(openapi: &str, more: &[Page]) -> Response<Body> {
    let api: Value = serde_json::from_str(openapi).unwrap_or_default();
    let title = api["info"]["title"].as_str().unwrap_or("The stack on this machine");
    page(
        StatusCode::OK,
        title,
        &html! {
            h1 { (title) }
            p { "This is the stack on your machine." }
            ul {
                li { a href="/_local/reference" { "Reference of the API" } " (" a href="/openapi.json" { "OpenAPI" } ")" }
                @for page in more.iter().filter(|page| !page.title.is_empty()) {
                    li { a href={ "/_local/" (page.path) } { (page.title) } }
                }
                li { a href="/_local/table" { "Items of the tables" } }
                li { a href="/_local/events" { "Events" } ": the newest thousand, as JSON" }
                li { a href="/_local/queues" { "Queues" } ": how many messages they have, as JSON" }
                li { "Log: the standard error of the program that runs the stack. Each answer has the header "
                    code { "apigw-requestid" } ", whose value is in the line of its request." }
            }
        },
    )
}
