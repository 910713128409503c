//! A payment provider that speaks Stripe's protocol: the laptop's pretend provider, or the one that the environment names;
//! and faulty wires between the shop and its provider.

use std::env;
use std::sync::Arc;

use devstack::gateway::Invoke;
use form_urlencoded::Serializer;
use key_schema::value::Timestamp;
use reqwest::Client as Http;
use serde_json::{Value, json};

use crate::aws_json::{self, OPERATOR};
use crate::invocations::Invocations;
use crate::kills::Kills;
use crate::wire::Wire;
use crate::{Reply, Shop, until};

/// The base URL of another provider than the pretend one, and its API key.
const URL: &str = "TILL_PAYMENTS_URL";
const KEY: &str = "TILL_PAYMENTS_KEY";

/// A provider, as a program with its API key sees it.
pub struct Provider {
    http: Http,
    url: String,
    key: String,
    /// The wire on which the provider sends webhooks. `None` if the provider cannot be told where to send them.
    pub(crate) webhooks: Option<Wire>,
}

impl Provider {
    /// The provider that the environment names, with its keys, if there is one.
    pub(crate) fn of_environment() -> Option<(String, String)> {
        let url = env::var(URL).ok().filter(|url| !url.is_empty())?;
        Some((url, env::var(KEY).unwrap_or_else(|_| panic!("{URL} is set, and {KEY} is not"))))
    }

    pub(crate) fn new(url: &str, key: &str) -> Self {
        Self { http: Http::new(), url: url.to_owned(), key: key.to_owned(), webhooks: None }
    }

    /// Asks localstripe to send its webhooks to this wire. Other providers have no such request.
    pub(crate) async fn send_webhooks_to(&mut self, wire: Wire, secret: &str) {
        let url = format!("{}/_config/webhooks/{}", self.url, wire.url().rsplit(':').next().unwrap_or_default());
        let body = json!({ "url": format!("{}/payment-events", wire.url()), "secret": secret });
        let answer = self.http.post(url).json(&body).send().await.expect("the provider answers");
        self.webhooks = answer.status().is_success().then_some(wire);
    }

    /// Sends a request of Stripe's API. Returns status and answer.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> (u16, Value) {
        let form = Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.http.post(format!("{}/v1/{path}", self.url)).bearer_auth(&self.key);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer = request.send().await.expect("the provider answers");
        (answer.status().as_u16(), answer.json().await.expect("JSON"))
    }

    pub async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}/v1/{path}", self.url)).bearer_auth(&self.key);
        request.send().await.expect("the provider answers").json().await.expect("JSON")
    }
}

/// What can go wrong around a shop and its provider. Nothing does until [`Faults::begin`].
pub struct Faults {
    pub(crate) to_provider: Wire,
    pub(crate) to_shop: Wire,
    pub kills: Arc<Kills>,
    pub invocations: Arc<Invocations>,
}

impl Faults {
    /// From now on, these shares of requests fail and of invocations are killed.
    pub fn begin(&self, faulty: f64, killed: f64, seed: u64) {
        self.to_provider.fail(faulty, seed);
        self.to_shop.fail(faulty, seed + 1);
        self.kills.begin(killed, seed + 2);
    }

    /// From now on everything works.
    pub fn end(&self) {
        self.to_provider.heal();
        self.to_shop.heal();
        self.kills.end();
    }

    /// The same function, whose invocations are known and can be killed.
    pub fn suffered_by(&self, invoke: Invoke) -> Invoke {
        self.invocations.known(self.kills.mortal(invoke))
    }

    /// Whether no request is under way on the wires.
    pub fn are_idle(&self) -> bool {
        self.to_provider.is_idle() && self.to_shop.is_idle()
    }

    /// The number of requests that suffered a fault.
    pub fn suffered(&self) -> usize {
        self.to_provider.suffered() + self.to_shop.suffered()
    }
}

impl Shop {
    /// Waits until the API has taken a webhook, if the provider sends any. No webhook may be refused.
    pub async fn await_webhook(&self, provider: &Provider) {
        let Some(wire) = &provider.webhooks else { return };
        until("a webhook arrives", async || !wire.statuses().is_empty()).await;
        let statuses = wire.statuses();
        assert!(statuses.iter().all(|status| *status == 204), "{statuses:?}");
    }

    pub async fn run_schedule(&self, function: &str) -> Reply {
        let url = format!("{}/_local/scheduled/{function}", self.url());
        let answer = self.http.post(url).body("{}").send().await.expect("the gateway answers");
        let status = answer.status().as_u16();
        Reply { status, headers: [].into(), body: answer.json().await.expect("JSON") }
    }

    /// Makes every payment that is due, and every failure at the provider, older than the times for which the schedule leaves
    /// them alone, directly in the table.
    pub async fn age_payments_due(&self) {
        age_payments_due(self.dynamodb_url(), self.table()).await;
    }

    /// Makes all marks this many days old, directly in the table.
    pub async fn age_payments_due_by(&self, days: u32) {
        let at = Timestamp::now().minus_seconds(days * 24 * 60 * 60).to_string();
        date_payments_due(self.dynamodb_url(), self.table(), &at).await;
    }
}

pub async fn age_payments_due(dynamodb: &str, table: &str) {
    let at = "2026-01-01T00:00:00.000Z";
    for invoice in date_payments_due(dynamodb, table, at).await {
        let payments = invoice["payments"]["L"].as_array().into_iter().flatten().enumerate();
        let failed = payments.filter(|(_, it)| it["M"]["provider"]["M"]["failedAt"].is_object());
        for path in failed.map(|(place, _)| format!("payments[{place}].provider.failedAt")) {
            let update = json!({
                "TableName": table,
                "Key": { "PK": invoice["PK"], "SK": invoice["SK"] },
                "UpdateExpression": format!("SET {path} = :at"),
                "ConditionExpression": format!("attribute_exists({path})"),
                "ExpressionAttributeValues": { ":at": { "S": at } },
            });
            aws_json::call(&Http::new(), dynamodb, OPERATOR, "DynamoDB_20120810.UpdateItem", &update).await;
        }
    }
}

/// Dates all marks, and returns the other items of the table.
async fn date_payments_due(dynamodb: &str, table: &str, at: &str) -> Vec<Value> {
    let http = Http::new();
    let (marks, others): (Vec<_>, Vec<_>) =
        aws_json::scan(&http, dynamodb, table).await.into_iter().partition(|it| it["EntityType"]["S"] == "paymentDue");
    for mark in marks {
        let id = mark["orderId"]["S"].as_str().expect("an id");
        let update = json!({
            "TableName": table,
            "Key": { "PK": mark["PK"], "SK": mark["SK"] },
            "UpdateExpression": "SET since = :at, GSI1SK = :gsi1",
            "ConditionExpression": "attribute_exists(PK)",
            "ExpressionAttributeValues": { ":at": { "S": at }, ":gsi1": { "S": format!("{at}#{id}") } },
        });
        // The condition fails if the payment was settled in the meantime.
        aws_json::call(&http, dynamodb, OPERATOR, "DynamoDB_20120810.UpdateItem", &update).await;
    }
    others
}
