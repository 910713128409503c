//! The provider's HTTP API.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use jiff::Timestamp;
use serde_json::Value;

use super::act::{self, Act, Answer, Call};
use super::ledger::{Form, Kept};
use super::refused::Refused;
use super::{Ledger, Shared};

/// The time that a slow answer takes, in seconds.
const SLOW_SECONDS: u32 = 2;

/// The time after which a refund fails that succeeded at first.
const REFUND_FAILS_AFTER: Duration = Duration::from_secs(2);

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new().route("/_pretend/{act}", post(happen)).fallback(serve).with_state(shared)
}

struct Request<'a> {
    call: Call,
    path: &'a str,
    /// The id in the path. Empty if there is none.
    id: &'a str,
    form: Form,
    /// The bearer token. Empty if there is none.
    token: &'a str,
    /// The idempotency key. Only requests that change something have one.
    key: Option<&'a str>,
}

async fn serve(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some((call, id)) = Call::of(&method, uri.path()) else {
        return refusal(&Refused::unknown(&method, uri.path()));
    };
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let token =
        text(header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let key = text("idempotency-key").filter(|_| method == Method::POST);
    let form = fields([&*body, uri.query().unwrap_or_default().as_bytes()]);
    let (answer, response) = carry_out(&shared, &Request { call, path: uri.path(), id, form, token, key });
    match answer {
        Some(Answer::Slow) => tokio::time::sleep(Duration::from_secs(SLOW_SECONDS.into())).await,
        // A body that fails before its first byte ends the connection without an answer.
        Some(Answer::Cut) => return Body::from_stream(stream::iter([Err::<Bytes, _>("cut")])).into_response(),
        _ => {}
    }
    response
}

/// Carries out a request, once for each idempotency key. Returns the response, and the unusual answer that is switched on.
fn carry_out(shared: &Arc<Shared>, request: &Request<'_>) -> (Option<Answer>, Response) {
    let mut ledger = shared.ledger();
    if !is_allowed(shared, &ledger, request) {
        return (None, refusal(&Refused::unauthorized()));
    }
    let (now, fingerprint) = (Timestamp::now().as_second(), Ledger::fingerprint(request.path, &request.form));
    if let Some(key) = request.key
        && let Some(kept) = ledger.answer_of(key, now)
    {
        let response = if kept.request != fingerprint {
            refusal(&Refused::other_request(key))
        } else if now < kept.at {
            refusal(&Refused::key_in_use())
        } else {
            ([("idempotent-replayed", "true")], reply(kept.status, kept.body.clone())).into_response()
        };
        return (None, response);
    }
    let answer = ledger.switches.take(request.call);
    let changed = match answer.and_then(Answer::refusal) {
        Some(refused) => Err(refused),
        None => request.call.refuse_unknown(&request.form).and_then(|()| {
            let Request { call, id, form, .. } = request;
            ledger.carry_out(*call, id, form)
        }),
    };
    let (mut status, mut body, events, mut is_kept) = match changed {
        Ok(change) => (change.status, change.body, change.events, true),
        Err(refused) => (refused.status, refused.body(), Vec::new(), refused.is_kept),
    };
    match answer {
        Some(Answer::ServerErrorAfterwards) => (status, body, is_kept) = (500, Refused::server_error().body(), true),
        Some(Answer::RefundFails) => {
            let (shared, refund) = (Arc::clone(shared), body["id"].as_str().unwrap_or_default().to_owned());
            tokio::spawn(async move {
                tokio::time::sleep(REFUND_FAILS_AFTER).await;
                // The refund was refused, or a person has ended it meanwhile.
                _ = shared.happen(Act::FailRefund { refund });
            });
        }
        _ => {}
    }
    if let Some(key) = request.key.filter(|_| is_kept) {
        let at = if answer == Some(Answer::Slow) { now + i64::from(SLOW_SECONDS) } else { now };
        ledger.keep_answer(key, Kept { at, request: fingerprint, status, body: body.clone() });
    }
    let events = ledger.tell(events, request.key);
    if request.call.is_write() || answer.is_some() {
        shared.keep(&ledger, events);
    }
    (answer, reply(status, body))
}

/// Whether the request has the account's key. A browser, which has no key, confirms with the intent's client secret.
fn is_allowed(shared: &Shared, ledger: &Ledger, request: &Request<'_>) -> bool {
    let secret = ledger.intents.get(request.id).map(|entry| &entry.client_secret);
    let has_secret = secret.is_some() && request.form.get("client_secret") == secret;
    request.token == shared.keys.api_key || has_secret && request.call == Call::ConfirmIntent
}

/// Lets an act happen that no request of the shop causes, with fields in JSON or in a form.
async fn happen(
    State(shared): State<Arc<Shared>>,
    Path(act): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // The console has forms for people. No page may come here.
    if headers.contains_key("sec-fetch-site") {
        return refusal(&Refused::unauthorized());
    }
    match act::read(act, &body)
        .map_err(|error| Refused::malformed(error.to_string()))
        .and_then(|act| shared.happen(act))
    {
        Ok(body) => reply(200, body),
        Err(refused) => refusal(&refused),
    }
}

/// The fields of a form and a query. A field that is repeated, such as `expand[]`, has its values with commas between them.
pub(super) fn fields<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Form {
    let mut fields = Form::new();
    for (name, value) in texts.into_iter().flat_map(form_urlencoded::parse) {
        let known = fields.entry(name.into_owned()).or_default();
        *known = if known.is_empty() { value.into_owned() } else { format!("{known},{value}") };
    }
    fields
}

fn refusal(refused: &Refused) -> Response {
    reply(refused.status, refused.body())
}

fn reply(status: u16, body: Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A page of the shop, which is of another origin, confirms payments here, as at Stripe.
    (status, [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")], axum::Json(body)).into_response()
}
