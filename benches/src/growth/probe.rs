//! What every route costs in a shop as it is: the requests it makes, the capacity they consume, and how long it takes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use key_schema::value::CustomerId;
use local::Stack;
use local::wire::{Access, Call};
use reqwest::{Client, Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shop::{DISCOUNT, GIFT_CARD, Shop};

/// What one route costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    /// What is asked of DynamoDB: `BatchGetItem, TransactWriteItems`.
    pub(super) requests: String,
    /// Read units.
    pub(super) read: f64,
    /// Write units of the table, of GSI1 and of GSI2.
    pub(super) written: [f64; 3],
}

/// One route, measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    /// What is done, in words.
    pub(super) what: String,
    /// The same every time.
    pub(super) cost: Cost,
    /// The median of the whole request, over HTTP: gateway, function, engine.
    pub(super) route: Duration,
    /// The median of what the engine takes of it.
    pub(super) engine: Duration,
}

/// The stack under measurement, and what was seen of it.
struct Probe<'a> {
    stack: &'a Stack,
    http: Client,
    admin: String,
    seen: Vec<(String, Vec<Sample>)>,
}

struct Sample {
    cost: Cost,
    route: Duration,
    engine: Duration,
}

/// Does everything so many times, and tells what it costs. It changes the table only as a shop does.
///
/// # Errors
/// A route answers an error, or costs another time something else.
pub(super) async fn probe(stack: &Stack, shop: &Shop, rounds: usize) -> Result<Vec<Measured>> {
    let admin = stack.token("measure", edge::ADMIN_SCOPE)?;
    let http = Client::builder().no_proxy().build()?;
    let mut probe = Probe { stack, http, admin, seen: Vec::new() };
    let story = Story::of(shop)?;
    story.prepare(&probe).await?;
    for round in 0..rounds {
        story.read(&mut probe).await.with_context(|| format!("reading, round {round}"))?;
    }
    // On a machine that has no time for it, an engine may not answer within the client's patience. What is left of that round
    // would be about an order that nobody knows of.
    let mut lost = 0;
    for round in 0..rounds {
        if let Err(error) = story.write(&mut probe, round).await {
            lost += 1;
            ensure!(10 * lost <= rounds, "writing, round {round}: {error:#}");
        }
    }
    probe.seen.into_iter().map(|(what, samples)| measured(what, &samples)).collect()
}

/// Whom and what all of it is about: the most eager customer, the most popular product, and an order from the middle. What
/// is written is about the next customer and a gift card of its own, so that the next run reads the same as this one.
struct Story {
    /// Tells this run from earlier ones over the same table. Six digits.
    run: u64,
    shopper: CustomerId,
    product: String,
    gift_card: String,
    reads: Vec<(&'static str, String)>,
}

impl Story {
    fn of(shop: &Shop) -> Result<Self> {
        let placed = shop.order(shop.orders() / 2)?;
        let (order, invoice) = (placed.order.order_id.to_string(), placed.invoice.invoice_id.to_string());
        let (customer, product) = (Shop::customer(0)?.to_string(), Shop::product(0)?.to_string());
        let (first, middle) = (Shop::moment(0)?, Shop::moment(500)?);
        let (week, end) = (Shop::moment(500)?.day(), Shop::moment(700)?.day());
        let category = Shop::CATEGORY;
        // Every page is full in the smallest shop, too.
        let reads = vec![
            ("1 customer by id", format!("/customers/{customer}")),
            ("2 product by id", format!("/products/{product}")),
            ("3 order by id", format!("/orders/{order}")),
            ("4 products of an order", format!("/orders/{order}/products")),
            ("5 invoice of an order", format!("/orders/{order}/invoice")),
            ("6 orders of a product, first page", format!("/products/{product}/orders?from={first}&limit=20")),
            ("6 orders of a product, from the middle", format!("/products/{product}/orders?from={middle}&limit=20")),
            ("7 invoice by id", format!("/invoices/{invoice}")),
            ("8 payments of an invoice", format!("/invoices/{invoice}/payments")),
            ("9 invoices of a customer", format!("/customers/{customer}/invoices?from={first}&limit=10")),
            ("10 products of a customer", format!("/customers/{customer}/products?from={first}&limit=20")),
            ("11 orders of a customer", format!("/customers/{customer}/orders?limit=20")),
            ("12 profile and newest orders", format!("/customers/{customer}/overview")),
            ("13 customer by e-mail", "/customers?email=user-0000000%40example.com".to_owned()),
            ("13 customer by username", "/customers?username=user-0000000".to_owned()),
            ("14 products of a category", format!("/products?category={category}&limit=20")),
            ("15 orders of a status", format!("/orders?status=PENDING&from={first}&limit=10")),
            ("16 flagged orders", "/flagged-orders?limit=20".to_owned()),
            ("17 views and sales of a product", format!("/products/{product}/stats")),
            ("19 gift card and its entries", format!("/gift-cards/{GIFT_CARD}")),
            ("20 discount code", format!("/discounts/{DISCOUNT}")),
            ("21 totals of a week", format!("/totals?from={week}&to={end}")),
        ];
        let run = UNIX_EPOCH.elapsed()?.as_secs() % 1_000_000;
        Ok(Self { run, shopper: Shop::customer(1)?, product, gift_card: format!("GIFT-{run:06}"), reads })
    }

