//! The pretend provider keeps to Stripe's rules.
#![allow(clippy::expect_used, reason = "tests")]

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use devstack::wait::until;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::Mutex as AsyncMutex;

use super::ledger::{Form, KEPT_SECONDS, Kept};
use super::*;

mod troubles;

const VISA: &str = "pm_card_visa";
const POOR: &str = "4000 0000 0000 9995";

/// A provider, and a client that has its key.
struct Shop {
    provider: PretendProvider,
    client: reqwest::Client,
}

impl Shop {
    async fn open(file: Option<&Path>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let provider = PretendProvider::start(listener, Keys::random(), file).expect("it starts");
        Self { provider, client: reqwest::Client::new() }
    }

    async fn post(&self, path: &str, key: &str, form: &[(&str, &str)]) -> (u16, Value) {
        let (status, _, body) = self.post_whole(path, key, form).await;
        (status, body)
    }

    async fn post_whole(&self, path: &str, key: &str, form: &[(&str, &str)]) -> (u16, HeaderMap, Value) {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut request = self.client.post(format!("{}/v1/{path}", self.provider.url())).body(form);
        request = request.bearer_auth(&self.provider.shared.keys.api_key);
        if !key.is_empty() {
            request = request.header("idempotency-key", key);
        }
        let answer = request.send().await.expect("an answer");
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        (status, headers, answer.json().await.expect("JSON"))
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.client.get(format!("{}/v1/{path}", self.provider.url()));
        let answer = request.bearer_auth(&self.provider.shared.keys.api_key).send().await.expect("an answer");
        answer.json().await.expect("JSON")
    }

    /// Starts a payment, and returns its id.
    async fn start(&self, key: &str, amount: &str) -> String {
        let form =
            [("amount", amount), ("currency", "eur"), ("capture_method", "manual"), ("metadata[orderId]", "o-1")];
        let (status, intent) = self.post("payment_intents", key, &form).await;
        assert_eq!(status, 200, "{intent}");
        intent["id"].as_str().expect("an id").to_owned()
    }

    async fn act(&self, id: &str, action: &str, key: &str, form: &[(&str, &str)]) -> (u16, Value) {
        self.post(&format!("payment_intents/{id}/{action}"), key, form).await
    }

    /// A payment of 1,000 that is authorized.
    async fn authorized(&self) -> String {
        let id = self.start("", "1000").await;
        assert_eq!(self.act(&id, "confirm", "", &[("payment_method", VISA)]).await.0, 200);
        id
    }

    /// The types of the events that wait for the API.
    fn told(&self) -> Vec<String> {
        let mut events: Vec<_> = self.provider.ledger().unsent().map(|event| event["type"].to_string()).collect();
        events.sort();
        events
    }
}

#[tokio::test]
async fn the_same_key_and_request_get_the_same_answer() {
    let shop = Shop::open(None).await;
    let id = shop.start("k", "1000").await;
    assert_eq!(shop.start("k", "1000").await, id);
    assert_ne!(shop.start("l", "1000").await, id);
    let form = [("amount", "999"), ("currency", "eur"), ("capture_method", "manual"), ("metadata[orderId]", "o-1")];
    let (status, error) = shop.post("payment_intents", "k", &form).await;
    assert_eq!((status, &error["error"]["type"]), (400, &json!("idempotency_error")));
    // The same key on another path is another request, too.
    let (status, error) = shop.act(&id, "cancel", "k", &[]).await;
    assert_eq!((status, &error["error"]["type"]), (400, &json!("idempotency_error")));

    shop.act(&id, "confirm", "", &[("payment_method", VISA)]).await;
    let path = format!("payment_intents/{id}/capture");
    let (_, first_headers, first) = shop.post_whole(&path, "c", &[("amount_to_capture", "1000")]).await;
    let (_, headers, again) = shop.post_whole(&path, "c", &[("amount_to_capture", "1000")]).await;
    assert_eq!(first, again);
    assert!(!first_headers.contains_key("idempotent-replayed"));
    assert_eq!(headers["idempotent-replayed"], "true");
    assert_eq!(shop.told().len(), 2, "the capture was told once");
}

