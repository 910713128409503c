//! The cases: at least one request of every route that writes.

use std::sync::Arc;

use key_schema::value::ImageId;
use reqwest::Method;
use serde_json::{Value, json};

use super::consumers;
use super::guests::{FINISHED_GUEST, GUEST, NEW_GUEST};
use super::world::{Seed, text};

/// One request or event for a [`super::world::World`].
pub struct Case {
    pub name: &'static str,
    /// The function that handles it.
    pub function: &'static str,
    pub ask: Ask,
    /// Whether it takes several writes, each of which keeps the shop's invariants.
    pub has_steps: bool,
    /// Whether a repetition is applied again, as documented.
    pub adds_up: bool,
}

pub enum Ask {
    Request {
        by: Caller,
        method: Method,
        path: String,
        headers: Vec<(&'static str, String)>,
        body: Value,
    },
    /// An event for a consumer.
    Event(Value),
}

#[derive(Clone, Copy)]
pub enum Caller {
    Customer(&'static str),
    Admin,
}

use Caller::{Admin, Customer};
use shop::eur;
use shop::images::{PICTURE, new_image};

const ADA: Caller = Customer("ada");

impl Case {
    pub fn event(name: &'static str, function: &'static str, event: Value) -> Self {
        Self { name, function, ask: Ask::Event(event), has_steps: false, adds_up: false }
    }

    fn request(
        name: &'static str,
        function: &'static str,
        by: Caller,
        method: Method,
        path: impl Into<String>,
    ) -> Self {
        let ask = Ask::Request { by, method, path: path.into(), headers: Vec::new(), body: Value::Null };
        Self { name, function, ask, has_steps: false, adds_up: false }
    }

    fn post(name: &'static str, function: &'static str, by: Caller, path: impl Into<String>, content: Value) -> Self {
        Self::request(name, function, by, Method::POST, path).body(content)
    }

    fn body(mut self, content: Value) -> Self {
        if let Ask::Request { body, .. } = &mut self.ask {
            *body = content;
        }
        self
    }

    fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ask::Request { headers, .. } = &mut self.ask {
            headers.push((name, value.to_owned()));
        }
        self
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
    [customers(), catalogue(), images(seed), orders(), afterwards(seed), consumers::cases(seed)]
        .into_iter()
        .flatten()
        .collect()
}

fn customers() -> Vec<Case> {
    let cleo = json!({ "username": "cleo", "email": "cleo@example.com", "name": "Cleo" });
    let renamed = json!({ "username": "bobby", "email": "bobby@example.com", "name": "Bobby" });
    let cart = json!({ "lines": [{ "productId": "spread", "quantity": 1 }, { "productId": "thing", "quantity": 1 }] });
    let home = json!({ "addressId": "home", "name": "Ada", "line1": "Way 1", "city": "Ulm", "postalCode": "89073", "country": "DE" });
    let book = json!({ "addresses": [home], "default": "home" });
    let at_cart = "/customers/ada/cart";
    let guest = json!({ "email": "gustav@example.com", "name": "Gustav" });
    let secret = "YSBndWVzdCB3aG9tIG5vYm9keSBrbm93cyBzbyBmYXI";
    vec![
        Case::post("introduce a guest", "create-guest", ADA, "/guests", guest).header("guest-secret", secret),
        Case::post("sign up", "create-customer", Customer("cleo"), "/customers", cleo),
        Case::request("rename a customer", "update-customer", Customer("bob"), Method::PATCH, "/customers/bob")
            .header("if-match", "\"1\"")
            .body(renamed),
        Case::request("put a cart", "put-cart", ADA, Method::PUT, at_cart).body(cart),
        Case::request("put an address book", "put-addresses", ADA, Method::PUT, "/customers/ada/addresses").body(book),
        Case::request("erase a customer", "erase-customer", Customer("bob"), Method::DELETE, "/customers/bob"),
        Case::request("erase a customer with orders", "erase-customer", Admin, Method::DELETE, "/customers/zoe")
            .with_steps(),
        Case::request(
            "erase a guest",
            "erase-customer",
            Admin,
            Method::DELETE,
            format!("/customers/{}", FINISHED_GUEST.id),
        )
        .with_steps(),
        Case::request(
            "claim a guest",
            "claim-guest",
            Admin,
            Method::PUT,
            format!("/customers/bob/guests/{}", GUEST.id),
        ),
        Case::request("delete a cart", "delete-cart", ADA, Method::DELETE, at_cart),
    ]
}

fn catalogue() -> Vec<Case> {
    let product = json!({
        "productId": "new", "name": "New", "description": "-", "category": "things", "price": eur(500), "stock": 7,
        "cells": 2,
    });
    let mut variant = product.clone();
    variant["variantOf"] = json!("thing");
    let rates = json!({ "zones": [{ "currency": "EUR", "by": "price", "bands": [{ "price": 490 }] }] });
    let viewed = json!({ "products": ["thing", "spread", "thing", "nothing"] });
    let by_visitor = json!({ "products": viewed["products"], "visitor": "0123456789abcdef" });
    let batch = json!({ "products": [
        { "create": product },
        { "update": { "productId": "thing", "version": 1, "changes": { "name": "Another name" } } },
        { "update": { "productId": "spread", "version": 1, "changes": { "price": eur(1100) } } },
    ] });
    let patch = |name, path: &str, body| {
        Case::request(name, "update-product", Admin, Method::PATCH, path).header("if-match", "\"1\"").body(body)
    };
    let adjust = |name, path: &str, delta: i64| {
        let case = Case::post(name, "adjust-stock", Admin, path, json!({ "delta": delta }));
        case.header("idempotency-key", "adjust-1")
    };
    vec![
        Case::post("make a product", "create-product", Admin, "/products", product),
        patch("rename a product", "/products/thing", json!({ "name": "Another name" })),
        patch("another price", "/products/thing", json!({ "price": eur(1100) })),
        patch("another price, in three cells", "/products/spread", json!({ "price": eur(1100) })).with_steps(),
        patch("a recall, in three cells", "/products/spread", json!({ "recalled": true })).with_steps(),
        patch(
            "a variant of another",
            "/products/thing",
            json!({ "variantOf": "spread", "attributes": { "size": "M" } }),
        ),
        Case::post("make a variant", "create-product", Admin, "/products", variant),
        patch("out of the lists", "/products/thing", json!({ "listed": false })),
        patch("more cells", "/products/spread", json!({ "cells": 5 })).with_steps(),
        Case::post("several products", "write-products", Admin, "/products/batch", batch).with_steps(),
        Case::request("put tax rates", "put-taxes", Admin, Method::PUT, "/taxes")
            .header("if-match", "\"0\"")
            .body(json!({ "countries": [{ "country": "DE", "standard": 1900 }] })),
        Case::request("put shipping rates", "put-shipping", Admin, Method::PUT, "/shipping")
            .header("if-match", "\"0\"")
            .body(rates),
        adjust("units arrive", "/products/thing/stock", 5),
        adjust("units arrive, in three cells", "/products/spread/stock", 5).with_steps(),
        adjust("units are taken out, of three cells", "/products/spread/stock", -25).with_steps(),
        Case::post("view a product", "record-view", ADA, "/products/thing/views", Value::Null).adding_up(),
        Case::post("view products", "record-views", ADA, "/views", viewed.clone()).adding_up(),
        Case::post("view products as a visitor", "record-views", ADA, "/views", by_visitor).adding_up(),
        Case::post("make a code", "create-discount", Admin, "/discounts", json!({ "code": "NEW", "percent": 5 })),
        Case::post(
            "make a card",
            "create-gift-card",
            Admin,
            "/gift-cards",
            json!({ "code": "NEW", "balance": eur(1) }),
        ),
        Case::request("revoke a code", "update-discount", Admin, Method::PATCH, "/discounts/TEN")
            .header("if-match", "\"1\"")
            .body(json!({ "revoked": true })),
        Case::request("block a card", "update-gift-card", Admin, Method::PATCH, "/gift-cards/USED")
            .header("if-match", "\"1\"")
            .body(json!({ "blocked": true, "validUntil": "2031-01-01" })),
    ]
}

fn images(seed: &Seed) -> Vec<Case> {
    let at = |image: &ImageId| format!("/products/thing/images/{image}");
    vec![
        Case::post("sign an upload", "add-image", Admin, "/products/thing/images", new_image(PICTURE)),
        Case::request("confirm an image", "confirm-image", Admin, Method::PUT, at(&seed.uploaded)),
        Case::request("remove an image", "remove-image", Admin, Method::DELETE, at(&seed.old[0])),
    ]
}

fn orders() -> Vec<Case> {
    let line = |product: &str, quantity: u64| json!({ "productId": product, "quantity": quantity });
    let order = |name, body| Case::post(name, "place-order", ADA, "/orders", body).header("idempotency-key", "k");
    let first = format!("/guests/{}/orders", NEW_GUEST.id);
    let dear = json!({
        "lines": [line("spread", 2), line("thing", 1)], "discountCode": "TEN", "giftCards": ["GIFT"],
        "expectedTotal": eur(2700),
    });
    let home = json!({ "name": "Ada", "line1": "Way 1", "city": "Ulm", "postalCode": "89073", "country": "DE" });
    let shipped = json!({ "lines": [line("thing", 1)], "shipTo": home });
    let of_cart = json!({ "lines": [line("thing", 3)], "cart": 7 });
    vec![
        Case::post("quote", "quote-basket", ADA, "/quotes", dear.clone()),
        order("order", json!({ "lines": [line("thing", 2)] })),
        order("order with all there is", dear.clone()),
        order("order to an address", shipped.clone()),
        Case::post("order a cart", "place-order", Customer("bob"), "/orders", of_cart).header("idempotency-key", "k"),
        order("order to an address, later", shipped).header("prefer", "respond-async"),
        order("order later", dear).header("prefer", "respond-async"),
        order("order too much", json!({ "lines": [line("thing", 5000)] })),
        order("order too much, of three cells", json!({ "lines": [line("spread", 500)] })),
        Case::post("order as a guest", "place-guest-order", ADA, first, json!({ "lines": [line("thing", 2)] }))
            .header("guest-secret", NEW_GUEST.secret)
            .header("idempotency-key", "k"),
        order("order what is not there", json!({ "lines": [line("nothing", 1)] })),
    ]
}

fn afterwards(seed: &Seed) -> Vec<Case> {
    let at = |order: &Value, what: &str| format!("/orders/{}/{what}", text(&order["orderId"]));
    let of_guest = |what| format!("/guests/{}{}", GUEST.id, at(&seed.of_guest, what));
    let payments = |order: &Value| format!("/invoices/{}/payments", text(&order["invoice"]["invoiceId"]));
    let cancel = |name, by, order| {
        Case::post(name, "cancel-order", by, at(order, "cancellation"), json!({ "reason": "changed my mind" }))
    };
    let receive = |name, receipt| {
        let path = format!("/returns/{}/receipt", text(&seed.returned["returnId"]));
        Case::post(name, "receive-return", Admin, path, receipt)
    };
    let ship = json!({ "status": "SHIPPED" });
    let one = json!([{ "productId": "thing", "quantity": 1 }]);
    let flag = json!({ "reason": "a doubt" });
    vec![
        Case::post("capture", "capture-payment", Admin, payments(&seed.pending), json!({ "reference": "bank-2" })),
        Case::post(
            "confirm a refund",
            "confirm-refund",
            Admin,
            payments(&seed.cancelled).replace("/payments", "/refunds"),
            json!({ "reference": "refund-1" }),
        ),
        Case::post("start a payment", "start-payment", ADA, at(&seed.pending, "payment"), Value::Null),
        Case::post("report a payment", "receive-payment-event", Admin, "/payment-events", json!(seed.report)),
        cancel("cancel", ADA, &seed.pending),
        Case::post("cancel as a guest", "cancel-guest-order", ADA, of_guest("cancellation"), json!({}))
            .header("guest-secret", GUEST.secret),
        Case::post("start a guest's payment", "start-guest-payment", ADA, of_guest("payment"), Value::Null)
            .header("guest-secret", GUEST.secret),
        Case::post("cancel a unit", "cancel-order", ADA, at(&seed.paid, "cancellation"), json!({ "lines": one })),
        Case::post("request a return", "request-return", ADA, at(&seed.delivered, "returns"), json!({ "lines": one }))
            .header("idempotency-key", "return-1"),
        receive("receive a return", json!({ "accepted": true, "restock": true })),
        cancel("cancel what is being paid", ADA, &seed.started),
        cancel("cancel what is paid", Admin, &seed.paid),
        Case::post(
            "cancel a unit of what a gift card paid in part",
            "cancel-order",
            ADA,
            at(&seed.pending, "cancellation"),
            json!({ "lines": [{ "productId": "spread", "quantity": 1 }] }),
        ),
        receive("refuse a return", json!({ "accepted": false, "reason": "used" })),
        Case::post(
            "ship a unit",
            "ship-items",
            Admin,
            at(&seed.paid, "shipments"),
            json!({ "lines": one, "carrier": "Post" }),
        )
        .header("idempotency-key", "shipment-1"),
        Case::post(
            "deliver a shipment",
            "deliver-shipment",
            Admin,
            format!("/shipments/{}/delivery", text(&seed.shipped["shipmentId"])),
            Value::Null,
        ),
        Case::post("ship", "change-order-status", Admin, at(&seed.paid, "status"), ship),
        Case::request("flag", "flag-order", Admin, Method::PUT, at(&seed.paid, "flag")).body(flag),
        Case::request("unflag", "unflag-order", Admin, Method::DELETE, at(&seed.flagged, "flag")),
    ]
}
