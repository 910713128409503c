//! Tests of tokens and scopes.

use serde_json::json;

use super::{Bench, json_of, problem_of, refusal_of};

#[tokio::test]
async fn a_token_from_the_local_route_is_accepted_by_a_scoped_route() {
    let bench = Bench::start().await;
    for scope in ["read", "admin", "notes/read", "notes/admin"] {
        let answer = json_of(bench.post("/_local/token").json(&json!({ "sub": "ada", "scope": scope }))).await;
        json_of(bench.get("/mine").bearer_auth(answer["token"].as_str().unwrap())).await;
    }
}

#[tokio::test]
async fn the_local_route_refuses_unknown_fields_and_scopes() {
    let bench = Bench::start().await;
    for body in ["", r#"{"sub":"ada"}"#, r#"{"sub":"ada","scope":"root"}"#, r#"{"sub":"a","scope":"read","x":1}"#] {
        assert_ne!(problem_of(bench.post("/_local/token").body(body), 400).await, "");
    }
}

/// The forms are those of AWS: without a token the scheme alone, with a bad one the scopes of the route and the error.
#[tokio::test]
async fn a_caller_without_a_valid_token_is_challenged_as_by_api_gateway() {
    let bench = Bench::start().await;
    assert_eq!(refusal_of(bench.get("/mine"), 401, "Unauthorized").await.unwrap(), "Bearer");
    let challenge = refusal_of(bench.get("/mine").bearer_auth("not.a.token"), 401, "Unauthorized").await.unwrap();
    let expected =
        r#"Bearer scope="notes/read notes/admin" error="invalid_token" error_description="the token is not valid""#;
    assert_eq!(challenge, expected);
}
