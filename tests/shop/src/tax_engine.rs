//! A tax engine that speaks Till's protocol, and a shop that asks it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::deployed::{deployed, set_variable};
use crate::queue::drain_source;
use crate::{Shop, uncounted};

/// The secret with the engine's token, by its ARN.
const SECRET: (&str, &str) =
    ("arn:aws:secretsmanager:us-east-1:000000000000:secret:till-local-taxes", r#"{"token": "the token"}"#);

pub struct TaxEngine {
    url: String,
    desk: Arc<Mutex<Desk>>,
    serving: JoinHandle<()>,
}

struct Desk {
    says: Says,
    asked: Vec<Value>,
}

#[derive(Clone)]
pub enum Says {
    /// The tax of this rate in hundredths of a percent on each amount, rounded up.
    Rate(u64),
    /// This instead of the tax of 10 %.
    Other(fn(Value) -> Value),
    /// This status, and no JSON.
    Status(u16),
    /// Nothing, for longer than anybody waits.
    Nothing,
}

fn tax(rate: u64, amount: &Value) -> Value {
    json!({ "rate": rate, "tax": (amount.as_u64().expect("an amount") * rate).div_ceil(10_000) })
}

fn answer(rate: u64, question: &Value) -> Value {
    let lines = question["lines"].as_array().expect("lines").iter().rev().map(|line| {
        let mut said = tax(rate, &line["amount"]);
        said["productId"] = line["productId"].clone();
        said
    });
    let mut answer = json!({ "lines": lines.collect::<Vec<_>>() });
    if let Some(shipping) = question.get("shipping") {
        answer["shipping"] = tax(rate, shipping);
    }
    answer
}

impl TaxEngine {
    /// Starts an engine that says 10 % of everything.
    pub async fn start() -> Self {
        let desk = Arc::new(Mutex::new(Desk { says: Says::Rate(1000), asked: Vec::new() }));
        let of_server = desk.clone();
        let say = async move |headers: HeaderMap, body: String| {
            assert_eq!(
                headers.get("authorization").map(axum::http::HeaderValue::as_bytes),
                Some(&b"Bearer the token"[..])
            );
            let question: Value = serde_json::from_str(&body).expect("JSON");
            let says = {
                let mut desk = of_server.lock().unwrap_or_else(PoisonError::into_inner);
                desk.asked.push(question.clone());
                desk.says.clone()
            };
            match says {
                Says::Rate(rate) => (StatusCode::OK, answer(rate, &question).to_string()),
                Says::Other(change) => (StatusCode::OK, change(answer(1000, &question)).to_string()),
                Says::Status(status) => (StatusCode::from_u16(status).expect("a status"), "<html>".to_owned()),
                Says::Nothing => {
                    tokio::time::sleep(Duration::from_mins(1)).await;
                    (StatusCode::OK, String::new())
                }
            }
        };
        let router = Router::new().route("/taxes", post(say));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/taxes", listener.local_addr().expect("an address"));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { url, desk, serving }
    }

    pub fn says(&self, says: Says) {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner).says = says;
    }

    /// The questions since this was last called.
    pub fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner).asked)
    }
}

impl Drop for TaxEngine {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Shop {
    /// A German shop with the customer ada whose taxes this engine says. Nothing drains the queue.
    pub async fn open_taxed_by(engine: &TaxEngine, prices_include_tax: bool) -> Self {
        let prices = if prices_include_tax { "true" } else { "false" };
        let parameters = [
            ("TaxCountry", "DE"),
            ("PricesIncludeTax", prices),
            ("TaxEngine", "http://taxes.invalid"),
            ("TaxEngineSecretArn", SECRET.0),
        ];
        let mut template = uncounted(deployed(&parameters));
        set_variable(&mut template, "TAX_ENGINE", &engine.url);
        drain_source(&mut template).enabled = false;
        let secrets = BTreeMap::from([(SECRET.0.to_owned(), SECRET.1.to_owned())]);
        let shop = Self::start_with(template, secrets, |functions| functions).await;
        shop.sign_up("ada").await;
        shop
    }
}
