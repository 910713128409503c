//! The shop's clients: over HTTP, with tokens from the laptop's stack.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::traffic::{Ask, CATEGORY_SIZE, Crowd, Line, Order};

/// The gateway answers within 30 seconds, or never.
const PATIENCE: Duration = Duration::from_secs(35);

/// The number of concurrent creations.
const MAKERS: usize = 8;

/// A shop with its own products and customers for this run.
pub(crate) struct Shop {
    http: Client,
    url: String,
    /// The prefix of every id, so that runs over one table do not interfere.
    run: String,
    admin: String,
    /// A token for each customer.
    customers: Vec<String>,
    products: usize,
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The last part of a problem's type: `out-of-stock`.
    pub(crate) problem: Option<String>,
    pub(crate) order_id: Option<String>,
    pub(crate) replayed: bool,
}

/// No answer, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    TimedOut,
    Unreachable,
    CutOff,
}

impl Shop {
    /// Opens a shop in the stack at this URL, with this many units of each product.
    ///
    /// # Errors
    /// No stack of `cargo local` answers there, or a creation fails.
    pub(crate) async fn open(url: &str, crowd: Crowd, units: u32, progress: impl Fn()) -> Result<Self> {
        let http = Client::builder().no_proxy().timeout(PATIENCE).build().context("cannot make an HTTP client")?;
        let url = url.trim_end_matches('/').to_owned();
        let Crowd { products, customers, .. } = crowd;
        let run = format!("load-{:08x}", fastrand::u32(..));
        let mut shop = Self { http, url, run, admin: String::new(), customers: Vec::new(), products };
        shop.admin = shop.token("load", "admin").await?;

        let made = stream::iter(0..customers).map(|rank| shop.sign_up(rank)).buffered(MAKERS);
        shop.customers = made.inspect_ok(|_| progress()).try_collect().await?;
        let made = stream::iter(0..products).map(|rank| shop.offer(rank, units)).buffer_unordered(MAKERS);
        made.inspect_ok(|()| progress()).try_collect::<()>().await?;
        Ok(shop)
    }

    /// Sends a request, and reads its answer to the end.
    pub(crate) async fn send(&self, ask: &Ask) -> Result<Reply, Silence> {
        let sent = self.request(ask).send().await.map_err(|error| Silence::of(&error))?;
        let status = sent.status();
        let replayed = sent.headers().contains_key("idempotent-replayed");
        let body = sent.bytes().await.map_err(|error| Silence::of(&error))?;
        let mut reply = Reply { status: status.as_u16(), replayed, ..Reply::default() };
        // Bodies that are not needed are not parsed, to leave the CPU to the shop.
        let is_looked_at = !status.is_success() || matches!(ask, Ask::PlaceOrder(_) | Ask::RepeatOrder(_));
        if is_looked_at && let Ok(body) = serde_json::from_slice::<Value>(&body) {
            reply.problem = body["type"].as_str().and_then(|kind| kind.rsplit('/').next()).map(str::to_owned);
            reply.order_id = body["orderId"].as_str().map(str::to_owned);
        }
        Ok(reply)
    }

    /// The units of each product, by its rank.
    pub(crate) async fn available(&self) -> Result<Vec<i64>> {
        let looks = (0..self.products).map(|rank| async move {
            let answer = self.http.get(format!("{}/products/{}", self.url, self.product(rank))).send().await?;
            let product: Value = answer.error_for_status()?.json().await?;
            product["available"].as_i64().context("a product does not say how many there are")
        });
        stream::iter(looks).buffered(MAKERS).try_collect().await
    }

