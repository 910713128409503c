//! Every field on the list of fields that customers may see is shown in some reply.

use http_api::ADMIN_SCOPE;
use key_schema::entity::{CustomerStats, Sums};
use shop::customer_view::{self, Seen, VISIBLE};
use shop::events::functions_by_event_time;
use shop::payments::Payments;
use shop::tax_engine::TaxEngine;

use super::Sample;
use super::ownership::{consume, rightful};
use crate::completeness::names;
use crate::prelude::*;
use crate::{claimed_guests, guests, invoice_numbers, payments, tax_engine, taxes};

/// A client without the admin scope, and the fields shown to it so far.
struct Witness {
    client: Client,
    seen: BTreeSet<Seen>,
}

impl Witness {
    fn note(&mut self, method: &Method, path: &str, reply: &Reply) {
        self.seen.extend(customer_view::seen(method, path, &reply.body, reply.status));
    }

    async fn post(&mut self, path: &str, key: &str, body: Value) -> Reply {
        self.send(Method::POST, path, &[("idempotency-key", key)], Some(body)).await
    }

    async fn get(&mut self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], None).await
    }

    async fn send(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Reply {
        let reply = self.client.send(method.clone(), path, headers, body.map(|body| body.to_string())).await;
        self.note(&method, path, &reply);
        reply
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_on_the_list_is_shown_in_some_reply() {
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    let mut ada = Witness { client: shop.customer("ada"), seen: BTreeSet::new() };
    for name in functions_by_event_time() {
        if !names().contains(&name) {
            consume(&shop, &name).await;
            continue;
        }
        shop.prepare_for(&name).await;
        let sample = Sample::of(&name);
        let reply = sample.send(&rightful(&shop, &sample)).await;
        if sample.scopes != [ADMIN_SCOPE] {
            ada.note(&sample.method, &sample.path, &reply);
        }
    }
    more(&shop, &mut ada).await;
    taxed(&mut ada).await;
    taxed_by_an_engine(&mut ada).await;
    numbered(&mut ada).await;
    claimed(&mut ada).await;
    disputed(&mut ada).await;

    let is_unseen = |seen: &&Seen| !SHOWN_ELSEWHERE.contains(&(&*seen.0, &*seen.1));
    let unseen: Vec<_> = VISIBLE.difference(&ada.seen).filter(is_unseen).collect();
    assert!(unseen.is_empty(), "customers are not shown what is on the list in customer-view.txt: {unseen:?}");
}

/// The taxes of an order in a shop whose prices exclude them.
async fn taxed(ada: &mut Witness) {
    let shop = taxes::shop(false).await;
    taxes::put(&shop, "0", &taxes::rates(1900, 700)).await.expect(200);
    ada.client = shop.customer("ada");
    ada.post("/quotes", "taxed", taxes::both()).await.expect(200);
    let order = ada.post("/orders", "taxed", taxes::both()).await.expect(201);
    let unit = json!({ "lines": [{ "productId": order["lines"][0]["productId"], "quantity": 1 }] });
    ada.post(&format!("/orders/{}/cancellation", order_id(&order)), "a unit", unit).await.expect(200);
}

async fn taxed_by_an_engine(ada: &mut Witness) {
    let engine = TaxEngine::start().await;
    let shop = tax_engine::shop(&engine, false).await;
    ada.client = shop.customer("ada");
    ada.post("/orders", "by an engine", tax_engine::order()).await.expect(201);
}

/// An invoice with its number.
async fn numbered(ada: &mut Witness) {
    let shop = invoice_numbers::shop("2026").await;
    let order = invoice_numbers::order(&shop, 0).await;
    shop.number().await;
    ada.client = shop.customer("ada");
    ada.get(&format!("/orders/{}", order_id(&order))).await;
}

/// A guest whom the customer has claimed.
async fn claimed(ada: &mut Witness) {
    let (shop, _) = claimed_guests::shop().await;
    claimed_guests::claim(&shop.admin(), "ada", guests::ID).await.expect(204);
    ada.client = shop.customer("ada");
    ada.get(&format!("/customers/{}/export", guests::ID)).await;
}

/// A payment that the customer's bank took back, and that staff wrote off.
async fn disputed(ada: &mut Witness) {
    let shop = payments::shop().await;
    let order = payments::two_books::written_off(&shop).await;
    ada.client = shop.customer("ada");
    let credits = format!("/orders/{}/credits", order_id(&order));
    let body = json!({ "amount": eur(5), "reason": "a scratch" });
    shop.admin().send(Method::POST, &credits, &[("idempotency-key", "one")], Some(body.to_string())).await.expect(200);
    ada.get(&format!("/orders/{}", order_id(&order))).await;
}

/// Fields that other tests cover: an order is delayed if its message is a dead letter (`drain.rs`), and the price of
/// shipping goes back with the last unit (`returns/allowances.rs`). The client compares the id of each problem's request,
/// and takes it away.
const SHOWN_ELSEWHERE: [(&str, &str); 3] =
    [("QueuedOrder", "delayedAt"), ("Allowance", "shipping"), ("Problem", "requestId")];

/// Requests for fields that the sample events do not show: optional fields, an order that is refused after it was
/// queued, and problems.
async fn more(shop: &Shop, ada: &mut Witness) {
    let admin = shop.admin();
    let card = json!({ "lines": [], "giftCards": ["4242 4242 4242 4242"] });
    ada.post("/orders", "a card", card).await.problem(Kind::CardNumber);
    ada.post("/orders", "no lines", json!({})).await.problem(Kind::Validation);
    let code = json!({
        "code": "WINDOW", "percent": 1, "from": "2026-01-01T00:00:00Z", "to": "2999-01-01T00:00:00Z", "maxUses": 5,
    });
    admin.post("/discounts", code).await.expect(201);
    ada.get("/discounts/WINDOW").await.expect(200);
    let fixed = json!({ "code": "FIXED", "amount": eur(100), "minSubtotal": eur(500) });
    admin.post("/discounts", fixed).await.expect(201);
    ada.get("/discounts/FIXED").await.expect(200);
    spread(shop, ada).await;
    carted(shop, ada).await;

    let of = |quantity: u64| basket("spread", quantity);
    let with = |field: &str, value: Value| {
        let mut body = of(1);
        body[field] = value;
        body
    };
    ada.post("/orders", "too many", of(1000)).await.problem(Kind::OutOfStock);
    ada.post("/orders", "cheaper", with("expectedTotal", eur(1))).await.problem(Kind::PriceChanged);
    ada.post("/orders", "no code", with("discountCode", json!("NONE"))).await.problem(Kind::DiscountInvalid);
    ada.post("/orders", "less by card", with("maxCardAmount", eur(1))).await.problem(Kind::PriceChanged);
    let to = |country: &str, code: &str| {
        let (line2, region) = ("Left door", "A region");
        json!({
            "name": "Ada", "line1": "Way 1", "line2": line2, "city": "City", "postalCode": code, "region": region,
            "country": country,
        })
    };
    ada.post("/orders", "shipped", with("shipTo", to("FR", "75001"))).await.expect(201);
    ada.post("/orders", "too heavy", with("shipTo", to("DE", "10115"))).await.problem(Kind::NotShipped);
    let mut by_pigeon = with("shipTo", to("FR", "75001"));
    by_pigeon["shippingMethod"] = json!("pigeon");
    ada.post("/orders", "by pigeon", by_pigeon).await.problem(Kind::NotShipped);
    ada.post("/orders", "no address", with("shipTo", json!({ "addressId": "none" }))).await.problem(Kind::NotFound);
    let capacity =
        Fault::Throttle { reason: "TableWriteProvisionedThroughputExceeded", resource: "the table".to_owned() };
    shop.fault_proxy().inject(commit(), capacity, 1);
    ada.post("/orders", "no capacity", of(1)).await.expect(202);
    let order = ada.post("/orders", "spread", of(1)).await.expect(201);
    let order = format!("/orders/{}", order_id(&order));
    ada.post(&format!("{order}/cancellation"), "", json!({ "reason": "found some" })).await.expect(200);
    let invoice = format!("{}/refunds", order.replace("/orders/", "/invoices/inv-"));
    admin.post(&invoice.replace("/refunds", "/payments"), json!({ "reference": "bank-2" })).await.expect(200);
    ada.get(&order).await.expect(200);
    admin.put(&format!("{order}/flag"), json!({ "reason": "why" })).await.expect(200);
    ada.send(Method::PUT, "/customers/ada/cart", &[], Some(of(1))).await.expect(200);
    ada.get("/customers/ada/export").await.expect(200);
    ada.post("/orders", "of a cart", with("cart", json!(1))).await.problem(Kind::CartChanged);
    admin.post(&invoice, json!({ "reference": "refund-2" })).await.expect(200);
    let mut two = of(2);
    two["payLater"] = json!(true);
    let some = ada.post("/orders", "two", two).await.expect(201);
    ada.post(&format!("/orders/{}/cancellation", order_id(&some)), "", of(1)).await.expect(200);
    ada.get(&order).await.expect(200);
    let shipped = Sample::of("get-order").path;
    ada.get(&shipped).await.expect(200);
    ada.post(&format!("{shipped}/cancellation"), "", json!({})).await.problem(Kind::InvalidTransition);
    give_back(shop, ada).await;
    let stale = [("if-match", "\"77\"")];
    let change = Some(json!({ "name": "Ada" }));
    ada.send(Method::PATCH, "/customers/ada", &stale, change).await.problem(Kind::VersionConflict);
    let quota = Fault::Throttle { reason: "TableWriteAccountLimitExceeded", resource: "the table".to_owned() };
    shop.fault_proxy().inject(commit(), quota, usize::MAX);
    ada.post("/orders", "busy", of(1)).await.problem(Kind::Throttled);
    shop.fault_proxy().heal();
    ada.send(Method::POST, "/products", &[], Some(json!({}))).await.of_gateway(403);

    let waits = [("idempotency-key", "waits"), ("prefer", "respond-async")];
    let accepted = ada.send(Method::POST, "/orders", &waits, Some(of(1000))).await;
    let location = accepted.header("location").expect("a location").to_owned();
    while ada.get(&location).await.expect(200)["status"] == "QUEUED" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    let customer_id = "ada".parse().expect("an id");
    shop.put(&CustomerStats { customer_id, orders: 1, spent: Sums::default(), open_units: 1_000 }).await;
    ada.post("/orders", "more than may be open", of(1)).await.problem(Kind::OpenUnits);
}

/// The product `spread` with an image, and a variant that has all else that a product can have, and is recalled.
async fn spread(shop: &Shop, ada: &mut Witness) {
    let admin = shop.admin();
    let mut product = json!({
        "productId": "spread", "name": "Spread", "description": "Stoneware. ".repeat(100), "category": "things",
        "price": eur(100), "stock": 100, "cells": 2, "weightGrams": 40_000, "attributes": { "size": "M" },
    });
    admin.post("/products", product.clone()).await.expect(201);
    product["productId"] = json!("variant");
    admin.post("/products", product).await.expect(201);
    admin.patch("/products/variant", "*", every_change("spread")).await.expect(200);
    ada.get("/products/variant").await.expect(200);
    ada.get("/products/spread/variants").await.expect(200);
    let image = shop.uploaded("spread").await;
    shop.say_of_image("spread", &image, json!({ "alt": "A spread", "width": 640, "height": 480 })).await.expect(200);
    ada.get("/products/spread").await.expect(200);
    ada.get("/products?category=things").await.expect(200);
    ada.post("/orders", "recalled", basket("variant", 1)).await.problem(Kind::ProductRecalled);
    several_codes(shop, ada).await;
}

/// A cart with an image, and with a product that was sold out and not listed, and costs more now.
async fn carted(shop: &Shop, ada: &mut Witness) {
    shop.create("gone", json!({ "stock": 0, "listed": false })).await;
    let lines = ["gone", "spread"].map(|id| json!({ "productId": id, "quantity": 1 }));
    let cart = json!({ "lines": lines });
    ada.send(Method::PUT, "/customers/ada/cart", &[], Some(cart)).await.expect(200);
    ada.get("/customers/ada/export").await.expect(200);
    shop.set("p#gone", "p#gone", "availability", json!({ "S": "fewLeft" })).await;
    shop.admin().patch("/products/gone", "*", json!({ "listed": true, "price": eur(5000) })).await.expect(200);
    ada.get("/customers/ada/cart").await.expect(200);
}

/// An order with several codes, one of them of a category.
async fn several_codes(shop: &Shop, ada: &mut Witness) {
    let things = json!({ "code": "THINGS", "percent": 10, "category": "things", "combinable": true });
    let all = json!({ "code": "ALL", "percent": 10, "combinable": true });
    for code in [things, all] {
        shop.admin().post("/discounts", code).await.expect(201);
    }
    ada.get("/discounts/THINGS").await.expect(200);
    let lines = json!([{ "productId": "spread", "quantity": 1 }]);
    let body = json!({ "lines": lines, "discountCodes": ["THINGS", "ALL"] });
    ada.post("/quotes", "", body.clone()).await.expect(200);
    ada.post("/orders", "several codes", body).await.expect(201);
}

/// Units of an order are cancelled, returned and refused, too many of them, and too late.
async fn give_back(shop: &Shop, ada: &mut Witness) {
    let admin = shop.admin();
    shop.gift_card("GIFT-FOR-RETURNS", 150).await;
    let body = json!({ "lines": [{ "productId": "spread", "quantity": 5 }], "giftCards": ["GIFT-FOR-RETURNS"] });
    let order = ada.post("/orders", "to return", body).await.expect(201);
    let (id, invoice) = (order_id(&order), order["invoice"]["invoiceId"].as_str());
    let path = format!("/orders/{id}");
    let units = |quantity: u64| basket("spread", quantity);
    ada.post(&format!("{path}/cancellation"), "", units(9)).await.problem(Kind::TooFewUnits);
    ada.post(&format!("{path}/cancellation"), "", units(1)).await.expect(200);
    let payments = format!("/invoices/{}/payments", invoice.expect("an id"));
    admin.post(&payments, json!({ "reference": "bank-3" })).await.expect(200);
    let url = "https://parcel.example/PP1";
    let shipment = json!({ "carrier": "Parcel Post", "trackingNumber": "PP1", "trackingUrl": url }).to_string();
    let (shipments, key) = (format!("{path}/shipments"), [("idempotency-key", "a")]);
    let shipped = admin.send(Method::POST, &shipments, &key, Some(shipment)).await.expect(201);
    let delivery = format!("/shipments/{}/delivery", shipped["shipmentId"].as_str().expect("an id"));
    admin.post(&delivery, Value::Null).await.expect(200);
    ada.get(&shipments).await.expect(200);
    let refused = json!({ "accepted": false, "reason": "used" });
    let accepted = json!({ "accepted": true, "restock": true });
    for (key, quantity, receipt) in [("a", 1, refused), ("b", 4, accepted)] {
        let asked = ada.post(&format!("{path}/returns"), key, units(quantity)).await.expect(201);
        admin.receive(&asked, receipt).await.expect(200);
    }
    ada.get(&path).await.expect(200);
    let block = json!({ "blocked": true, "validUntil": "2100-01-01" });
    admin.patch("/gift-cards/GIFT-FOR-RETURNS", "*", block).await.expect(200);
    ada.get("/gift-cards/GIFT-FOR-RETURNS").await.expect(200);
    shop.set(&format!("o#{id}"), &format!("o#{id}"), "deliveredAt", json!({ "S": "2026-01-01T00:00:00.000Z" })).await;
    ada.post(&format!("{path}/returns"), "late", units(1)).await.problem(Kind::WithdrawalOver);
}
