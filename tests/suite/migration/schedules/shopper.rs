//! A customer, with whom a member of staff deals. One request comes after the other, so that each answer can be foreseen.

use std::time::Instant;

use fastrand::Rng;
use shop::orders::lines_of;

use super::world::{Ask, PRODUCTS, World};
use crate::prelude::*;

pub struct Shopper {
    id: String,
    own: Client,
    admin: Client,
    random: Rng,
    /// The number of things that this customer has made, for names of new ones.
    made: u64,
    version: String,
    pub purchases: Vec<Purchase>,
}

/// An order that the customer was told of.
pub struct Purchase {
    pub id: String,
    invoice: Option<String>,
    /// Every status that the order is known to have had. Empty while it waits to be placed.
    pub path: Vec<String>,
    /// The customer paid at the provider, and the provider has not reported it yet.
    is_paying: bool,
    is_paid_by_card: bool,
    is_returned: bool,
}

impl Purchase {
    fn status(&self) -> &str {
        self.path.last().map_or("QUEUED", String::as_str)
    }

    fn learn(&mut self, order: &Value) {
        let status = order["status"].as_str().expect("a status");
        if status == "QUEUED" {
            return;
        }
        if self.status() != status {
            self.path.push(status.to_owned());
        }
        self.invoice = order["invoice"]["invoiceId"].as_str().map(str::to_owned);
        self.is_paying &= status == "PENDING";
    }

    /// Whether nothing is known to be under way for this order.
    fn is_free(&self) -> bool {
        !self.path.is_empty() && !self.is_paying
    }
}

impl Shopper {
    pub fn new(world: &World, at: usize) -> Self {
        let id = format!("c{at}");
        let (own, admin) = (world.shop().customer(&id), world.shop().admin());
        let random = world.random(10 + at as u64);
        Self { id, own, admin, random, made: 0, version: "\"1\"".to_owned(), purchases: Vec::new() }
    }

    /// Uses the shop until it is closed.
    pub async fn shop(mut self, world: Arc<World>) -> Self {
        while !world.is_closed() {
            let open = world.gate.read().await;
            // A request that is not answered as it should be is a complaint already.
            _ = self.once(&world).await;
            drop(open);
            tokio::time::sleep(Duration::from_millis(self.random.u64(60..250))).await;
        }
        self
    }

    async fn once(&mut self, world: &World) -> Option<()> {
        match self.random.u8(..100) {
            0..=33 => self.place(world).await,
            34..=58 => self.go_on(world).await,
            59..=66 => self.cancel(world).await,
            67..=70 => self.sign_up(world).await,
            71..=76 => self.change_email(world).await,
            77..=84 => self.fill_cart(world).await,
            85..=86 => self.ask(world, Method::POST, &self.views(), &[], Some(json!({})), &[204]).await.map(|_| ()),
            87..=92 => self.list(world).await,
            93..=95 => self.flag(world).await,
            _ => self.give_back(world).await,
        }
    }

    fn views(&self) -> String {
        format!("/products/p{}/views", self.made % PRODUCTS as u64)
    }

    /// Sends a request of the customer.
    async fn ask(
        &self,
        world: &World,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
        expected: &[u16],
    ) -> Option<Reply> {
        let mut random = self.random.clone();
        world.insist(Ask { client: &self.own, method, path, headers, body, expected }, &mut random).await
    }

    /// Sends a request of staff.
    async fn order_staff(&self, world: &World, path: &str, body: Value, expected: &[u16]) -> Option<Reply> {
        let (mut random, headers) = (self.random.clone(), &[]);
        let (method, body) = (Method::POST, Some(body));
        world.insist(Ask { client: &self.admin, method, path, headers, body, expected }, &mut random).await
    }

    fn next_name(&mut self) -> String {
        self.made += 1;
        format!("{}-{}", self.id, self.made)
    }

    async fn place(&mut self, world: &World) -> Option<()> {
        let name = self.next_name();
        let is_large = self.random.u8(..40) == 0;
        let mut products: Vec<_> = (0..PRODUCTS).collect();
        self.random.shuffle(&mut products);
        products.truncate(if is_large { PRODUCTS } else { self.random.usize(1..=4) });
        let lines = products
            .iter()
            .map(|product| json!({ "productId": format!("p{product}"), "quantity": self.random.u8(1..=3) }));
        let mut body = json!({ "lines": lines.collect::<Vec<_>>() });
        if self.random.u8(..4) == 0 {
            body["discountCode"] = json!("TEN");
        }
        match self.random.u8(..8) {
            0 => body["giftCards"] = json!(["GIFT"]),
            1 => {
                let code = format!("CARD-{:0>10}", name.to_uppercase());
                self.order_staff(world, "/gift-cards", json!({ "code": code, "balance": eur(500) }), &[201]).await?;
                body["giftCards"] = json!([code]);
            }
            _ => {}
        }
        let is_later = self.random.u8(..8) == 0;
        let mut headers = vec![("idempotency-key", name.as_str())];
        headers.extend(is_later.then_some(("prefer", "respond-async")));
        let began = Instant::now();
        let reply = self.ask(world, Method::POST, "/orders", &headers, Some(body), &[201, 202]).await?;
        let has_waited = reply.status == 202;
        if has_waited && !is_later && !world.was_strict(began) {
            world.complain(format!("order {name} of {} lines waits, and the phase is not strict", products.len()));
        }
        {
            let mut figures = world.figures();
            figures.orders += 1;
            figures.large += u64::from(is_large);
            figures.waited += u64::from(has_waited);
        }
        let id = order_id(&reply.body).to_owned();
        let mut purchase = Purchase {
            id,
            invoice: None,
            path: Vec::new(),
            is_paying: false,
            is_paid_by_card: false,
            is_returned: false,
        };
        purchase.learn(&reply.body);
        self.purchases.push(purchase);
        Some(())
    }