    /// Makes the gift card.
    async fn prepare(&self, probe: &Probe<'_>) -> Result<()> {
        let card = json!({ "code": self.gift_card, "balance": { "amount": 1_000_000_000, "currency": "EUR" } });
        let request = probe.http.post(format!("{}/gift-cards", probe.stack.url())).bearer_auth(&probe.admin);
        request.json(&card).send().await?.error_for_status()?;
        Ok(())
    }

    async fn read(&self, probe: &mut Probe<'_>) -> Result<()> {
        for (what, path) in &self.reads {
            probe.get(what, path).await?;
        }
        Ok(())
    }

    /// An order's whole life, and all else that is written.
    async fn write(&self, probe: &mut Probe<'_>, round: usize) -> Result<()> {
        let Self { run, shopper, product, gift_card, .. } = self;
        let cart = format!("/customers/{shopper}/cart");
        let line = json!({ "lines": [{ "productId": product, "quantity": 1 }] });
        probe.send("put a cart", Method::PUT, &cart, &line).await?;
        probe.get("18 cart of a customer", &cart).await?;
        probe.send("delete a cart", Method::DELETE, &cart, &Value::Null).await?;
        probe.send("count a view", Method::POST, &format!("/products/{product}/views"), &Value::Null).await?;

        let placed =
            probe.place(shopper, "place an order of one line", &format!("one-{run:06}-{round:04}"), &line).await?;
        probe.place(shopper, "place it again", &format!("one-{run:06}-{round:04}"), &line).await?;
        let (order, invoice) = (text(&placed["orderId"])?, text(&placed["invoice"]["invoiceId"])?);
        let (flag, status) = (format!("/orders/{order}/flag"), format!("/orders/{order}/status"));
        let reference = json!({ "reference": format!("bank-{round:07}") });
        probe.send("capture its payment", Method::POST, &format!("/invoices/{invoice}/payments"), &reference).await?;
        probe.send("ship it", Method::POST, &status, &json!({ "status": "SHIPPED" })).await?;
        probe.send("flag it", Method::PUT, &flag, &json!({ "reason": "no signature" })).await?;
        probe.send("unflag it", Method::DELETE, &flag, &Value::Null).await?;

        let lines: Vec<_> = (0..3)
            .map(|rank| Ok(json!({ "productId": Shop::product(rank)?, "quantity": 1 })))
            .collect::<Result<_>>()?;
        let rich = json!({ "lines": lines, "discountCode": DISCOUNT, "giftCards": [gift_card] });
        let what = "place an order of three lines, with a code and a gift card";
        let placed = probe.place(shopper, what, &format!("three-{run:06}-{round:04}"), &rich).await?;
        let path = format!("/orders/{}/cancellation", text(&placed["orderId"])?);
        probe.send("call it off", Method::POST, &path, &json!({})).await?;

        let path = format!("/products/{product}/stock");
        probe.send("adjust a stock", Method::POST, &path, &json!({ "delta": 5 })).await?;
        let name = json!({ "name": format!("Other {run:06}{round:04}") });
        probe.send("rename a product", Method::PATCH, &format!("/products/{product}"), &name).await?;
        let name = json!({ "name": format!("Somebody {run:06}{round:04}") });
        probe.send("rename a customer", Method::PATCH, &format!("/customers/{shopper}"), &name).await?;
        Ok(())
    }
}

impl Probe<'_> {
    async fn get(&mut self, what: &str, path: &str) -> Result<Value> {
        self.send(what, Method::GET, path, &Value::Null).await
    }

