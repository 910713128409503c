//! An eventful day: every route and every consumer, with the situations in which they make rare calls.

use devstack::fault_proxy::{Call, WriteLimit};
use devstack::iam::Ruling;
use devstack::template::Function;
use local::functions;
use serde::Serialize;
use shop::events::event;
use shop::imported::other_invoice_id;
use shop::payments::Payments;
use shop::queue::{DEAD_LETTERS, QUEUE};
use shop::reconcile::reconciled;
use tokio::sync::OnceCell;

use crate::history::exported;
use crate::prelude::*;
use crate::sample_events::routes_by_event_time;

/// The number of orders for a stock in two cells. Each order takes its units from a random cell, so the probability that
/// all of them take them from the same cell is one in eight million.
const ENOUGH_FOR_BOTH_CELLS: usize = 24;

/// A shop whose event sources do not retry.
async fn open() -> Shop {
    let shop = Shop::open_silently_paying(Payments::start().await, |template| {
        reconciled(template, 0, 100_000);
        for queue in &mut template.queues {
            queue.visibility_timeout_seconds = 1;
        }
        // The publisher retries until its timeout.
        for function in template.functions.iter_mut().filter(|function| function.handler == "publish-order-events") {
            function.timeout_seconds = 5;
        }
        // A waiting room that is never full.
        for function in template.functions.iter_mut().filter(|function| function.handler == "place-order") {
            function.environment.insert("WAITING_ROOM_ORDERS".to_owned(), "1000000".to_owned());
        }
        for function in &mut template.functions {
            for (name, value) in [("TAX_COUNTRY", "DE"), ("INVOICE_SERIES", "2026"), ("STATUS_SHARDS", "2")] {
                function.environment.entry(name.to_owned()).and_modify(|old| value.clone_into(old));
            }
        }
        for source in &mut template.stream_sources {
            (source.enabled, source.maximum_retry_attempts) = (true, Some(0));
        }
    })
    .await;
    for id in ["ada", "bob"] {
        shop.sign_up(id).await;
    }
    shop.product("thing", 1000, 100).await;
    shop.create("spread", json!({ "cells": 2 })).await;
    shop.discount("TEN", 10, Some(99)).await;
    shop.gift_card("GIFT-FOR-ADA", 100_000).await;
    shop
}

/// Sends every route its sample event.
async fn run_sample_events(shop: &Shop) {
    let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start");
    for name in routes_by_event_time() {
        let (_, invoke) = functions.handlers.iter().find(|(known, _)| *known == name).expect("it is known");
        shop.prepare_for(&name).await;
        invoke(event(&name)).await.expect("a response");
    }
}

fn spread(quantity: u64) -> Value {
    basket("spread", quantity)
}

/// Changes the marks of transfers in a cell, directly in the table.
async fn mark(shop: &Shop, more: i64) {
    shop.update("p#spread", "stock", "ADD transferred :more", &json!({ ":more": { "N": more.to_string() } })).await;
}

