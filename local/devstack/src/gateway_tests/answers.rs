//! Tests of answers on their way to the client, and to the log.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::super::told;
use super::{Bench, header, refusal_of};
use crate::problem::{PROBLEM_JSON, answer, gateway_error};

#[tokio::test]
async fn a_function_s_answer_becomes_the_response() {
    let bench = Bench::start().await;
    let response = bench.post("/things/special").send().await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["location"], "/things/1");
    assert_eq!(response.headers()["content-type"], "image/png");
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
    assert_eq!(response.bytes().await.unwrap().as_ref(), b"\x89PNG");
}

#[tokio::test]
async fn the_cause_of_a_function_s_failure_is_not_sent_to_the_client() {
    let bench = Bench::start().await;
    for path in ["/broken/error", "/broken/panic", "/broken/slow", "/broken/silent"] {
        refusal_of(bench.get(path), 500, "Internal Server Error").await;
    }
}

/// The client learns the reason, because a body that is too large is read to its end.
#[tokio::test]
async fn a_body_of_more_than_six_megabytes_is_refused() {
    let bench = Bench::start().await;
    let send = |bytes: usize| bench.post("/things/special").body("x".repeat(bytes));
    assert_eq!(send(6 * 1024 * 1024).send().await.unwrap().status(), 201);
    refusal_of(send(6 * 1024 * 1024 + 1), 413, "Request Entity Too Large").await;
}

#[tokio::test]
async fn every_answer_has_the_id_of_its_request() {
    let bench = Bench::start().await;
    let answer = bench.post("/things/1").send().await.unwrap();
    let id = header(&answer, "apigw-requestid").to_owned();
    let event: Value = answer.json().await.unwrap();
    assert_eq!(event["requestContext"]["requestId"], id);
    for path in ["/mine", "/no-such", "/openapi.json", "/_local/queues"] {
        assert_ne!(header(&bench.get(path).send().await.unwrap(), "apigw-requestid"), "", "{path}");
    }
}

#[tokio::test]
async fn a_problem_is_logged_by_the_last_part_of_its_type() {
    let document = |uri: &str| {
        let problem = json!({ "type": uri, "status": 409 }).to_string();
        told(answer(StatusCode::CONFLICT, PROBLEM_JSON, problem))
    };
    assert_eq!(document("/problems/too-late").await.0, " too-late");
    assert_eq!(document("about:blank").await.0, "");
    let (name, passed) = document("/problems/too-late").await;
    assert_eq!((name.as_str(), passed.status()), (" too-late", StatusCode::CONFLICT));
    let body = axum::body::to_bytes(passed.into_body(), usize::MAX).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["status"], 409);
    let other = told(answer(StatusCode::CONFLICT, "application/json", r#"{"type":"/x/y"}"#.to_owned()));
    assert_eq!(other.await.0, "");
}

#[tokio::test]
async fn the_reason_for_a_refusal_of_the_gateway_is_in_the_log_alone() {
    let (line, refusal) = told(gateway_error(StatusCode::NOT_FOUND, "no route matches")).await;
    assert_eq!(line, " (no route matches)");
    let body = axum::body::to_bytes(refusal.into_body(), usize::MAX).await.unwrap();
    assert_eq!(body, r#"{"message":"Not Found"}"#);
}
