//! The measured functions and their events: the samples of `events/`, on the demo shop.

use anyhow::{Context, Result, ensure};
use devstack::Stack;
use local::demo;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::whole;
use crate::workspace::sample;

/// The units added to each product: the most that one adjustment may add.
const UNITS: u32 = 1_000_000;

const PLACE_ORDER: &str = "place-order";
const PRODUCTS: [&str; 2] = ["espresso-cup", "paper-filters"];

/// A function and a sample of its events.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) function: &'static str,
    /// The status of a success.
    pub(super) status: u16,
    sample: Value,
}

impl Subject {
    /// This many events. Each event that places an order places a different one, with a key that begins with `tag`.
    pub(super) fn events(&self, tag: &str, count: u32) -> Vec<Event> {
        let event = |number: u32| {
            let mut event = self.sample.clone();
            if self.function == PLACE_ORDER {
                event["headers"]["idempotency-key"] = json!(format!("{tag}-{number}"));
            }
            Event { event, status: self.status }
        };
        (0..count).map(event).collect()
    }
}

/// One event of a function, and the status of its answer.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) event: Value,
    pub(super) status: u16,
}

impl Event {
    /// The HTTP request that results in this event.
    pub(super) fn request(&self, http: &Client, stack: &str, token: &str) -> Result<RequestBuilder> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let Self { event, .. } = self;
        let method = text(&event["requestContext"]["http"]["method"]).context("an event has no method")?;
        let path = text(&event["rawPath"]).context("an event has no path")?;
        let mut request = http.request(method.parse()?, format!("{stack}{path}"));
        if event["requestContext"].get("authorizer").is_some() {
            request = request.bearer_auth(token);
        }
        if let Some(key) = text(&event["headers"]["idempotency-key"]) {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = text(&event["body"]) {
            request = request.header("content-type", "application/json").body(body);
        }
        Ok(request)
    }
}

/// Opens the demo shop in this stack, and returns the subjects.
pub(super) async fn subjects(stack: &Stack) -> Result<Vec<Subject>> {
    demo::create(stack).await?;
    let http = Client::builder().no_proxy().build().context("cannot make an HTTP client")?;
    let admin = stack.token("measure", http_api::ADMIN_SCOPE)?;
    for product in PRODUCTS {
        let url = format!("{}/products/{product}/stock", stack.url());
        let delivery = http.post(url).bearer_auth(&admin).header("if-match", "*").json(&json!({ "delta": UNITS }));
        let answer = delivery.send().await?;
        ensure!(answer.status().is_success(), "the stock of {product} cannot be adjusted: {}", answer.text().await?);
    }

    let get_product = Subject { function: "get-product", status: 200, sample: sample("get-product")? };
    let mut place_order = Subject { function: PLACE_ORDER, status: 201, sample: sample(PLACE_ORDER)? };
    let lines = PRODUCTS.map(|product| json!({ "productId": product, "quantity": 1 }));
    place_order.sample["body"] = json!(json!({ "lines": lines }).to_string());

    let mut get_order = Subject { function: "get-order", status: 200, sample: sample("get-order")? };
    let placed = whole::one(stack, &place_order.events("first", 1)).await?;
    let id = placed["orderId"].as_str().context("the order has no id")?;
    get_order.sample["rawPath"] = json!(format!("/orders/{id}"));
    get_order.sample["pathParameters"]["orderId"] = json!(id);
    Ok(vec![get_product, place_order, get_order])
}