    /// The position of a random order of which this holds.
    fn any(&mut self, holds: impl Fn(&Purchase) -> bool) -> Option<usize> {
        let found = self.purchases.iter().enumerate().filter(|(_, purchase)| holds(purchase)).map(|(at, _)| at);
        self.random.choice(found.collect::<Vec<_>>())
    }

    /// Pays, ships or delivers an order, or reads it if it is under way.
    async fn go_on(&mut self, world: &World) -> Option<()> {
        let at = self.any(|purchase| !["DELIVERED", "CANCELLED"].contains(&purchase.status()))?;
        let Purchase { id, invoice, .. } = &self.purchases[at];
        let status = format!("/orders/{id}/status");
        let reply = match self.purchases[at].status() {
            _ if !self.purchases[at].is_free() => return self.look(world, at).await,
            "PENDING" if self.random.bool() => return self.pay_by_card(world, at).await,
            "PENDING" => {
                let path = format!("/invoices/{}/payments", invoice.as_deref().expect("an invoice"));
                self.order_staff(world, &path, json!({ "reference": "bank-1" }), &[200]).await?;
                self.purchases[at].path.push("PAID".to_owned());
                return Some(());
            }
            "PAID" => self.order_staff(world, &status, json!({ "status": "SHIPPED" }), &[200]).await?,
            _ => self.order_staff(world, &status, json!({ "status": "DELIVERED" }), &[200]).await?,
        };
        let status = reply.body["status"].as_str().expect("a status").to_owned();
        self.purchases[at].path.push(status);
        Some(())
    }

    /// Reads an order. Nothing that the customer was told of it may be gone.
    pub async fn look(&mut self, world: &World, at: usize) -> Option<()> {
        let path = format!("/orders/{}", self.purchases[at].id);
        let reply = self.ask(world, Method::GET, &path, &[], None, &[200]).await?;
        let purchase = &mut self.purchases[at];
        let (before, shown) = (purchase.status().to_owned(), reply.body["status"].clone());
        let may_change = before == "QUEUED" && shown != "REJECTED" || purchase.is_paying && shown == "PAID";
        if shown != before.as_str() && !may_change {
            world.complain(format!("order {} was {before}, and is {}", purchase.id, reply.body));
        }
        purchase.learn(&reply.body);
        Some(())
    }

    async fn pay_by_card(&mut self, world: &World, at: usize) -> Option<()> {
        let path = format!("/orders/{}/payment", self.purchases[at].id);
        let payment = self.ask(world, Method::POST, &path, &[], None, &[200]).await?;
        let (status, body) = world.shop().confirm(&payment.body, "pm_card_visa").await;
        if status != 200 {
            world.complain(format!("the provider answers {status}: {body}"));
        }
        (self.purchases[at].is_paying, self.purchases[at].is_paid_by_card) = (true, true);
        Some(())
    }

    async fn cancel(&mut self, world: &World) -> Option<()> {
        let at = self.any(|purchase| purchase.is_free() && ["PENDING", "PAID"].contains(&purchase.status()))?;
        let path = format!("/orders/{}/cancellation", self.purchases[at].id);
        self.ask(world, Method::POST, &path, &[], Some(json!({})), &[200]).await?;
        self.purchases[at].path.push("CANCELLED".to_owned());
        Some(())
    }

    /// The customer sends back a unit, and staff accept it.
    async fn give_back(&mut self, world: &World) -> Option<()> {
        let may_come_back = |purchase: &Purchase| {
            purchase.status() == "DELIVERED" && !purchase.is_paid_by_card && !purchase.is_returned
        };
        let (at, name) = (self.any(may_come_back)?, self.next_name());
        let id = self.purchases[at].id.clone();
        let order = self.ask(world, Method::GET, &format!("/orders/{id}"), &[], None, &[200]).await?;
        let lines = json!({ "lines": [{ "productId": order.body["lines"][0]["productId"], "quantity": 1 }] });
        let (path, key) = (format!("/orders/{id}/returns"), [("idempotency-key", name.as_str())]);
        let asked = self.ask(world, Method::POST, &path, &key, Some(lines), &[201]).await?;
        let path = format!("/returns/{}/receipt", asked.body["returnId"].as_str().expect("an id"));
        self.order_staff(world, &path, json!({ "accepted": true, "restock": true }), &[200]).await?;
        self.purchases[at].is_returned = true;
        Some(())
    }