/// Occasional requests of customers and admins.
async fn now_and_then(shop: &Shop) {
    let (ada, admin, any) = (shop.customer("ada"), shop.admin(), [("if-match", "*")]);
    let change = async |method: Method, path: &str, body: Value, status: u16| {
        admin.send(method, path, &any, Some(body.to_string())).await.expect(status);
    };
    change(Method::PATCH, "/customers/bob", json!({ "email": "b@b.de", "username": "bobby" }), 200).await;
    // The same names in another case keep their claims.
    change(Method::PATCH, "/customers/bob", json!({ "email": "B@b.de", "username": "Bobby" }), 200).await;
    change(Method::PATCH, "/customers/bob", json!({ "name": "Bob" }), 200).await;
    admin.get("/customers?username=bobby").await.expect(200);
    admin.get("/customers?email=b@b.de").await.expect(200);
    shop.product("changed", 1000, 100).await;
    change(Method::PATCH, "/products/changed", every_change("spread"), 200).await;
    shop.nobody().get("/products/spread/variants").await.expect(200);
    change(Method::PATCH, "/products/thing", json!({ "price": eur(1100) }), 200).await;
    for _ in 0..100 {
        change(Method::POST, "/products/thing/views", json!({}), 204).await;
    }
    // Views of a product that nobody has viewed, and of one that has views in every shard.
    for product in ["spread", "thing"] {
        let views = json!({ "products": [product], "visitor": "Zm9vYmFyYmF6cXV4" });
        shop.nobody().post("/views", views).await.expect(204);
    }
    // An order that is not placed may be in the queue.
    for what in ["invoice", "products"] {
        ada.get(&format!("/orders/none/{what}")).await.expect(404);
    }
    admin.put("/orders/none/flag", json!({ "reason": "why" })).await.expect(404);
    // An order that the index has before its lines.
    let order = format!("o#{}", order_id(&ada.order("ahead", things(1)).await.expect(201)));
    let line = shop.item(&order, "p#thing").await;
    shop.update(&order, "p#thing", "REMOVE GSI2PK, GSI2SK", &Value::Null).await;
    ada.get("/customers/ada/orders").await.expect(200);
    let keys = json!({ ":pk": line["GSI2PK"], ":sk": line["GSI2SK"] });
    shop.update(&order, "p#thing", "SET GSI2PK = :pk, GSI2SK = :sk", &keys).await;
    // A stock in several cells, all of which are read before an order is refused.
    change(Method::PATCH, "/products/spread", json!({ "cells": 4 }), 200).await;
    change(Method::PATCH, "/products/spread", json!({ "cells": 2 }), 200).await;
    admin.get("/products/spread").await.expect(200);
    change(Method::PATCH, "/products/spread", json!({ "price": eur(1100) }), 200).await;
    change(Method::POST, "/products/spread/stock", json!({ "delta": 10 }), 200).await;
    // One unit more goes to one cell, and the next one to the other.
    for _ in 0..2 {
        change(Method::POST, "/products/spread/stock", json!({ "delta": 1 }), 200).await;
    }
    change(Method::POST, "/products/spread/stock", json!({ "delta": -1000 }), 409).await;
    ada.order("too many, spread", spread(1000)).await.expect(409);
    // The same by batches.
    let batch = async |entry: Value, status: u64| {
        let answer = admin.post("/products/batch", json!({ "products": [entry] })).await.expect(200);
        assert_eq!(answer["results"][0]["status"], status, "{answer}");
    };
    batch(json!({ "create": goods("batched", json!({ "stock": 8, "cells": 2 })) }), 201).await;
    for (version, changes) in (1..).zip([json!({ "name": "M" }), json!({ "cells": 4 }), json!({ "cells": 2 })]) {
        batch(json!({ "update": { "productId": "batched", "version": version, "changes": changes } }), 200).await;
    }
    let dearer = json!({ "productId": "batched", "version": 4, "changes": { "price": eur(2) } });
    batch(json!({ "update": dearer }), 200).await;
    // If the marks of transfers do not add up, all cells are read in one transaction.
    mark(shop, 1).await;
    ada.order("far too many, spread", spread(1000)).await.expect(409);
    change(Method::POST, "/products/spread/stock", json!({ "delta": -1000 }), 409).await;
    mark(shop, -1).await;
    // A replay of an adjustment with a key, and a refused adjustment with a new key.
    let key = [("idempotency-key", "ten more")];
    for delta in [10, -1000] {
        let body = Some(json!({ "delta": delta }).to_string());
        admin.send(Method::POST, "/products/spread/stock", &key, body).await.expect(if delta > 0 { 200 } else { 422 });
    }
    let body = json!({
        "name": "N", "description": "", "category": "things", "price": eur(1), "stock": 1, "variantOf": "spread",
    });
    admin.send(Method::POST, "/products", &key[..0], Some(body.to_string())).await.expect(201);
    admin.post_once("/products", "new", body).await.expect(201);
    for at in 0..ENOUGH_FOR_BOTH_CELLS {
        ada.order(&format!("spread {at}"), spread(1)).await.expect(201);
    }
    let mut dear = things(2);
    (dear["discountCode"], dear["giftCards"]) = (json!("TEN"), json!(["GIFT-FOR-ADA"]));
    let order = ada.order("dear", dear.clone()).await.expect(201);
    ada.order("dear", dear).await.expect(201);
    ada.order("kept", things(1)).await.expect(201);
    paid(shop).await;
    ada.order("too many", things(1000)).await.expect(409);
    ada.cancel(&order, json!({})).await.expect(200);
}

