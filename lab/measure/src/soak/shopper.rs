//! A shopper, who sends one request after the other.

use std::sync::Arc;
use std::time::Instant;

use fastrand::Rng;
use key_schema::value::{IdempotencyKey, OrderId};
use reqwest::Method;
use serde_json::{Value, json};

use super::books::{Order, State};
use super::shop::{Ask, CARDS, CUSTOMERS, PRODUCTS, Shop, card, product};

/// A shopper, who sends one request after the other and remembers the orders.
pub(super) struct Shopper {
    number: u64,
    pub(super) random: Rng,
    pub(super) shop: Arc<Shop>,
    pub(super) asked: u64,
    /// Placed orders: index in the books, customer, order and status.
    mine: Vec<(usize, usize, Value, &'static str)>,
}

impl Shopper {
    pub(super) fn new(number: u64, seed: u64, shop: Arc<Shop>) -> Self {
        Self { number, random: Rng::with_seed(seed), shop, asked: 0, mine: Vec::new() }
    }

    pub(super) async fn work(mut self, end: Instant) {
        while Instant::now() < end {
            self.asked += 1;
            match self.random.u32(..100) {
                0..30 => self.order().await,
                30..50 => self.go_on().await,
                50..57 => self.restock().await,
                57..60 => self.reprice().await,
                60..66 => self.change().await,
                _ => self.read().await,
            }
        }
    }

    pub(super) fn key(&self) -> String {
        format!("{}-{}", self.number, self.asked)
    }

    fn any_product(&mut self) -> String {
        // The first products are the most popular.
        product(self.random.usize(..PRODUCTS).min(self.random.usize(..PRODUCTS)))
    }

    async fn order(&mut self) {
        if let Some((place, customer, order)) = self.place(false).await {
            let status = if order["status"] == "PAID" { "PAID" } else { "PENDING" };
            self.mine.push((place, customer, order, status));
        }
    }

    /// Places an order. Returns its index in the books and the customer's number, unless it is refused or queued. If it
    /// is not to be paid by card, the customer has days to pay it.
    pub(super) async fn place(&mut self, by_card: bool) -> Option<(usize, usize, Value)> {
        self.asked += 1;
        let customer = self.random.usize(..CUSTOMERS);
        let mut lines: Vec<(String, i64)> = Vec::new();
        for _ in 0..self.random.u8(1..4) {
            let product = self.any_product();
            if lines.iter().all(|(other, _)| *other != product) {
                lines.push((product, self.random.i64(1..4)));
            }
        }
        let listed: Vec<_> =
            lines.iter().map(|(id, quantity)| json!({ "productId": id, "quantity": quantity })).collect();
        let mut body = json!({ "lines": listed });
        if !by_card {
            body["payLater"] = json!(true);
        }
        if self.random.u8(..4) == 0 {
            body["discountCode"] = json!(if self.random.bool() { "MANY" } else { "FEW" });
        }
        if self.random.u8(..if by_card { 12 } else { 3 }) == 0 {
            body["giftCards"] = json!([card(self.random.usize(..CARDS))]);
        }
        let (key, shop) = (self.key(), Arc::clone(&self.shop));
        let mut ask = Ask::new("order", Method::POST, "/orders", &shop.customers[customer]).body(body);
        ask = ask.header("idempotency-key", &key).expecting(&[
            "201",
            "202",
            "409 out-of-stock",
            "409 gift-card-balance",
            "409 discount-exhausted",
            // The run has few customers, and their unpaid units reach the cap.
            "409 open-units",
            "409 price-changed",
            "422 gift-card-balance",
            "422 gift-card-invalid",
            "422 discount-exhausted",
        ]);
        if !by_card && self.random.u8(..4) == 0 {
            ask = ask.header("prefer", "respond-async");
            ask.kind = "order later";
        }
        let reply = shop.send(&ask).await;
        let id = key.parse::<IdempotencyKey>().map(|key| {
            let customer = format!("c{customer}").parse();
            customer.map(|customer| OrderId::of(&customer, &key).to_string()).unwrap_or_default()
        });
        let id = id.ok()?;
        let state = match reply.status {
            201 if by_card => State::ByCard,
            201 => State::Placed,
            202 => State::Accepted,
            _ => State::Refused(reply.answer),
        };
        let place = shop.books.order(Order { id, lines, state });
        (reply.status == 201).then_some((place, customer, reply.body))
    }

