//! What a route gets of API Gateway's events, and what the gateway gets of its answers.

use std::time::Duration;

use key_schema::value::{DiscountCode, OrderId, ProductId};
use lambda::{Environment, FromEnvironment, Misconfigured};
use lambda_http::request::LambdaRequest;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::readable;
use crate::{Answer, Path, Problem, Request, Route, Scope, start};

const ROUTE: Route = Route::get("/products/{productId}", Scope::Public);

fn sample() -> Value {
    serde_json::from_str(include_str!("../../../../events/get-product.json")).expect("an event")
}

fn request(fields: &Value) -> Request {
    let mut event = sample();
    for (name, value) in fields.as_object().into_iter().flatten() {
        event[name] = value.clone();
    }
    let event = serde_json::from_str(&event.to_string()).expect("an event");
    Request::authorize(LambdaRequest::ApiGatewayV2(readable(event)).into(), &ROUTE).expect("a public route")
}

fn detail<T>(answer: Answer<T>) -> String {
    let Err(problem) = answer else { panic!("no problem") };
    serde_json::to_value(problem.document()).expect("JSON")["detail"].as_str().expect("a text").to_owned()
}

#[derive(Debug, PartialEq, Deserialize)]
struct Tags {
    tag: Option<String>,
}

fn tag(query: &str) -> Answer<Option<String>> {
    request(&json!({ "rawQueryString": query })).query().map(|tags: Tags| tags.tag)
}

#[test]
fn a_query_string_is_read_as_it_was_sent() {
    for (query, read) in [
        ("", None),
        ("tag=", Some("")),
        ("tag=a+b%2Bc%26", Some("a b+c&")),
        ("tag=%C3%BC", Some("\u{fc}")),
        // Not in a URI, but some clients send them.
        ("tag=\u{fc}", Some("\u{fc}")),
        ("tag=<a b>\"%22+", Some("<a b>\"\" ")),
        ("tag=a#b", Some("a")),
    ] {
        assert_eq!(tag(query).ok(), Some(read.map(str::to_owned)), "{query}");
    }
    assert_eq!(detail(tag("tag=a&tag=b")), "query string: duplicate field `tag`");
    assert_eq!(detail(tag("b=<")), "query string: unknown parameter `b`, expected one of tag");
}

#[test]
fn path_parameters_are_already_decoded() {
    let request = request(&json!({
        "pathParameters": { "productId": "a-1", "code": "50%25", "orderId": "\u{fc}" },
        "rawPath": "//evil:x/\u{fc}",
        "stageVariables": null,
    }));
    assert_eq!(request.path::<ProductId>("productId").expect("an id").as_str(), "a-1");
    assert!(detail(request.path::<DiscountCode>("code")).starts_with("discount code must be"));
    assert!(detail(request.path::<OrderId>("orderId")).starts_with("orderId must be"));
    assert_eq!(request.path_parameters().into_keys().collect::<Vec<_>>(), ["code", "orderId", "productId"]);
}

#[test]
fn neither_host_nor_stage_changes_a_request() {
    for (host, stage) in [("a.example:8080", "$default"), ("no host", "Prod"), ("", ""), ("[", ":")] {
        let mut context = sample()["requestContext"].clone();
        (context["stage"], context["domainName"]) = (json!(stage), json!(host));
        let request = request(&json!({
            "headers": { "host": host, "x-forwarded-proto": "no scheme" }, "requestContext": context, "rawQueryString": "tag=a",
        }));
        assert_eq!(request.query::<Tags>().ok(), Some(Tags { tag: Some("a".to_owned()) }), "{host} {stage}");
        assert!(request.path::<ProductId>("productId").is_ok(), "{host} {stage}");
    }
}