/// Late payments, refunds, refusals, and an invoice with an id of another shop.
async fn paid(shop: &Shop) {
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let mut order = ada.order("paid late", things(1)).await.expect(201);
    order["invoice"]["invoiceId"] = json!(other_invoice_id(shop, &order).await);
    let invoice = format!("/invoices/{}", invoice_id(&order));
    admin.get(&invoice).await.expect(200);
    admin.get(&format!("{invoice}/payments")).await.expect(200);
    admin.confirm_refund(&order, "bank-1").await.expect(409);
    admin.post(&format!("{invoice}/write-offs"), json!({})).await.expect(409);
    admin.cancel(&order, json!({})).await.expect(200);
    admin.advance(&order, "SHIPPED").await.expect(409);
    admin.capture(&order, "bank-1").await.expect(200);
    admin.capture(&order, "bank-2").await.expect(409);
    admin.confirm_refund(&order, "bank-1").await.expect(200);

    let mut dear = things(2);
    (dear["discountCode"], dear["giftCards"]) = (json!("TEN"), json!(["SMALL-CARD"]));
    shop.gift_card("SMALL-CARD", 100).await;
    let unpaid = ada.order("never paid", dear).await.expect(201);
    shop.age(&unpaid).await;
    assert_eq!(shop.expire().await["expired"], 1);
    shop.age_invoice(&unpaid, "2026-01-01T00:00:00.000Z").await;
    // Others are older than a minute, if the day is long.
    assert_ne!(shop.number().await["numbered"], 0);
    super::catalogue::codes_changed(shop).await;

    let order = ada.order("kept too long", things(1)).await.expect(201);
    admin.capture(&order, "bank-3").await.expect(200);
    admin.advance(&order, "SHIPPED").await.expect(200);
    admin.cancel(&order, json!({})).await.expect(409);
}

async fn send(shop: &Shop, key: &str, queued_at: impl Serialize, request: Value) {
    let message = json!({
        "version": 1, "customerId": "ada", "idempotencyKey": key, "queuedAt": queued_at, "request": request,
    });
    shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": message.to_string() })).await;
}

/// The outcomes of queued orders.
async fn waiting(shop: &Shop) {
    let ada = shop.customer("ada");
    let secret = "YSBndWVzdCB3aG9tIG5vYm9keSBrbm93cyBzbyBmYXI";
    shop.introduce(secret, json!({ "email": "grace@example.com", "name": "Grace Hopper" })).await.expect(201);
    let of_guest = shop.guest_order(secret, "first", things(1)).await;
    let path = of_guest.header("location").expect("a location").to_owned();
    shop.nobody().send(Method::GET, &path, &[("guest-secret", secret)], None).await.expect(200);
    let mut addressed = things(1);
    (addressed["shipTo"], addressed["discountCode"]) = (super::erasures::address(), json!("TEN"));
    shop.guest_order(secret, "to an address", addressed).await.expect(201);
    let mut dear = things(2);
    (dear["discountCode"], dear["giftCards"]) = (json!("TEN"), json!(["GIFT-FOR-ADA"]));
    let defect = Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };
    shop.fault_proxy().inject(commit(), defect, 1);
    let later = order_later(&ada, "later", dear).await;
    until("the defect is met", async || shop.fault_proxy().pending() == 0).await;
    order_later(&ada, "too many, later", things(1000)).await.expect(202);
    // The marks of transfers do not add up, so all cells are read in one transaction.
    mark(shop, 1).await;
    let spread_out = order_later(&ada, "too many, spread, later", spread(1000)).await;
    ada.post("/quotes", spread(1000)).await.problem(http_api::Kind::OutOfStock);
    let path = spread_out.header("location").expect("a location").to_owned();
    until("it is refused", async || ada.get(&path).await.body["status"] != "QUEUED").await;
    mark(shop, -1).await;
    for at in 0..ENOUGH_FOR_BOTH_CELLS {
        order_later(&ada, &format!("spread {at}, later"), spread(1)).await.expect(202);
    }
    shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": "no order" })).await;
    // A late message of an order that was placed meanwhile.
    ada.order("now", things(1)).await.expect(201);
    send(shop, "now", Timestamp::now(), things(1)).await;
    until("it is dead", async || shop.messages_in(DEAD_LETTERS).await == 1).await;
    until("one is left, which failed", async || shop.queued().await == 1).await;
    // While it waits for its next attempt, a message of another request comes, which becomes a dead letter.
    let failed = ada.get(later.header("location").expect("a location")).await.expect(200);
    send(shop, "later", &failed["queuedAt"], things(9)).await;
    until("that one is dead, too", async || shop.messages_in(DEAD_LETTERS).await == 2).await;

    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    send(shop, "w", Timestamp::now(), things(1)).await;
    let hides = |ruling: &Ruling| ruling.ask.action == "sqs:ChangeMessageVisibility";
    until("it is hidden", async || shop.guard().rulings().iter().any(hides)).await;
    shop.fault_proxy().limit_writes(None).await;
}

