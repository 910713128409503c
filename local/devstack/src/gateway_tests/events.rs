//! Tests of requests on their way to a function.

use serde_json::json;

use super::{Bench, json_of};

#[tokio::test]
async fn the_event_is_complete() {
    let bench = Bench::start().await;
    let request = bench
        .post("/things/a%20b%2Fc?tag=one&tag=t%20wo&q=")
        .header("Cookie", "a=1; b=2")
        .header("X-Twice", "one")
        .header("X-Twice", "two")
        .header("User-Agent", "tests")
        .header("Content-Type", "application/json")
        .body(r#"{"ok":true}"#);
    let event = json_of(request).await;

    assert_eq!(event["version"], "2.0");
    assert_eq!(event["routeKey"], "POST /things/{id}");
    assert_eq!(event["rawPath"], "/things/a b/c");
    assert_eq!(event["rawQueryString"], "tag=one&tag=t%20wo&q=");
    assert_eq!(event["queryStringParameters"], json!({ "tag": "one,t wo", "q": "" }));
    assert_eq!(event["pathParameters"], json!({ "id": "a b/c" }));
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    assert_eq!(event["headers"]["x-twice"], "one,two");
    assert_eq!(event["headers"]["x-forwarded-for"], "127.0.0.1");
    assert_eq!(event["headers"].get("cookie"), None);
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!(r#"{"ok":true}"#), &json!(false)));

    let context = &event["requestContext"];
    assert_eq!(context["routeKey"], event["routeKey"]);
    assert_eq!(context["stage"], "$default");
    assert_eq!(context["domainName"], "127.0.0.1");
    assert_eq!(context["http"]["method"], "POST");
    assert_eq!(context["http"]["protocol"], "HTTP/1.1");
    assert_eq!(context["http"]["userAgent"], "tests");
    assert_eq!(context.get("authorizer"), None);
    assert!(context["time"].as_str().unwrap().ends_with(" +0000"));
    assert!(context["timeEpoch"].as_i64().unwrap() > 1_700_000_000_000);
}

#[tokio::test]
async fn claims_reach_the_function_as_strings() {
    let bench = Bench::start().await;
    let event = json_of(bench.get("/mine").bearer_auth(bench.stack.token("ada", "notes/read").unwrap())).await;
    let jwt = &event["requestContext"]["authorizer"]["jwt"];
    assert_eq!(jwt["scopes"], json!(["notes/read", "notes/admin"]));
    assert_eq!(jwt["claims"]["sub"], "ada");
    assert!(jwt["claims"]["exp"].is_string());
    assert_eq!(event.get("body"), None);
    assert_eq!(event.get("queryStringParameters"), None);
}

#[tokio::test]
async fn a_binary_body_is_sent_in_base64() {
    let bench = Bench::start().await;
    let event = json_of(bench.post("/things/1").body(vec![0xff, 0x00])).await;
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("/wA="), &json!(true)));
}
