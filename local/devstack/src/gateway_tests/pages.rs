//! Tests of the pages for browsers, and of the description of the API.

use serde_json::json;

use super::{Bench, TEMPLATE, functions, header, json_of, refusal_of};
use crate::{Functions, Options, Page, Stack, Template};

#[tokio::test]
async fn the_description_of_the_api_is_served() {
    let bench = Bench::start().await;
    assert_eq!(json_of(bench.get("/openapi.json")).await["openapi"], "3.1.0");
}

async fn page_of(bench: &Bench, path: &str) -> String {
    let answer = bench.get(path).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert!(header(&answer, "content-security-policy").starts_with("default-src 'none'"));
    answer.text().await.unwrap()
}

#[tokio::test]
async fn the_page_at_the_root_links_pages_that_exist() {
    let bench = Bench::start().await;
    let page = page_of(&bench, "/").await;
    let links: Vec<_> = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 5, "{page}");
    for link in links {
        assert_eq!(bench.get(link).send().await.unwrap().status(), 200, "{link}");
    }
}

#[tokio::test]
async fn a_page_of_the_program_is_linked_and_loads_nothing_from_elsewhere() {
    let page = Page {
        path: "mine",
        title: "My page",
        media_type: "text/html; charset=utf-8",
        body: "<p>mine".to_owned(),
        calls: "http://127.0.0.1:9".to_owned(),
    };
    let options = Options { pages: vec![page], ..Options::new(Template::parse(TEMPLATE).unwrap()) };
    let functions = Functions { handlers: functions(), ..Functions::default() };
    let stack = Stack::start(options, |_, _| Ok(functions)).await.unwrap();
    let bench = Bench { stack, client: crate::aws_json::local_client().unwrap() };
    assert!(page_of(&bench, "/").await.contains(r#"<a href="/_local/mine">My page</a>"#));
    assert_eq!(page_of(&bench, "/_local/mine").await, "<p>mine");
    let page = bench.get("/_local/mine").send().await.unwrap();
    assert!(header(&page, "content-security-policy").contains("connect-src 'self' http://127.0.0.1:9;"));
    let from_elsewhere = bench.get("/_local/mine").header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(from_elsewhere.status(), 403);
}

#[tokio::test]
async fn a_route_of_the_template_replaces_the_page_at_the_root() {
    let bench = Bench::start_with(&TEMPLATE.replace("Path: /mine", "Path: /")).await;
    refusal_of(bench.get("/"), 401, "Unauthorized").await;
}

#[tokio::test]
async fn the_items_of_the_table_are_shown_page_by_page() {
    let bench = Bench::start().await;
    let dynamodb = crate::aws_json::Service::dynamodb(bench.stack.dynamodb_url()).unwrap();
    let table = bench.stack.template().table_name();
    for number in 0..60 {
        let item = json!({
            "PK": { "S": format!("note#{number:02}") }, "text": { "S": "<script>" }, "size": { "N": "7" },
        });
        dynamodb.succeed("PutItem", &json!({ "TableName": table, "Item": item })).await.unwrap();
    }
    let first = page_of(&bench, "/_local/table").await;
    assert!(first.contains("&lt;script&gt;") && !first.contains("<script>"), "{first}");
    assert!(first.contains("\"size\": 7") || first.contains("&quot;size&quot;: 7"), "{first}");
    let next = first.split("<p><a href=\"").last().unwrap().split('"').next().unwrap().replace("&amp;", "&");
    let second = page_of(&bench, &next).await;
    assert_eq!((first.matches("note#").count(), second.matches("note#").count()), (50, 10));

    let one = page_of(&bench, "/_local/table?partition=note%2307").await;
    assert_eq!(one.matches("<td><code>note#").count(), 1, "{one}");
    assert_eq!(bench.get("/_local/table?after=nonsense").send().await.unwrap().status(), 502);
}
