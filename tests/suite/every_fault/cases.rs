//! The cases: at least one request of every route that writes.

use http_api::RouteFunction;
use local::functions::routes;
use shop::images::{PICTURE, new_image};

use super::consumers;
use super::guests::{FINISHED_GUEST, GUEST, NEW_GUEST};
use super::world::{Seed, text};
use crate::prelude::*;

/// One request or event for a [`super::world::World`].
pub struct Case {
    pub name: &'static str,
    pub function: String,
    pub ask: Ask,
    /// Whether it takes several writes, each of which keeps the shop's invariants.
    pub has_steps: bool,
    /// Whether a repetition is applied again, as documented.
    pub adds_up: bool,
}

pub enum Ask {
    Request { by: Caller, method: Method, path: String, headers: Vec<(&'static str, String)>, body: Value },
    Event(Value),
}

#[derive(Clone, Copy)]
pub enum Caller {
    Customer(&'static str),
    Admin,
}

use Caller::{Admin, Customer};

const ADA: Caller = Customer("ada");
const BOB: Caller = Customer("bob");

impl Case {
    pub fn event(name: &'static str, function: &str, event: Value) -> Self {
        Self { name, function: function.to_owned(), ask: Ask::Event(event), has_steps: false, adds_up: false }
    }

    /// A request such as `PUT /taxes`, and its body unless that is null.
    fn to(name: &'static str, by: Caller, request: impl AsRef<str>, body: Value) -> Self {
        let (method, path) = request.as_ref().split_once(' ').expect("a method and a path");
        let is_part = |(declared, part): (&str, &str)| declared.starts_with('{') || declared == part;
        let serves = |route: &&RouteFunction| {
            let parts = route.route.path.split('/');
            route.route.method.as_str() == method
                && parts.clone().count() == path.split('/').count()
                && parts.zip(path.split('/')).all(is_part)
        };
        let function = routes().find(serves).unwrap_or_else(|| panic!("{name}: no route")).function.name();
        let method = method.parse().expect("a method");
        let ask = Ask::Request { by, method, path: path.to_owned(), headers: Vec::new(), body };
        Self { name, function, ask, has_steps: false, adds_up: false }
    }

    fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ask::Request { headers, .. } = &mut self.ask {
            headers.push((name, value.to_owned()));
        }
        self
    }

    fn at(self, version: u64) -> Self {
        self.header("if-match", &format!("\"{version}\""))
    }

    /// Under an idempotency key.
    fn once(self) -> Self {
        self.header("idempotency-key", "key-1")
    }

    pub fn with_steps(self) -> Self {
        Self { has_steps: true, ..self }
    }

    fn adding_up(self) -> Self {
        Self { adds_up: true, ..self }
    }
}

/// Every case.
pub fn cases(seed: &Arc<Seed>) -> Vec<Case> {
    [customers(), catalogue(seed), orders(), afterwards(seed), consumers::cases(seed)].into_iter().flatten().collect()
}

fn customers() -> Vec<Case> {
    let cleo = json!({ "username": "cleo", "email": "cleo@example.com", "name": "Cleo" });
    let renamed = json!({ "username": "bobby", "email": "bobby@example.com", "name": "Bobby" });
    let cart = json!({ "lines": [{ "productId": "spread", "quantity": 1 }, { "productId": "thing", "quantity": 1 }] });
    let home = json!({ "addressId": "home", "name": "Ada", "line1": "Way 1", "city": "Ulm", "postalCode": "89073", "country": "DE" });
    let book = json!({ "addresses": [home], "default": "home" });
    let guest = json!({ "email": "gustav@example.com", "name": "Gustav" });
    let secret = "YSBndWVzdCB3aG9tIG5vYm9keSBrbm93cyBzbyBmYXI";
    let (finished, claimed) = (FINISHED_GUEST.id, GUEST.id);
    vec![
        Case::to("introduce a guest", ADA, "POST /guests", guest).header("guest-secret", secret),
        Case::to("sign up", Customer("cleo"), "POST /customers", cleo),
        Case::to("rename a customer", BOB, "PATCH /customers/bob", renamed).at(1),
        Case::to("another name", BOB, "PATCH /customers/bob", json!({ "name": "Bobby" })).at(1),
        Case::to("put a cart", ADA, "PUT /customers/ada/cart", cart),
        Case::to("put an address book", ADA, "PUT /customers/ada/addresses", book),
        Case::to("erase a customer", BOB, "DELETE /customers/bob", Value::Null),
        Case::to("erase a customer with orders", Admin, "DELETE /customers/zoe", Value::Null).with_steps(),
        Case::to("erase a guest", Admin, format!("DELETE /customers/{finished}"), Value::Null).with_steps(),
        Case::to("claim a guest", Admin, format!("PUT /customers/bob/guests/{claimed}"), Value::Null),
        Case::to("delete a cart", ADA, "DELETE /customers/ada/cart", Value::Null),
    ]
}

fn catalogue(seed: &Seed) -> Vec<Case> {
    let product = goods("new", json!({ "description": "-", "price": eur(500), "stock": 7, "cells": 2 }));
    let mut variant = product.clone();
    variant["variantOf"] = json!("thing");
    let tax = json!({ "countries": [{ "country": "DE", "standard": 1900 }] });
    let rates = json!({ "zones": [{ "currency": "EUR", "methods": [{ "methodId": "standard", "name": "Standard", "by": "price", "bands": [{ "price": 490 }] }] }] });
    let viewed = json!({ "products": ["thing", "spread", "thing", "nothing"] });
    let by_visitor = json!({ "products": viewed["products"], "visitor": "0123456789abcdef" });
    let batch = json!({ "products": [
        { "create": product },
        { "update": { "productId": "thing", "version": 1, "changes": { "name": "Another name" } } },
        { "update": { "productId": "spread", "version": 1, "changes": { "price": eur(1100) } } },
    ] });
    let blocked = json!({ "blocked": true, "validUntil": "2031-01-01" });
    let patch = |name, product: &str, body| Case::to(name, Admin, format!("PATCH /products/{product}"), body).at(1);
    let adjust = |name, product: &str, delta: i64| {
        Case::to(name, Admin, format!("POST /products/{product}/stock"), json!({ "delta": delta })).once()
    };
    let image = |name, request: &str, id: &str, body| {
        Case::to(name, Admin, format!("{request} /products/thing/images{id}"), body)
    };
    vec![
        Case::to("make a product", Admin, "POST /products", product),
        patch("rename a product", "thing", json!({ "name": "Another name" })),
        patch("a long description", "thing", json!({ "description": "Long. ".repeat(400) })),
        patch("another price", "thing", json!({ "price": eur(1100) })),
        patch("another price, in three cells", "spread", json!({ "price": eur(1100) })).with_steps(),
        patch("a recall, in three cells", "spread", json!({ "recalled": true })).with_steps(),
        patch("a variant of another", "thing", json!({ "variantOf": "spread", "attributes": { "size": "M" } })),
        Case::to("make a variant", Admin, "POST /products", variant),
        patch("out of the lists", "thing", json!({ "listed": false })),
        patch("more cells", "spread", json!({ "cells": 5 })).with_steps(),
        Case::to("several products", Admin, "POST /products/batch", batch).with_steps(),
        Case::to("put tax rates", Admin, "PUT /taxes", tax).at(0),
        Case::to("put shipping rates", Admin, "PUT /shipping", rates).at(0),
        adjust("units arrive", "thing", 5),
        adjust("units arrive, in three cells", "spread", 5).with_steps(),
        adjust("units are taken out, of three cells", "spread", -25).with_steps(),
        Case::to("view a product", ADA, "POST /products/thing/views", Value::Null).adding_up(),
        Case::to("view products", ADA, "POST /views", viewed).adding_up(),
        Case::to("view products as a visitor", ADA, "POST /views", by_visitor).adding_up(),
        Case::to("make a code", Admin, "POST /discounts", json!({ "code": "NEW", "percent": 5 })),
        Case::to("make a card", Admin, "POST /gift-cards", json!({ "code": "NEW", "balance": eur(1) })),
        Case::to("revoke a code", Admin, "PATCH /discounts/TEN", json!({ "revoked": true })).at(1),
        Case::to("block a card", Admin, "PATCH /gift-cards/USED", blocked).at(1),
        image("sign an upload", "POST", "", new_image(PICTURE)),
        image("confirm an image", "PUT", &format!("/{}", seed.uploaded), Value::Null),
        image("remove an image", "DELETE", &format!("/{}", seed.old[0]), Value::Null),
    ]
}

fn orders() -> Vec<Case> {
    let line = |product: &str, quantity: u64| json!({ "productId": product, "quantity": quantity });
    let order = |name, body| Case::to(name, ADA, "POST /orders", body).once();
    let first = format!("POST /guests/{}/orders", NEW_GUEST.id);
    let dear = json!({
        "lines": [line("spread", 2), line("thing", 1)], "discountCode": "TEN", "giftCards": ["GIFT"],
        "expectedTotal": eur(2700),
    });
    let home = json!({ "name": "Ada", "line1": "Way 1", "city": "Ulm", "postalCode": "89073", "country": "DE" });
    let shipped = json!({ "lines": [line("thing", 1)], "shipTo": home });
    let of_cart = json!({ "lines": [line("thing", 3)], "cart": 7 });
    let shipped_to_germany = json!({ "lines": dear["lines"], "shipTo": { "country": "DE" } });
    let of_visitor = json!({ "lines": dear["lines"], "discountCode": "TEN", "shipTo": { "country": "DE" } });
    vec![
        Case::to("quote", ADA, "POST /quotes", dear.clone()),
        Case::to("quote as a visitor", ADA, "POST /guests/quotes", shipped_to_germany),
        Case::to("quote a code as a visitor", ADA, "POST /guests/quotes/discounted", of_visitor),
        order("order", things(2)),
        order("order with all there is", dear.clone()),
        order("order to an address", shipped.clone()),
        Case::to("order a cart", BOB, "POST /orders", of_cart).once(),
        order("order to an address, later", shipped).header("prefer", "respond-async"),
        order("order later", dear).header("prefer", "respond-async"),
        order("order too much", things(5000)),
        order("order too much, of three cells", basket("spread", 500)),
        Case::to("order as a guest", ADA, first, things(2)).once().header("guest-secret", NEW_GUEST.secret),
        order("order what is not there", basket("nothing", 1)),
    ]
}

fn afterwards(seed: &Seed) -> Vec<Case> {
    let post = |name, by, order: &Value, what: &str, body| {
        Case::to(name, by, format!("POST /orders/{}/{what}", order_id(order)), body)
    };
    let of_guest = |name, order: &Value, what: &str, body| {
        let request = format!("POST /guests/{}/orders/{}/{what}", GUEST.id, order_id(order));
        Case::to(name, ADA, request, body).header("guest-secret", GUEST.secret)
    };
    let money = |name, order: &Value, what: &str, reference: &str| {
        let request = format!("POST /invoices/{}/{what}", invoice_id(order));
        Case::to(name, Admin, request, json!({ "reference": reference }))
    };
    let why = json!({ "reason": "changed my mind" });
    let cancel = |name, by, order| post(name, by, order, "cancellation", why.clone());
    let receive = |name, receipt| {
        Case::to(name, Admin, format!("POST /returns/{}/receipt", text(&seed.returned["returnId"])), receipt)
    };
    let flag = |name, method: &str, order: &Value, body| {
        Case::to(name, Admin, format!("{method} /orders/{}/flag", order_id(order)), body)
    };
    let delivery = format!("POST /shipments/{}/delivery", text(&seed.shipped["shipmentId"]));
    let parcel = json!({ "lines": things(1)["lines"], "carrier": "Post" });
    let of_gift_card = "cancel a unit of what a gift card paid in part";
    vec![
        money("capture", &seed.pending, "payments", "bank-2"),
        money("confirm a refund", &seed.cancelled, "refunds", "refund-1"),
        Case::to("write off", Admin, format!("POST /invoices/{}/write-offs", invoice_id(&seed.lapsed)), json!({})),
        post("start a payment", ADA, &seed.pending, "payment", Value::Null),
        Case::to("report a payment", Admin, "POST /payment-events", json!(seed.report)),
        cancel("cancel", ADA, &seed.pending),
        of_guest("cancel as a guest", &seed.of_guest, "cancellation", json!({})),
        of_guest("start a guest's payment", &seed.of_guest, "payment", Value::Null),
        of_guest("request a return as a guest", &seed.delivered_to_guest, "returns", things(1)).once(),
        post("cancel a unit", ADA, &seed.paid, "cancellation", things(1)),
        post("request a return", ADA, &seed.delivered, "returns", things(1)).once(),
        receive("receive a return", json!({ "accepted": true, "restock": true })),
        cancel("cancel what is being paid", ADA, &seed.started),
        cancel("cancel what is paid", Admin, &seed.paid),
        post(of_gift_card, ADA, &seed.pending, "cancellation", basket("spread", 1)),
        receive("refuse a return", json!({ "accepted": false, "reason": "used" })),
        post("ship a unit", Admin, &seed.paid, "shipments", parcel).once(),
        Case::to("deliver a shipment", Admin, delivery, Value::Null),
        post("ship", Admin, &seed.paid, "status", json!({ "status": "SHIPPED" })),
        post("give an amount back", Admin, &seed.paid, "credits", json!({ "amount": eur(5), "reason": "a scratch" }))
            .once(),
        flag("flag", "PUT", &seed.paid, json!({ "reason": "a doubt" })),
        flag("unflag", "DELETE", &seed.flagged, Value::Null),
    ]
}