/// Units are cancelled, and others come back: to the stock, to a gift card and to the customer's account.
async fn given_back(shop: &Shop) {
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 4 }], "giftCards": ["GIFT-FOR-RETURNS"] });
    shop.gift_card("GIFT-FOR-RETURNS", 3_000).await;
    let order = ada.order("given back", body).await.expect(201);
    ada.cancel(&order, things(1)).await.expect(200);
    admin.capture(&order, "bank-10").await.expect(200);
    for status in ["SHIPPED", "DELIVERED"] {
        admin.advance(&order, status).await.expect(200);
    }
    let refusal = json!({ "accepted": false, "reason": "used" });
    for key in ["a", "b"] {
        let asked = ada.request_return(&order, key, things(1)).await.expect(201);
        admin.receive(&asked, json!({ "accepted": true, "restock": true })).await.expect(200);
        // A refusal and a repetition need a read that is not torn.
        admin.receive(&asked, refusal.clone()).await.expect(409);
    }
    ada.request_return(&order, "too many", things(2)).await.expect(409);
    let refused = ada.request_return(&order, "refused", things(1)).await.expect(201);
    admin.receive(&refused, refusal).await.expect(200);
}

/// Batches that Lambda gives up go to a bucket, and records that a function gives up go to a queue.
async fn lost(shop: &Shop) {
    shop.settle().await;
    let counting = commit().when(|request| request.to_string().contains("shard#"));
    let defect = Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };
    shop.fault_proxy().inject(counting, defect, usize::MAX);
    shop.bus().fail(|_| Some("InternalFailure"));
    shop.customer("ada").order("lost", things(1)).await.expect(201);
    shop.settle().await;
    for queue in ["till-local-lost-counts", "till-local-lost-events"] {
        until(queue, async || shop.messages_in(queue).await > 0).await;
    }
    shop.fault_proxy().heal();
    shop.bus().heal();
    // Nobody can read this order.
    let spoilt = json!({
        "PK": { "S": "o#spoilt" }, "SK": { "S": "o#spoilt" }, "EntityType": { "S": "order" }, "status": { "S": "LOST" },
    });
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": spoilt })).await;
    shop.settle().await;
    shop.delete("o#spoilt", "o#spoilt").await;
}

pub struct Day {
    /// The rulings on every call.
    pub rulings: Vec<Ruling>,
    /// The functions, with the roles that made them.
    pub functions: Vec<Function>,
    /// Every call of the table.
    pub calls: Vec<Call>,
    /// The shop's history at its end.
    pub history: String,
}

/// The record of that day, which is lived once, whichever tests need it.
pub async fn eventful_day() -> &'static Day {
    static DAY: OnceCell<Day> = OnceCell::const_new();
    DAY.get_or_init(live).await
}

async fn live() -> Day {
    let shop = open().await;
    run_sample_events(&shop).await;
    now_and_then(&shop).await;
    crate::claimed_guests::looked_at(&shop).await;
    given_back(&shop).await;
    super::catalogue::images(&shop).await;
    super::catalogue::searched(&shop).await;
    super::catalogue::described(&shop).await;
    super::catalogue::withdrawn(&shop).await;
    super::card_payments::settled(&shop).await;
    super::card_payments::overtaken(&shop).await;
    super::races::raced(&shop).await;
    super::erasures::erased(&shop).await;
    super::carts::ordered(&shop).await;
    let day = super::counters::parked(&shop).await;
    super::counters::drifted(&shop, &day).await;
    waiting(&shop).await;
    lost(&shop).await;
    Day {
        rulings: shop.guard().rulings(),
        functions: shop.template().functions.clone(),
        calls: shop.fault_proxy().calls(),
        history: exported(&shop).await,
    }
}