#[tokio::test]
async fn a_refusal_is_kept_unless_the_request_is_malformed() {
    let shop = Shop::open(None).await;
    let id = shop.start("", "1000").await;
    // Too early: this key never captures.
    let (status, error) = shop.act(&id, "capture", "early", &[]).await;
    assert_eq!((status, &error["error"]["code"]), (400, &json!("payment_intent_unexpected_state")));
    shop.act(&id, "confirm", "", &[("payment_method", VISA)]).await;
    assert_eq!(shop.act(&id, "capture", "early", &[]).await.0, 400);
    for (field, code) in [("amount_to_capture", "parameter_invalid_integer"), ("amount", "parameter_unknown")] {
        let (_, error) = shop.act(&id, "capture", "malformed", &[(field, "-1")]).await;
        assert_eq!(error["error"]["code"], code);
    }
    let (_, error) = shop.act(&id, "capture", "large", &[("amount_to_capture", "1001")]).await;
    assert_eq!(error["error"]["code"], "amount_too_large");
    assert_eq!(shop.act(&id, "capture", "malformed", &[]).await.0, 200);
}

#[test]
fn an_answer_is_kept_for_a_day() {
    let mut ledger = Ledger::default();
    let request = Ledger::fingerprint("/v1/refunds", &Form::new());
    ledger.keep_answer("k", Kept { at: 100, request, status: 200, body: json!(1) });
    assert!(ledger.answer_of("k", 100 + KEPT_SECONDS - 1).is_some());
    assert!(ledger.answer_of("k", 100 + KEPT_SECONDS).is_none());
}

#[tokio::test]
async fn a_declined_customer_pays_with_another_card() {
    let shop = Shop::open(None).await;
    let id = shop.start("", "1000").await;
    for (card, reason) in [(POOR, "insufficient_funds"), ("4000000000000002", "generic_decline")] {
        let (status, error) = shop.act(&id, "confirm", "", &[("payment_method", card)]).await;
        assert_eq!((status, &error["error"]["decline_code"]), (402, &json!(reason)));
        assert_eq!(shop.get(&format!("payment_intents/{id}")).await["status"], "requires_payment_method");
    }
    let (status, error) = shop.act(&id, "confirm", "", &[("payment_method", "5425233430109903")]).await;
    assert_eq!((status, &error["error"]["code"]), (400, &json!("parameter_invalid")));
    let (status, intent) = shop.act(&id, "confirm", "", &[("payment_method", "4242 4242 4242 4242")]).await;
    assert_eq!(
        (status, &intent["status"], &intent["last_payment_error"]),
        (200, &json!("requires_capture"), &json!(null))
    );
    let failed = "\"payment_intent.payment_failed\"";
    assert_eq!(shop.told(), ["\"payment_intent.amount_capturable_updated\"", failed, failed]);
}

#[tokio::test]
async fn a_payment_method_may_be_named_before_the_confirmation() {
    let shop = Shop::open(None).await;
    let id = shop.start("", "1000").await;
    assert_eq!(shop.act(&id, "confirm", "", &[]).await.0, 400);
    let (status, intent) = shop.post(&format!("payment_intents/{id}"), "", &[("payment_method", VISA)]).await;
    assert_eq!((status, &intent["status"]), (200, &json!("requires_confirmation")));
    assert_eq!(shop.act(&id, "confirm", "", &[]).await.1["status"], "requires_capture");
    assert_eq!(shop.post(&format!("payment_intents/{id}"), "", &[("payment_method", VISA)]).await.0, 400);
}

