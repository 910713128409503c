//! Tests of tokens and scopes.

use serde_json::json;

use super::{Bench, json_of, problem_of};

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