#[test]
fn the_gateway_joins_repeated_headers() {
    let request = request(&json!({
        "cookies": ["a=1", "b=2"],
        "headers": { "Prefer": "wait=1,respond-async", "if-match": "\"1\",\"2\"", "stripe-signature": "\u{fc}" },
    }));
    assert!(request.prefers("respond-async"));
    assert_eq!(request.if_match().expect("a list").versions(), Some(&[1, 2][..]));
    assert_eq!(detail(request.header("Stripe-Signature")), "The header Stripe-Signature must be printable ASCII.");
    assert_eq!(request.header("Cookie").ok(), Some(Some("a=1; b=2")));
}

#[test]
fn a_body_is_text_or_base64() {
    for (body, is_base64, read) in [
        (json!("{\"tag\":\"\u{fc}\"}"), false, "{\"tag\":\"\u{fc}\"}".as_bytes()),
        (json!("/wA="), true, &[255, 0][..]),
        (json!("not base64"), true, b"not base64".as_slice()),
        (json!(""), true, b"".as_slice()),
        (Value::Null, false, b"".as_slice()),
    ] {
        let request = request(&json!({ "body": body, "isBase64Encoded": is_base64 }));
        assert_eq!(request.body().ok(), Some(read), "{body}");
    }
}

proptest! {
    #[test]
    fn no_event_causes_a_panic(
        body in ".{0,20}", query in ".{0,20}", header in ".{0,20}", path in ".{0,20}", is_base64 in any::<bool>(),
    ) {
        let mut event = sample();
        event["rawQueryString"] = json!(query);
        for name in ["host", "prefer", "x-forwarded-proto"] {
            event["headers"][name] = json!(header);
        }
        event["requestContext"]["domainName"] = json!(header);
        (event["rawPath"], event["pathParameters"]) = (json!(path), json!({ "productId": path }));
        (event["body"], event["isBase64Encoded"]) = (json!(body), json!(is_base64));
        if let Ok(event) = serde_json::from_value(event) {
            let request: lambda_http::Request = LambdaRequest::ApiGatewayV2(readable(event)).into();
            prop_assert!(is_base64 || &**request.body() == body.as_bytes());
        }
    }
}

#[derive(Clone)]
struct Nothing;

impl FromEnvironment for Nothing {
    fn from_environment(_: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self)
    }
}

async fn handle(_: Nothing, Path(product): Path<ProductId>) -> Answer<()> {
    if product.as_str() == "a" { Ok(()) } else { Err(Problem::not_found("product")) }
}

async fn answer(route: &'static Route, event: Value) -> Result<Value, String> {
    let environment = Environment::of([]);
    start(route, handle, &environment, Duration::from_secs(3)).expect("a function")(event).await
}

#[tokio::test]
async fn an_answer_has_the_fields_that_the_gateway_reads() {
    const STAFF: Route = Route::get("/products/{productId}", Scope::Admin);
    let mut event = sample();
    for (id, route, status, mut headers) in [
        ("a", &ROUTE, 204, json!({ "cache-control": "no-store" })),
        ("b", &ROUTE, 404, json!({ "cache-control": "no-store", "content-type": "application/problem+json" })),
        (
            "a",
            &STAFF,
            401,
            json!({
                "cache-control": "no-store", "content-type": "application/problem+json", "www-authenticate": "Bearer",
            }),
        ),
    ] {
        event["pathParameters"]["productId"] = json!(id);
        headers["x-content-type-options"] = json!("nosniff");
        let answer = answer(route, event.clone()).await.expect("an answer");
        assert_eq!((&answer["statusCode"], &answer["headers"]), (&json!(status), &headers));
        assert_eq!(answer["isBase64Encoded"], false);
        let body = answer["body"].as_str().expect("a text");
        assert!(status == 204 && body.is_empty() || body.contains(&format!("\"status\":{status}")), "{body}");
    }
}

#[tokio::test]
async fn what_is_no_event_of_the_gateway_is_an_error() {
    let mut controls = sample();
    controls["headers"]["prefer"] = json!("a\u{0}b");
    for event in
        [json!({}), json!(null), json!({ "Records": [] }), json!({ "requestContext": { "elb": {} } }), controls]
    {
        assert!(answer(&ROUTE, event.clone()).await.is_err(), "{event}");
    }
}