/// Each row has a status, and whether the actions confirm, capture, cancel and refund are allowed in it.
#[tokio::test]
async fn each_status_allows_its_actions_alone() {
    let shop = Shop::open(None).await;
    let card = |action: &str| Vec::from_iter((action == "confirm").then_some(("payment_method", VISA)));
    for (steps, allowed) in [
        (vec![], [true, false, true, false]),
        (vec!["confirm"], [false, true, true, false]),
        (vec!["confirm", "capture"], [false, false, false, true]),
        (vec!["cancel"], [false, false, false, false]),
        (vec!["confirm", "cancel"], [false, false, false, false]),
    ] {
        for (action, is_allowed) in ["confirm", "capture", "cancel", "refund"].into_iter().zip(allowed) {
            let id = shop.start("", "1000").await;
            for step in &steps {
                assert_eq!(shop.act(&id, step, "", &card(step)).await.0, 200);
            }
            let (status, answer) = match action {
                "refund" => shop.post("refunds", "", &[("payment_intent", &id)]).await,
                action => shop.act(&id, action, "", &card(action)).await,
            };
            assert_eq!(status, if is_allowed { 200 } else { 400 }, "{action} after {steps:?}: {answer}");
        }
    }
}

#[tokio::test]
async fn what_is_not_captured_shows_as_refunded_and_no_more_goes_back_than_came_in() {
    let shop = Shop::open(None).await;
    let id = shop.authorized().await;
    shop.act(&id, "capture", "", &[("amount_to_capture", "600")]).await;
    let whole = shop.get(&format!("payment_intents/{id}?expand[]=latest_charge")).await;
    assert_eq!((&whole["amount_received"], &whole["latest_charge"]["amount_refunded"]), (&json!(600), &json!(400)));
    assert!(shop.get(&format!("payment_intents/{id}")).await["latest_charge"].is_string());
    for (amount, expected) in [("601", 400), ("200", 200), ("401", 400), ("400", 200), ("1", 400)] {
        let (status, answer) = shop.post("refunds", "", &[("payment_intent", &id), ("amount", amount)]).await;
        assert_eq!(status, expected, "{amount}: {answer}");
    }
    let ledger = shop.provider.ledger();
    let entry = ledger.of_order("o-1").next().expect("an intent");
    assert_eq!((entry.captured, entry.refunded, entry.held()), (600, 600, 0));
}

#[tokio::test]
async fn an_authorization_that_lapses_is_told_and_released() {
    let shop = Shop::open(None).await;
    let id = shop.authorized().await;
    shop.provider.let_authorization_lapse(&id).expect("it is authorized");
    assert!(shop.provider.let_authorization_lapse(&id).is_err());
    assert_eq!(shop.act(&id, "capture", "", &[]).await.0, 400);
    let told = ["\"charge.refunded\"", "\"payment_intent.amount_capturable_updated\"", "\"payment_intent.canceled\""];
    assert_eq!(shop.told(), told);
}

#[tokio::test]
async fn an_amount_below_the_minimum_of_its_currency_is_refused() {
    let shop = Shop::open(None).await;
    for (currency, least) in [("eur", 50), ("usd", 50), ("gbp", 30), ("sek", 300)] {
        for (amount, expected) in [(least - 1, 400), (least, 200)] {
            let form = [("amount", &*amount.to_string()), ("currency", currency), ("capture_method", "manual")];
            let (status, answer) = shop.post("payment_intents", "", &form).await;
            assert_eq!(status, expected, "{amount} {currency}: {answer}");
            assert!(status == 200 || answer["error"]["code"] == "amount_too_small", "{answer}");
        }
    }
}

#[tokio::test]
async fn a_stranger_is_refused_and_a_browser_may_confirm() {
    let shop = Shop::open(None).await;
    let id = shop.start("", "1000").await;
    let secret = shop.provider.ledger().intents[&id].client_secret.clone();
    let send = async |action: &str, secret: &str| {
        let url = format!("{}/v1/payment_intents/{id}/{action}", shop.provider.url());
        let form = format!("client_secret={secret}&payment_method={VISA}");
        shop.client.post(url).body(form).send().await.expect("an answer").status().as_u16()
    };
    assert_eq!(send("confirm", "guessed").await, 401);
    assert_eq!(send("capture", &secret).await, 401);
    assert_eq!(send("confirm", &secret).await, 200);
}