    async fn sign_up(&mut self, world: &World) -> Option<()> {
        let name = self.next_name();
        let (client, mut random) = (world.shop().customer(&name), self.random.clone());
        let body = json!({ "username": name, "email": format!("{name}@example.com"), "name": name });
        let (path, expected) = ("/customers", &[201]);
        let (method, headers, body) = (Method::POST, &[], Some(body));
        world.insist(Ask { client: &client, method, path, headers, body, expected }, &mut random).await?;
        // The claim is there for everybody else, whichever table leads.
        let taken = json!({ "username": format!("{name}-2"), "email": format!("{name}@example.com"), "name": name });
        let client = world.shop().customer(&format!("{name}-2"));
        let (method, body) = (Method::POST, Some(taken));
        world.insist(Ask { client: &client, method, path, headers, body, expected: &[409] }, &mut random).await?;
        Some(())
    }

    async fn change_email(&mut self, world: &World) -> Option<()> {
        let (name, path) = (self.next_name(), format!("/customers/{}", self.id));
        let version = self.version.clone();
        let headers = [("if-match", version.as_str())];
        let email = |name: &str| Some(json!({ "email": format!("{name}@example.com") }));
        if self.random.u8(..5) == 0 {
            let reply = self.ask(world, Method::PATCH, &path, &headers, email("bystander"), &[409]).await?;
            if reply.body["type"] != "/problems/email-taken" {
                world.complain(format!("an e-mail address of somebody else: {}", reply.body));
            }
            return Some(());
        }
        let reply = self.ask(world, Method::PATCH, &path, &headers, email(&name), &[200]).await?;
        reply.header("etag").expect("a version").clone_into(&mut self.version);
        Some(())
    }

    /// What was put into the cart is in it, and a cart that was deleted is gone.
    async fn fill_cart(&mut self, world: &World) -> Option<()> {
        let path = format!("/customers/{}/cart", self.id);
        if self.random.u8(..3) == 0 {
            self.ask(world, Method::DELETE, &path, &[], None, &[204]).await?;
            let found = self.ask(world, Method::GET, &path, &[], None, &[200]).await?;
            if found.body != json!({ "lines": [] }) {
                world.complain(format!("the cart of {} was deleted: {}", self.id, found.body));
            }
            return Some(());
        }
        let cart = basket(format!("p{}", self.random.usize(..PRODUCTS)), self.random.u8(1..9));
        self.ask(world, Method::PUT, &path, &[], Some(cart.clone()), &[200]).await?;
        let found = self.ask(world, Method::GET, &path, &[], None, &[200]).await?;
        if lines_of(&found.body) != cart["lines"] {
            world.complain(format!("the cart of {} has not what was put into it: {}", self.id, found.body));
        }
        Some(())
    }

    /// The newest orders are in the list, each as it was last told.
    async fn list(&mut self, world: &World) -> Option<()> {
        let path = format!("/customers/{}/orders?limit=100", self.id);
        let listed = self.ask(world, Method::GET, &path, &[], None, &[200]).await?;
        let items = listed.body["items"].as_array().expect("items");
        for purchase in self.purchases.iter().rev().take(50).filter(|purchase| purchase.is_free()) {
            let shown = items.iter().find(|item| item["orderId"] == purchase.id.as_str());
            if shown.is_none_or(|shown| shown["status"] != purchase.status()) {
                let (id, status) = (&purchase.id, purchase.status());
                world.complain(format!("order {id} is {status}, and in the list {shown:?}"));
            }
        }
        Some(())
    }

    async fn flag(&mut self, world: &World) -> Option<()> {
        let at = self.any(Purchase::is_free)?;
        let path = format!("/orders/{}/flag", self.purchases[at].id);
        let (mut random, client, headers) = (self.random.clone(), &self.admin, &[]);
        let (method, body) = (Method::PUT, Some(json!({ "reason": "a look" })));
        world.insist(Ask { client, method, path: &path, headers, body, expected: &[200] }, &mut random).await?;
        if self.random.bool() {
            let (method, body) = (Method::DELETE, None);
            world.insist(Ask { client, method, path: &path, headers, body, expected: &[204] }, &mut random).await?;
        }
        Some(())
    }

    /// Reads every order that may have changed by itself.
    pub async fn look_at_all(&mut self, world: &World) {
        for at in 0..self.purchases.len() {
            _ = self.look(world, at).await;
        }
    }
}
