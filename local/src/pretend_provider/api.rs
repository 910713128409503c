//! The provider's HTTP API.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::ledger::{Changed, Form, Kept, Refused};
use super::{Ledger, Shared, page};

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
        .route("/v1/payment_intents/{id}", get(act).post(act))
        .route("/v1/payment_intents/{id}/{action}", post(act))
        .route("/v1/refunds", post(act))
        .fallback(async |method: Method, uri: Uri| refusal(&Refused::unknown(&method, uri.path())))
        .with_state(Served { shared, url })
}

/// A request of the API.
struct Call<'a> {
    method: Method,
    path: &'a str,
    /// The intent in the path. Empty if there is none.
    id: &'a str,
    /// The action in the path. Empty if there is none.
    action: &'a str,
    form: Form,
}

/// Carries out a request, once for each idempotency key.
async fn act(
    State(Served { shared, .. }): State<Served>,
    path: Option<Path<BTreeMap<String, String>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let names = path.map(|Path(path)| path).unwrap_or_default();
    let name = |name: &str| names.get(name).map_or("", String::as_str);
    let mut form = fields(&body);
    form.extend(fields(uri.query().unwrap_or_default().as_bytes()));
    let call = Call { method, path: uri.path(), id: name("id"), action: name("action"), form };
    let mut ledger = shared.ledger();
    if !is_allowed(&shared, &ledger, &headers, &call) {
        return refusal(&Refused::unauthorized());
    }
    let key = headers.get("idempotency-key").filter(|_| call.method == Method::POST);
    let key = key.and_then(|key| key.to_str().ok());

    let (now, request) = (Timestamp::now().as_second(), Ledger::fingerprint(call.path, &call.form));
    match key.and_then(|key| ledger.answer_of(key, now)) {
        Some(kept) if kept.request != request => return refusal(&Refused::other_request(key.unwrap_or_default())),
        Some(kept) => {
            let replayed = [("idempotent-replayed", "true")];
            return (replayed, reply(kept.status, kept.body.clone())).into_response();
        }
        None => {}
    }
    let changed = carry_out(&mut ledger, &call);
    let (status, body, events, is_kept) = match changed {
        Ok(change) => (change.status, change.body, change.events, true),
        Err(refused) => (refused.status, refused.body(), Vec::new(), refused.is_kept),
    };
    if let Some(key) = key.filter(|_| is_kept) {
        ledger.keep_answer(key, Kept { at: now, request, status, body: body.clone() });
    }
    let events = ledger.tell(events, key);
    if call.method == Method::POST {
        shared.keep(&ledger, events);
    }
    reply(status, body)
}

fn carry_out(ledger: &mut Ledger, call: &Call<'_>) -> Changed {
    match (call.path, call.action) {
        ("/v1/payment_intents", _) => ledger.create(&call.form),
        ("/v1/refunds", _) => ledger.refund(&call.form),
        (_, "") if call.method == Method::POST => ledger.update(call.id, &call.form),
        (_, "") => ledger.look_at(call.id, &call.form),
        (_, "confirm") => ledger.confirm(call.id, &call.form),
        (_, "capture") => ledger.capture(call.id, &call.form),
        (_, "cancel") => ledger.cancel(call.id),
        _ => Err(Refused::unknown(&call.method, call.path)),
    }
}

/// Whether the request has the account's key. A browser, which has no key, confirms with the intent's client secret.
fn is_allowed(shared: &Shared, ledger: &Ledger, headers: &HeaderMap, call: &Call<'_>) -> bool {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let has_key = token.strip_prefix("Bearer ").is_some_and(|key| key == shared.keys.api_key);
    let secret = ledger.intents.get(call.id).map(|entry| &entry.client_secret);
    let has_secret = secret.is_some() && call.form.get("client_secret") == secret;
    has_key || has_secret && call.action == "confirm"
}

/// The fields of a form or a query.
fn fields(text: &[u8]) -> Form {
    form_urlencoded::parse(text).into_owned().collect()
}

fn refusal(refused: &Refused) -> Response {
    reply(refused.status, refused.body())
}

fn reply(status: u16, body: Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A page of the shop, which is of another origin, confirms payments here, as at Stripe.
    (status, [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")], axum::Json(body)).into_response()
}

impl Refused {
    fn unauthorized() -> Self {
        let message = "Send the account's key as a bearer token, or the client_secret to confirm.";
        Self::new(401, None, message.to_owned())
    }

    fn unknown(method: &Method, path: &str) -> Self {
        Self::new(404, None, format!("The pretend payment provider does not know {method} {path}."))
    }

    fn other_request(key: &str) -> Self {
        let message = format!(
            "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a \
             key other than '{key}' if you meant to execute a different request."
        );
        Self { kind: "idempotency_error", ..Self::new(400, None, message) }
    }

    /// The error as the API shows it.
    fn body(&self) -> Value {
        let mut error = json!({ "type": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["code"] = json!(code);
        }
        json!({ "error": error })
    }
}