    async fn place(&mut self, shopper: &CustomerId, what: &str, key: &str, body: &Value) -> Result<Value> {
        let shopper = self.stack.token(shopper.as_str(), edge::SHOP_SCOPE)?;
        let request = self.http.post(format!("{}/orders", self.stack.url())).header("idempotency-key", key);
        self.measure(what, request.bearer_auth(shopper).json(body)).await
    }

    async fn send(&mut self, what: &str, method: Method, path: &str, body: &Value) -> Result<Value> {
        let request = self.http.request(method, format!("{}{path}", self.stack.url())).bearer_auth(&self.admin);
        let request = request.header("if-match", "*");
        let request = if body.is_null() { request } else { request.json(body) };
        self.measure(what, request).await
    }

    async fn measure(&mut self, what: &str, request: reqwest::RequestBuilder) -> Result<Value> {
        let wire = self.stack.wire().context("the stack has no wire")?;
        wire.take_calls();
        let start = Instant::now();
        let response = request.send().await?;
        let (status, body) = (response.status(), response.text().await?);
        let route = start.elapsed();
        ensure!(status.is_success(), "{what}: {status}: {body}");

        let calls = wire.take_calls();
        let engine = calls.iter().map(|call| call.took).sum();
        let sample = Sample { cost: Cost::of(&calls), route, engine };
        match self.seen.iter_mut().find(|(seen, _)| seen == what) {
            Some((_, samples)) => samples.push(sample),
            None => self.seen.push((what.to_owned(), vec![sample])),
        }
        if status == StatusCode::NO_CONTENT { Ok(Value::Null) } else { Ok(serde_json::from_str(&body)?) }
    }
}

impl Cost {
    fn of(calls: &[Call]) -> Self {
        let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut read, mut written) = (0.0, [0.0; 3]);
        for call in calls {
            *actions.entry(&call.action).or_default() += 1;
            for consumed in &call.consumed {
                match consumed.access {
                    Access::Read => read += consumed.units(),
                    Access::Write => {
                        let of = |index: &str| consumed.index_units.get(index).copied().unwrap_or_default();
                        let units = [consumed.table_units, of("GSI1"), of("GSI2")];
                        written.iter_mut().zip(units).for_each(|(sum, units)| *sum += units);
                    }
                }
            }
        }
        let times = |(action, times): (&str, usize)| match times {
            1 => action.to_owned(),
            times => format!("{times} x {action}"),
        };
        Self { requests: actions.into_iter().map(times).collect::<Vec<_>>().join(", "), read, written }
    }
}

fn measured(what: String, samples: &[Sample]) -> Result<Measured> {
    let cost = samples.first().context("nothing was measured")?.cost.clone();
    if let Some(other) = samples.iter().find(|sample| sample.cost != cost) {
        anyhow::bail!("{what}: cost {cost:?} once and {:?} another time", other.cost);
    }
    let median = |of: fn(&Sample) -> Duration| {
        let mut all: Vec<_> = samples.iter().map(of).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    Ok(Measured { what, cost, route: median(|sample| sample.route), engine: median(|sample| sample.engine) })
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("an id is a text")
}
