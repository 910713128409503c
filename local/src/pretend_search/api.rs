//! The cluster's HTTP API.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::Shared;
use super::cluster::{Answer, Cluster, Refused};
use super::query::Searched;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(act).with_state(shared)
}

async fn act(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let answer = if authorization == Some(&shared.authorization) {
        carry_out(&mut shared.cluster(), &method, uri.path(), &body)
    } else {
        Err(Refused::new(401, "security_exception", "missing or wrong credentials"))
    };
    match answer {
        Ok(body) => Json(body).into_response(),
        Err(refused) => {
            let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Json(refused.body())).into_response()
        }
    }
}

fn carry_out(cluster: &mut Cluster, method: &Method, path: &str, body: &[u8]) -> Answer {
    let malformed = |why: &dyn std::fmt::Display| Refused::new(400, "parse_exception", why.to_string());
    let text = str::from_utf8(body).map_err(|error| malformed(&error))?;
    let json = || -> Answer {
        if text.is_empty() { Ok(Value::Null) } else { serde_json::from_str(text).map_err(|error| malformed(&error)) }
    };
    let parts: Vec<_> = path.trim_matches('/').split('/').collect();
    match (method.as_str(), parts.as_slice()) {
        ("GET", [""]) => Ok(json!({ "version": { "distribution": "opensearch", "number": "0.0.0-pretend" } })),
        ("GET", ["_alias", pattern]) => cluster.of_alias(pattern),
        ("POST", ["_aliases"]) => cluster.change_aliases(&json()?),
        ("PUT", [index]) => cluster.create(index, &json()?),
        ("DELETE", [index]) => cluster.delete(index),
        ("POST", [index, "_mget"]) => Ok(cluster.documents(index, &json()?)),
        ("POST", [index, "_bulk"]) => cluster.bulk(index, text),
        ("POST", [index, "_search"]) => Searched::new(cluster.index(index)?).search(&json()?),
        ("POST", [index, "_refresh"]) => cluster.index(index).map(|_| json!({ "_shards": { "failed": 0 } })),
        _ => Err(Refused::unknown(format!("{method} {path}"))),
    }
}