    fn request(&self, ask: &Ask) -> RequestBuilder {
        match ask {
            Ask::ReadProduct(rank) => self.http.get(format!("{}/products/{}", self.url, self.product(*rank))),
            Ask::ListProducts { category } => {
                self.http.get(format!("{}/products?category={}-{category}&limit={CATEGORY_SIZE}", self.url, self.run))
            }
            Ask::ViewProduct(rank) => self.http.post(format!("{}/products/{}/views", self.url, self.product(*rank))),
            Ask::PutCart { customer, line } => {
                let cart = json!({ "lines": [self.line(*line)] });
                self.own(Method::PUT, *customer, "/cart").json(&cart)
            }
            Ask::PlaceOrder(order) => self.order(order),
            Ask::RepeatOrder(placed) => self.order(&placed.order),
            Ask::ReadOrder(placed) => {
                self.signed(Method::GET, placed.order.customer, &format!("/orders/{}", placed.id))
            }
            Ask::ListOrders { customer } => self.own(Method::GET, *customer, "/orders?limit=10"),
            Ask::ReadOverview { customer } => self.own(Method::GET, *customer, "/overview"),
            Ask::CancelOrder(placed) => {
                self.signed(Method::POST, placed.order.customer, &format!("/orders/{}/cancellation", placed.id))
            }
        }
    }

    fn order(&self, order: &Order) -> RequestBuilder {
        let lines: Vec<Value> = order.lines.iter().map(|line| self.line(*line)).collect();
        let request = self.signed(Method::POST, order.customer, "/orders");
        request.header("idempotency-key", format!("{}-{}", self.run, order.key)).json(&json!({ "lines": lines }))
    }

    fn line(&self, Line { product, quantity }: Line) -> Value {
        json!({ "productId": self.product(product), "quantity": quantity })
    }

    fn product(&self, rank: usize) -> String {
        format!("{}-p{rank}", self.run)
    }

    fn customer(&self, rank: usize) -> String {
        format!("{}-c{rank}", self.run)
    }

    /// A request about a customer, by that customer.
    fn own(&self, method: Method, customer: usize, path: &str) -> RequestBuilder {
        self.signed(method, customer, &format!("/customers/{}{path}", self.customer(customer)))
    }

    fn signed(&self, method: Method, customer: usize, path: &str) -> RequestBuilder {
        let token = self.customers.get(customer).map_or("", String::as_str);
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(token)
    }

    async fn token(&self, sub: &str, scope: &str) -> Result<String> {
        let url = &self.url;
        let wanted = self.http.post(format!("{url}/_local/token")).json(&json!({ "sub": sub, "scope": scope }));
        let answer = wanted.send().await.with_context(|| format!("nothing answers at {url}: start cargo local"))?;
        let token = answer.json::<Value>().await.ok().and_then(|body| Some(body["token"].as_str()?.to_owned()));
        token.with_context(|| format!("{url} gives no token: it is not cargo local"))
    }

    /// Creates a customer, and returns the token.
    async fn sign_up(&self, rank: usize) -> Result<String> {
        let id = self.customer(rank);
        let token = self.token(&id, "shop").await?;
        let body = json!({ "username": id, "email": format!("{id}@example.com"), "name": format!("Customer {rank}") });
        self.make("/customers", &token, &body).await?;
        Ok(token)
    }

    async fn offer(&self, rank: usize, units: u32) -> Result<()> {
        let category = format!("{}-{}", self.run, rank / CATEGORY_SIZE);
        let body = json!({
            "productId": self.product(rank), "name": format!("Product {rank}"), "category": category, "stock": units,
            "description": "One of the things that are bought when nobody is there.",
            "price": { "amount": 500 + rank, "currency": "EUR" },
        });
        self.make("/products", &self.admin, &body).await
    }

    async fn make(&self, path: &str, token: &str, body: &Value) -> Result<()> {
        let sending = self.http.post(format!("{}{path}", self.url)).bearer_auth(token).json(body).send();
        let answer = sending.await.with_context(|| format!("POST {path} got no answer"))?;
        let status = answer.status();
        let why = if status == StatusCode::CREATED { String::new() } else { answer.text().await.unwrap_or_default() };
        ensure!(status == StatusCode::CREATED, "POST {path} answered {status}: {why}");
        Ok(())
    }
}

impl Silence {
    fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            Self::TimedOut
        } else if error.is_connect() {
            Self::Unreachable
        } else {
            Self::CutOff
        }
    }

    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TimedOut => "no answer in time",
            Self::Unreachable => "no connection",
            Self::CutOff => "the connection was cut",
        }
    }
}
