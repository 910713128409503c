//! The shop's clients: each request is retried until it is answered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use key_schema::value::Timestamp;
use local::audit::audit;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::books::{Books, State};
use super::process::Process;
use super::reckoning::Reckoning;
use super::storm::Storm;
use crate::workspace;

pub(super) const CUSTOMERS: usize = 12;
pub(super) const PRODUCTS: usize = 16;
pub(super) const CARDS: usize = 40;

/// The initial units of each product: some are soon sold out.
const UNITS: i64 = 400;

/// Longer than the gateway waits for a function.
const PATIENCE: Duration = Duration::from_secs(35);

/// Longer than the timeout of a function on a schedule.
const LONGEST_RUN: Duration = Duration::from_mins(5);

pub(super) struct Shop {
    http: Client,
    url: String,
    pub(super) admin: String,
    pub(super) customers: Vec<String>,
    pub(super) books: Arc<Books>,
}

pub(super) struct Ask {
    pub(super) kind: &'static str,
    method: Method,
    path: String,
    token: String,
    headers: Vec<(&'static str, String)>,
    body: Value,
    /// The expected answers: status codes, and problems of 4xx.
    expected: &'static [&'static str],
}

pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) answer: String,
    pub(super) body: Value,
}

pub(super) async fn open(process: &Process, books: Arc<Books>) -> Result<Shop> {
    books.is_calm.store(true, Relaxed);
    let http = Client::builder().no_proxy().timeout(PATIENCE).build().context("cannot make an HTTP client")?;
    let mut shop = Shop { http, url: process.url.clone(), admin: String::new(), customers: Vec::new(), books };
    shop.admin = shop.token("boss", "admin").await?;
    let made = |path: &str, id: &str, token: &str, body| {
        let ask = Ask::new("open the shop", Method::POST, path, token).body(body).expecting(&["201"]);
        ask.header("idempotency-key", format!("open-{id}"))
    };
    for number in 0..CUSTOMERS {
        let id = format!("c{number}");
        shop.customers.push(shop.token(&id, "shop").await?);
        let body = json!({ "username": id, "email": format!("{id}@example.com"), "name": id });
        shop.send(&made("/customers", &id, &shop.customers[number], body)).await;
    }
    for number in 0..PRODUCTS {
        let body = json!({
            "productId": product(number), "name": product(number), "description": "", "category": "things",
            "price": { "amount": 100 + number, "currency": "EUR" }, "stock": UNITS,
            "cells": if number % 4 == 0 { 4 } else { 1 },
        });
        shop.send(&made("/products", &product(number), &shop.admin, body)).await;
        shop.books.supply(&product(number), UNITS);
    }
    for number in 0..CARDS {
        let body = json!({ "code": card(number), "balance": { "amount": 20_000, "currency": "EUR" } });
        shop.send(&made("/gift-cards", &card(number), &shop.admin, body)).await;
    }
    for (code, most) in [("MANY", None), ("FEW", Some(100))] {
        let body = json!({ "code": code, "percent": 10, "maxUses": most });
        shop.send(&made("/discounts", code, &shop.admin, body)).await;
    }
    let complaints = shop.books.complaints();
    ensure!(complaints.is_empty(), "the shop cannot be opened: {}", complaints.join(", "));
    Ok(shop)
}

pub(super) fn product(number: usize) -> String {
    format!("product-{number}")
}

pub(super) fn card(number: usize) -> String {
    format!("GIFT-CARD-{number:03}")
}

impl Ask {
    pub(super) fn new(kind: &'static str, method: Method, path: impl Into<String>, token: &str) -> Self {
        let (path, token) = (path.into(), token.to_owned());
        Self { kind, method, path, token, headers: Vec::new(), body: Value::Null, expected: &["200"] }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn body(self, body: Value) -> Self {
        Self { body, ..self }
    }

    pub(super) fn expecting(self, expected: &'static [&'static str]) -> Self {
        Self { expected, ..self }
    }
}

impl Shop {
    async fn token(&self, sub: &str, scope: &str) -> Result<String> {
        let asked = self.http.post(format!("{}/_local/token", self.url)).json(&json!({ "sub": sub, "scope": scope }));
        let answer: Value = asked.send().await?.json().await?;
        Ok(answer["token"].as_str().context("a token")?.to_owned())
    }

