//! Tests of the pages for browsers, and of the description of the API.

use axum::Router;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::routing::get;

use super::{Bench, TEMPLATE, functions, header, json_of, refusal_of};
use crate::{Functions, Options, Stack, Template};

#[tokio::test]
async fn the_description_of_the_api_is_served() {
    let bench = Bench::start().await;
    assert_eq!(json_of(bench.get("/openapi.json")).await["openapi"], "3.1.0");
}

async fn bench_with(pages: Router, template: &str) -> Bench {
    let options = Options { pages, ..Options::new(Template::parse(template).unwrap()) };
    let functions = Functions { handlers: functions(), ..Functions::default() };
    let stack = Stack::start(options, |_, _| Ok(functions)).await.unwrap();
    Bench { stack, client: crate::aws_json::local_client().unwrap() }
}

fn pages() -> Router {
    let page = || async { ([(CONTENT_TYPE, "text/html; charset=utf-8")], "<p>mine") };
    let own = || async { ([(CONTENT_TYPE, "text/html"), (CONTENT_SECURITY_POLICY, "default-src 'self'")], "<p>own") };
    Router::new().route("/", get(page)).route("/_local/mine", get(page)).route("/_local/own", get(own))
}

#[tokio::test]
async fn the_pages_of_the_program_load_nothing_from_elsewhere_and_answer_no_page_of_another_origin() {
    let bench = bench_with(pages(), TEMPLATE).await;
    for path in ["/", "/_local/mine"] {
        let page = bench.get(path).send().await.unwrap();
        assert!(
            header(&page, "content-security-policy").starts_with("default-src 'none'; script-src 'self';"),
            "{path}"
        );
        assert!(!header(&page, "apigw-requestid").is_empty(), "it is logged under its id");
        assert_eq!(page.text().await.unwrap(), "<p>mine");
    }
    let own = bench.get("/_local/own").send().await.unwrap();
    assert_eq!(header(&own, "content-security-policy"), "default-src 'self'");
    let from_elsewhere = bench.get("/_local/mine").header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(from_elsewhere.status(), 403);
    for unknown in [bench.get("/_local/other"), bench.post("/_local/mine")] {
        refusal_of(unknown, 404, "Not Found").await;
    }
}

#[tokio::test]
async fn a_route_of_the_template_replaces_the_page_at_the_root() {
    let bench = bench_with(pages(), &TEMPLATE.replace("Path: /mine", "Path: /")).await;
    refusal_of(bench.get("/"), 401, "Unauthorized").await;
}
