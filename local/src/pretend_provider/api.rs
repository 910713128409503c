//! The provider's HTTP API.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use uuid::Uuid;

use super::ledger::{Changed, Kept, Refused};
use super::{Shared, page};

#[derive(Clone)]
struct Served {
    shared: Arc<Shared>,
    url: String,
}

pub(super) fn router(shared: Arc<Shared>, url: String) -> Router {
    Router::new()
        .route(
            "/",
            get(|State(served): State<Served>| async move { Html(page::of(&served.url, &served.shared.ledger())) }),
        )
        .route("/v1/payment_intents", post(act))
        .route("/v1/payment_intents/{id}", get(act))
        .route("/v1/payment_intents/{id}/{action}", post(act))
        .route("/v1/refunds", post(act))
        .with_state(Served { shared, url })
}

/// Carries out a request of the API, once for each idempotency key.
async fn act(
    State(Served { shared, .. }): State<Served>,
    path: Option<Path<BTreeMap<String, String>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = path.map(|Path(path)| path).unwrap_or_default();
    let id = path.get("id").map_or("", String::as_str);
    let action = path.get("action").map_or("", String::as_str);
    let form: BTreeMap<String, String> = fields(&body);
    if let Err(refused) = authorized(&shared, &headers, id, action, &form) {
        return refusal(refused);
    }

    let mut ledger = shared.ledger();
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let request = format!("{method} {} {form:?}", uri.path());
    if let Some(kept) = key.as_ref().and_then(|key| ledger.answers.get(key)) {
        if kept.request != request {
            return refusal((400, "idempotency_key_in_use", "The key was used for another request.".to_owned()));
        }
        return reply(kept.status, kept.body.clone());
    }
    let changed: Changed = match (uri.path(), action) {
        ("/v1/payment_intents", _) => ledger.create(&form, Uuid::new_v4().simple().to_string()),
        ("/v1/refunds", _) => ledger.refund(&form),
        (_, "") => ledger.look_at(id),
        (_, "confirm") => ledger.confirm(id, &form),
        (_, "capture") => ledger.capture(id, &form),
        (_, "cancel") => ledger.cancel(id),
        _ => Err((404, "unknown", format!("The pretend provider does not know {method} {}.", uri.path()))),
    };
    let (body, event) = match changed {
        Ok(changed) => changed,
        Err(refused) => return refusal(refused),
    };
    let status = if body["error"].is_object() { 402 } else { 200 };
    if let Some(key) = key {
        ledger.answers.insert(key, Kept { request, status, body: body.clone() });
    }
    if method == Method::POST
        && let Some(file) = &shared.file
        && let Err(error) = std::fs::write(file, json!(*ledger).to_string())
    {
        tracing::error!("the pretend payment provider cannot keep its ledger: {error}");
    }
    if let Some((kind, object)) = event {
        tracing::info!("pretend payment provider: {kind} {}", object["id"].as_str().unwrap_or_default());
        let id = format!("evt_pretend_{}", Uuid::new_v4().simple());
        let event = json!({ "id": id, "object": "event", "type": kind, "data": { "object": object } });
        // The receiver ends only with the provider itself.
        _ = shared.events.send(event);
    }
    reply(status, body)
}

/// Checks the key. A browser, which has no key, confirms with the intent's client secret.
fn authorized(
    shared: &Shared,
    headers: &HeaderMap,
    id: &str,
    action: &str,
    form: &BTreeMap<String, String>,
) -> Result<(), Refused> {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let has_key = token.strip_prefix("Bearer ").is_some_and(|key| key == shared.keys.api_key);
    let secret = shared.ledger().intents.get(id).map(|entry| entry.client_secret.clone());
    let has_secret = action == "confirm" && secret.is_some() && form.get("client_secret") == secret.as_ref();
    if has_key || has_secret {
        Ok(())
    } else {
        Err((
            401,
            "unauthorized",
            "Send the account's key as a bearer token, or the client_secret to confirm.".to_owned(),
        ))
    }
}

/// The fields of a form.
fn fields(body: &[u8]) -> BTreeMap<String, String> {
    form_urlencoded::parse(body).into_owned().collect()
}

fn refusal((status, code, message): Refused) -> Response {
    reply(status, json!({ "error": { "type": "invalid_request_error", "code": code, "message": message } }))
}

fn reply(status: u16, body: Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A page of the shop, which is of another origin, confirms payments here, as at Stripe.
    (status, [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")], axum::Json(body)).into_response()
}
