//! Tests of tokens and scopes.

use serde_json::json;

use super::{Bench, json_of, problem_of};

#[tokio::test]
async fn a_scoped_route_requires_a_valid_token_with_one_of_its_scopes() {
    let bench = Bench::start().await;
    problem_of(bench.get("/mine"), 401, "unauthorized", "Unauthorized").await;
    problem_of(bench.get("/mine").bearer_auth("nonsense"), 401, "unauthorized", "Unauthorized").await;
    for scope in ["", "read", "notes/reading", "openid profile"] {
        let token = bench.stack.token("ada", scope).unwrap();
        problem_of(bench.get("/mine").bearer_auth(token), 403, "forbidden", "Forbidden").await;
    }
    for scope in ["notes/read", "notes/admin", "openid notes/read"] {
        let token = bench.stack.token("ada", scope).unwrap();
        json_of(bench.get("/mine").bearer_auth(token)).await;
    }
}

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
        problem_of(bench.post("/_local/token").body(body), 400, "validation", "Bad Request").await;
    }
}