#[tokio::test]
async fn a_page_that_rebinds_its_name_is_refused() {
    let shop = Shop::open(None).await;
    let request = shop.client.get(format!("{}/", shop.provider.url())).header("host", "evil.example");
    assert_eq!(request.send().await.expect("an answer").status(), StatusCode::MISDIRECTED_REQUEST);
}

/// An API that takes webhooks after refusing some, and remembers their types.
async fn api(refusals: usize) -> (String, Arc<AsyncMutex<Vec<String>>>) {
    let taken = Arc::new(AsyncMutex::new(Vec::new()));
    let (inside, left) = (Arc::clone(&taken), Arc::new(AsyncMutex::new(refusals)));
    let take = post(async move |body: axum::Json<Value>| {
        let mut left = left.lock().await;
        if *left > 0 {
            *left -= 1;
            return StatusCode::INTERNAL_SERVER_ERROR;
        }
        inside.lock().await.push(body["type"].as_str().expect("a type").to_owned());
        StatusCode::NO_CONTENT
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(axum::serve(listener, Router::new().route("/", take)).into_future());
    (url, taken)
}

/// Waits until every webhook is taken.
async fn all_taken(provider: &PretendProvider) {
    until("the webhooks are taken", async || provider.ledger().unsent().next().is_none()).await;
}

#[tokio::test]
async fn a_webhook_is_sent_until_it_is_taken() {
    let mut shop = Shop::open(None).await;
    let (url, taken) = api(3).await;
    shop.authorized().await;
    shop.provider.send_webhooks_to(&url);
    all_taken(&shop.provider).await;
    assert_eq!(*taken.lock().await, ["payment_intent.amount_capturable_updated"]);
}

#[tokio::test]
async fn a_webhook_survives_a_restart_of_the_provider() {
    let file = std::env::temp_dir().join(format!("till-payments-{}.json", Uuid::new_v4()));
    let id = Shop::open(Some(&file)).await.authorized().await;
    let mut shop = Shop::open(Some(&file)).await;
    assert_eq!(shop.get(&format!("payment_intents/{id}")).await["status"], "requires_capture");
    let (url, taken) = api(0).await;
    shop.provider.send_webhooks_to(&url);
    all_taken(&shop.provider).await;
    assert_eq!(taken.lock().await.len(), 1);
    assert_eq!(Shop::open(Some(&file)).await.provider.ledger().unsent().count(), 0);
    std::fs::remove_file(&file).expect("the file is there");
}

#[tokio::test]
async fn events_that_nobody_took_are_listed_the_newest_first() {
    let mut shop = Shop::open(None).await;
    for _ in 0..2 {
        let id = shop.authorized().await;
        shop.act(&id, "capture", "", &[]).await;
    }
    let (now, all) = (Timestamp::now().as_second(), "events?delivery_success=false");
    let types = async |query: &str| {
        let list = shop.get(&format!("{all}{query}")).await;
        list["data"].as_array().expect("a list").iter().map(|event| event["type"].clone()).collect::<Vec<_>>()
    };
    let (succeeded, capturable) = ("payment_intent.succeeded", "payment_intent.amount_capturable_updated");
    assert_eq!(types("").await, [succeeded, capturable, succeeded, capturable]);
    assert_eq!(types("&types[]=charge.refunded&types[]=payment_intent.succeeded").await, [succeeded, succeeded]);
    assert_eq!(types(&format!("&created[gte]={}", now - 60)).await.len(), 4);
    assert_eq!(types(&format!("&created[gte]={}", now + 60)).await.len(), 0);
    let first = shop.get(&format!("{all}&limit=3")).await;
    let last = first["data"][2]["id"].as_str().expect("an id");
    assert_eq!((&first["has_more"], types(&format!("&starting_after={last}")).await.len()), (&json!(true), 1));
    assert_eq!(shop.get("events").await["error"]["code"], "parameter_invalid");
    let (url, _) = api(0).await;
    shop.provider.send_webhooks_to(&url);
    all_taken(&shop.provider).await;
    assert_eq!(shop.get(all).await["data"], json!([]));
}