    /// Advances an order by one step.
    async fn go_on(&mut self) {
        if self.mine.is_empty() {
            return self.order().await;
        }
        let (place, customer, order, status) = self.mine.swap_remove(self.random.usize(..self.mine.len()));
        let shop = Arc::clone(&self.shop);
        let at = |what: &str| format!("/orders/{}/{what}", order["orderId"].as_str().unwrap_or_default());
        let post = |kind, path: String, token: &str, body| Ask::new(kind, Method::POST, path, token).body(body);
        let next = match status {
            "PENDING" | "PAID" if self.random.u8(..4) == 0 => {
                let token = &shop.customers[customer];
                let reply = shop.send(&post("cancel", at("cancellation"), token, json!({ "reason": "soaked" }))).await;
                if reply.status == 200 {
                    shop.books.change(place, State::Cancelled);
                }
                return;
            }
            "PENDING" => {
                let invoice = order["invoice"]["invoiceId"].as_str().unwrap_or_default();
                let body = json!({ "reference": format!("bank-{}", self.key()) });
                let reply =
                    shop.send(&post("capture", format!("/invoices/{invoice}/payments"), &shop.admin, body)).await;
                let card = reply.body["payments"].as_array().and_then(|payments| payments.last());
                let received = card.and_then(|card| card["received"]["amount"].as_i64()).unwrap_or_default();
                shop.books.note(order["orderId"].as_str().unwrap_or_default(), |moved| moved.received = received);
                "PAID"
            }
            "PAID" if self.random.bool() => {
                let flag = json!({ "reason": self.key() });
                shop.send(&Ask::new("flag", Method::PUT, at("flag"), &shop.admin).body(flag)).await;
                let unflag = Ask::new("unflag", Method::DELETE, at("flag"), &shop.admin);
                shop.send(&unflag.expecting(&["204"])).await;
                "PAID"
            }
            "PAID" => {
                shop.send(&post("ship", at("status"), &shop.admin, json!({ "status": "SHIPPED" }))).await;
                "SHIPPED"
            }
            _ => {
                shop.send(&post("deliver", at("status"), &shop.admin, json!({ "status": "DELIVERED" }))).await;
                return;
            }
        };
        self.mine.push((place, customer, order, next));
    }

    async fn restock(&mut self) {
        let (id, delta, key) = (self.any_product(), self.random.i64(-5..30), self.key());
        let delta = if delta == 0 { 1 } else { delta };
        let ask = Ask::new("restock", Method::POST, format!("/products/{id}/stock"), &self.shop.admin);
        let ask = ask.header("if-match", "*").header("idempotency-key", key).body(json!({ "delta": delta }));
        let reply = self.shop.send(&ask.expecting(&["200", "409 out-of-stock"])).await;
        if reply.status == 200 {
            self.shop.books.supply(&id, delta);
        }
    }

    async fn reprice(&mut self) {
        let (id, amount) = (self.any_product(), self.random.u32(50..500));
        let ask = Ask::new("reprice", Method::PATCH, format!("/products/{id}"), &self.shop.admin);
        let ask = ask.header("if-match", "*").body(json!({ "price": { "amount": amount, "currency": "EUR" } }));
        self.shop.send(&ask).await;
    }

    async fn change(&mut self) {
        let (id, customer) = (self.any_product(), self.random.usize(..CUSTOMERS));
        let token = &self.shop.customers[customer];
        let ask = match self.random.u8(..3) {
            0 => {
                let cart = json!({ "lines": [{ "productId": id, "quantity": 1 }] });
                Ask::new("put a cart", Method::PUT, format!("/customers/c{customer}/cart"), token).body(cart)
            }
            1 => {
                let ask = Ask::new("rename", Method::PATCH, format!("/customers/c{customer}"), token);
                ask.header("if-match", "*").body(json!({ "name": self.key() }))
            }
            _ => Ask::new("view", Method::POST, format!("/products/{id}/views"), token).expecting(&["204"]),
        };
        self.shop.send(&ask).await;
    }

    async fn read(&mut self) {
        let (id, customer) = (self.any_product(), self.random.usize(..CUSTOMERS));
        let shop = Arc::clone(&self.shop);
        let mut paths = vec![
            format!("/products/{id}"),
            format!("/products/{id}/stats"),
            "/products?category=things&limit=10".to_owned(),
            format!("/customers/c{customer}"),
            format!("/customers/c{customer}/orders?limit=5"),
            format!("/customers/c{customer}/overview"),
            format!("/customers/c{customer}/invoices?limit=5"),
            format!("/customers/c{customer}/products?limit=5"),
            format!("/products/{id}/orders?limit=5"),
            "/orders?status=PAID&limit=5".to_owned(),
            "/flagged-orders?limit=5".to_owned(),
            format!("/gift-cards/{}", card(self.random.usize(..CARDS))),
        ];
        if let Some((_, _, order, _)) = self.mine.last() {
            let (order, invoice) = (&order["orderId"], &order["invoice"]["invoiceId"]);
            paths.push(format!("/orders/{}", order.as_str().unwrap_or_default()));
            paths.push(format!("/invoices/{}", invoice.as_str().unwrap_or_default()));
        }
        let path = paths.swap_remove(self.random.usize(..paths.len()));
        shop.send(&Ask::new("read", Method::GET, path, &shop.admin)).await;
    }
}