    /// Sends a request until it gets a final answer.
    pub(super) async fn send(&self, ask: &Ask) -> Reply {
        let mut pause = Duration::from_millis(50);
        loop {
            if let Some(reply) = self.try_once(ask).await {
                self.books.answered(ask.kind, reply.answer.clone());
                if !ask.expected.contains(&reply.answer.as_str()) {
                    let Ask { method, path, .. } = ask;
                    self.books.complain(format!("{method} {path}: {} {}", reply.status, reply.body));
                }
                return reply;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    async fn try_once(&self, ask: &Ask) -> Option<Reply> {
        let mut request = self.http.request(ask.method.clone(), format!("{}{}", self.url, ask.path));
        request = request.bearer_auth(&ask.token);
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        if !ask.body.is_null() {
            request = request.json(&ask.body);
        }
        let Ok(response) = request.send().await else {
            self.books.repeated(false);
            return None;
        };
        let status = response.status().as_u16();
        let Ok(bytes) = response.bytes().await else {
            self.books.repeated(false);
            return None;
        };
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status == 503 {
            self.books.repeated(true);
            if !matches!(body["outcome"].as_str(), Some("none" | "unknown")) {
                self.books.complain(format!("503 without an outcome: {body}"));
            }
            return None;
        }
        let problem = body["type"].as_str().filter(|_| status >= 400).and_then(|kind| kind.rsplit('/').next());
        let answer = problem.map_or_else(|| status.to_string(), |problem| format!("{status} {problem}"));
        Some(Reply { status, answer, body })
    }

    /// Invokes a function as its schedule does. Returns its report, if there is one.
    pub(super) async fn run_schedule(&self, function: &str) -> Option<Value> {
        let url = format!("{}/_local/scheduled/{function}", self.url);
        let response = self.http.post(url).timeout(LONGEST_RUN).body("{}").send().await.ok()?;
        let status = response.status().as_u16();
        self.books.answered("schedule", format!("{status} {function}"));
        response.json().await.ok().filter(|_| status == 200)
    }

    /// Posts a form once, as a browser does. `None` if there is no answer.
    pub(super) async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Option<u16> {
        let form = form.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let answer = self.http.post(url).header("content-type", "application/x-www-form-urlencoded").body(form);
        Some(answer.send().await.ok()?.status().as_u16())
    }

    /// Compares the table with the books, and with the provider's ledger. Returns the numbers of items and orders, and a
    /// line about the money.
    pub(super) async fn check(&self, process: &Process, storm: &Storm) -> Result<(u64, u64, String)> {
        let operator = workspace::operator_of(&process.dynamodb_url, workspace::template()?.table_name());
        let mut reckoning = Reckoning::of(&operator, storm, &self.books)?;
        let mut sold = BTreeMap::<String, i64>::new();
        let mut placed = 0_u64;
        for order in self.books.orders() {
            let ask = Ask::new("look at the end", Method::GET, format!("/orders/{}", order.id), &self.admin);
            let reply = self.send(&ask.expecting(&["200", "404 not-found"])).await;
            let status = reply.body["status"].as_str().filter(|_| reply.status == 200).unwrap_or("nothing");
            let is_right = match &order.state {
                State::Placed => !["nothing", "QUEUED", "REJECTED", "CANCELLED"].contains(&status),
                State::ByCard => !["nothing", "QUEUED", "REJECTED"].contains(&status),
                State::Cancelled => status == "CANCELLED",
                // One that is not to be paid later expires.
                State::Accepted if reply.body["payLater"] != true => !["nothing", "QUEUED"].contains(&status),
                State::Accepted => !["nothing", "QUEUED", "CANCELLED"].contains(&status),
                State::Refused(_) => ["nothing", "REJECTED"].contains(&status),
            };
            if !is_right {
                self.books.complain(format!("order {} was {:?}, and is {status}", order.id, order.state));
            }
            if ["nothing", "QUEUED", "REJECTED"].contains(&status) {
                continue;
            }
            placed += 1;
            let credited = reckoning.judge(&order.id).await?;
            if status != "CANCELLED" {
                for (product, quantity) in order.lines {
                    let quantity = quantity - credited.get(&product).copied().unwrap_or_default();
                    *sold.entry(product).or_default() += quantity;
                }
            }
        }
        for (product, supplied) in self.books.supplied() {
            let ask = Ask::new("look at the end", Method::GET, format!("/products/{product}"), &self.admin);
            let available = self.send(&ask).await.body["available"].as_i64().unwrap_or(-1);
            let sold = sold.get(&product).copied().unwrap_or_default();
            if available + sold != supplied {
                let what = format!("{product}: {available} in stock and {sold} sold are not {supplied} supplied");
                self.books.complain(what);
            }
        }
        let money = reckoning.close();
        let report = audit(&operator, Timestamp::now(), |_| ()).await?;
        for breach in &report.breaches {
            self.books.complain(breach.to_string());
        }
        if report.orders != placed {
            self.books.complain(format!("{} orders are in the table, and {placed} were answered", report.orders));
        }
        ensure!(report.items > 0, "the table is empty");
        Ok((report.items, report.orders, money))
    }
}
