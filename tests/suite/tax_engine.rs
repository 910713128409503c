//! An outside tax engine: what it is asked, what becomes of its answer, and that nothing is written without one.

use futures_util::future::join_all;
use shop::tax_engine::{Says, TaxEngine};

use crate::invariants::{BEFORE_EVERY_CHANGE, breaches};
use crate::prelude::*;

/// Two products, shipping for 5 euros, and a code that takes off 10 %.
pub async fn shop(engine: &TaxEngine, prices_include_tax: bool) -> Shop {
    let shop = Shop::open_taxed_by(engine, prices_include_tax).await;
    for (product, category, price) in [("novel", "books", 1070), ("cup", "cups", 1190)] {
        shop.create(product, json!({ "category": category, "price": eur(price) })).await;
    }
    let zones = json!({ "zones": [{ "currency": "EUR", "methods": [{ "methodId": "standard", "name": "Standard", "by": "price", "bands": [{ "price": 500 }] }] }] }).to_string();
    shop.admin().send(Method::PUT, "/shipping", &[("if-match", "\"0\"")], Some(zones)).await.expect(200);
    shop.discount("TEN", 10, None).await;
    shop
}

pub fn order() -> Value {
    json!({
        "lines": [{ "productId": "novel", "quantity": 1 }, { "productId": "cup", "quantity": 2 }],
        "discountCode": "TEN",
        "shipTo": {
            "name": "Ada", "line1": "Way 1", "city": "Albany", "postalCode": "12207", "region": "NY", "country": "US",
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_is_asked_what_the_page_says_and_its_taxes_are_the_orders() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, false).await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let quote = ada.post("/quotes", order()).await.expect(200);
    let placed = ada.order("first", order()).await.expect(201);
    let question = json!({
        "currency": "EUR",
        "pricesIncludeTax": false,
        "shopCountry": "DE",
        "shipTo": { "country": "US", "region": "NY", "city": "Albany", "postalCode": "12207" },
        "lines": [
            { "productId": "novel", "category": "books", "quantity": 1, "amount": 963 },
            { "productId": "cup", "category": "cups", "quantity": 2, "amount": 2142 },
        ],
        "shipping": 500,
    });
    assert_eq!(engine.asked(), [question.clone(), question]);
    let said = |amount: u64| json!({ "rate": 1000, "amount": eur(amount), "added": true, "byEngine": true });
    let taxes: Vec<_> = placed["lines"].as_array().expect("lines").iter().map(|line| line["tax"].clone()).collect();
    assert_eq!(taxes, [said(97), said(215)]);
    // 34.50 less 3.45, 5.00 for shipping, and 2.15 + 0.97 + 0.50 of tax.
    for answer in [&placed, &quote] {
        assert_eq!((&answer["total"], &answer["tax"]), (&eur(3967), &eur(362)));
    }
    assert_eq!(placed["invoice"]["taxes"], json!([{ "rate": 1000, "net": eur(3605), "tax": eur(362) }]));

    // A repeated request is answered without the engine.
    engine.says(Says::Status(500));
    assert_eq!(ada.order("first", order()).await.expect(201), placed);
    assert_eq!(engine.asked(), Vec::<Value>::new());

    // All of the tax comes back with the units.
    admin.capture(&placed, "bank-1").await.expect(200);
    for (product, quantity) in [("cup", 1), ("cup", 2), ("novel", 1)] {
        ada.cancel(&placed, basket(product, quantity)).await.expect(200);
        assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    }
    assert_eq!(ada.order("first", order()).await.expect(201)["total"], eur(3967));
}

/// Prices that include the tax, and an order without an address.
#[tokio::test(flavor = "multi_thread")]
async fn the_engine_says_the_tax_in_prices_that_include_it() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, true).await;
    let lines = basket("cup", 1);
    let placed = shop.customer("ada").order("first", lines).await.expect(201);
    assert_eq!((&placed["total"], placed.get("tax")), (&eur(1190), None));
    assert_eq!(placed["lines"][0]["tax"], json!({ "rate": 1000, "amount": eur(119), "byEngine": true }));
    let question = &engine.asked()[0];
    assert_eq!((question.get("shipTo"), question.get("shipping")), (None, None));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_answer_by_the_protocol_nothing_is_written() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, false).await;
    let ada = shop.customer("ada");
    let before = shop.dump().await;
    let wrong: [fn(Value) -> Value; 6] = [
        |_| json!("taxes"),
        |mut answer| {
            answer["lines"].as_array_mut().expect("lines").pop();
            answer
        },
        |mut answer| {
            answer["lines"][0]["productId"] = json!("another");
            answer
        },
        |mut answer| {
            answer["lines"][0]["tax"] = json!(-1);
            answer
        },
        |mut answer| {
            answer["lines"][0]["tax"] = json!(1_000_000);
            answer
        },
        |mut answer| {
            answer["shipping"] = Value::Null;
            answer
        },
    ];
    let wrong = wrong.map(|change| (Says::Other(change), 500));
    let failures = [(Says::Status(503), 503), (Says::Status(429), 503), (Says::Status(401), 500), (Says::Nothing, 503)];
    for (says, status) in failures.into_iter().chain(wrong) {
        engine.says(says);
        let (quoted, placed) = tokio::join!(ada.post("/quotes", order()), ada.order("first", order()));
        assert_eq!((quoted.status, placed.status), (status, status));
        assert_eq!(placed.header("retry-after").is_some(), status == 503);
        assert_eq!(shop.dump().await, before, "a request without taxes wrote something");
    }
    engine.says(Says::Rate(1000));
    ada.order("first", order()).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tax_that_moves_between_the_quote_and_the_order_refuses_the_order() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, false).await;
    let ada = shop.customer("ada");
    let mut expecting = order();
    expecting["expectedTotal"] = ada.post("/quotes", order()).await.expect(200)["total"].clone();
    engine.says(Says::Rate(2000));
    let before = shop.dump().await;
    let problem = ada.order("first", expecting.clone()).await.problem(Kind::PriceChanged);
    assert_eq!((&problem["total"], shop.dump().await), (&eur(4327), before));
    engine.says(Says::Rate(1000));
    ada.order("first", expecting).await.expect(201);
}

/// The orders meet at their stock, and try again. Their taxes do not change meanwhile, so each asks once.
#[tokio::test(flavor = "multi_thread")]
async fn twenty_orders_at_once_ask_the_engine_twenty_times() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, false).await;
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 5);
    let placed = join_all((0..20).map(|at| {
        let ada = shop.customer("ada");
        async move { ada.order(&format!("order {at}"), order()).await.expect(201)["total"].clone() }
    }));
    assert_eq!(placed.await, vec![eur(3967); 20]);
    assert_eq!(engine.asked().len(), 20);
    assert_eq!((shop.available("cup").await, shop.available("novel").await), (60, 80));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_from_the_queue_waits_for_the_engine_and_is_placed_once() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, false).await;
    let ada = shop.customer("ada");
    let later = order_later(&ada, "later", order()).await;
    let path = later.header("location").expect("a location").to_owned();
    let messages = shop.take_messages().await;
    for says in [Says::Status(500), Says::Status(400), Says::Nothing] {
        engine.says(says);
        // More often than a message that fails by itself is tried.
        for _ in 0..3 {
            let answer = shop.drain(&messages).await;
            assert_eq!(answer["batchItemFailures"].as_array().map(Vec::len), Some(1), "{answer}");
            assert_eq!(ada.get(&path).await.expect(200)["status"], "QUEUED");
        }
    }
    engine.says(Says::Rate(1000));
    for _ in 0..2 {
        shop.drain(&messages).await;
        engine.says(Says::Status(500));
    }
    let placed = ada.get(&path).await.expect(200);
    assert_eq!((&placed["status"], &placed["total"]), (&json!("PENDING"), &eur(3967)));
    assert_eq!(shop.available("novel").await, 99);
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_is_asked_by_country_and_postal_code_for_somebody_without_an_account() {
    let engine = TaxEngine::start().await;
    let shop = shop(&engine, false).await;
    let mut basket = order();
    basket["shipTo"] = json!({ "country": "US", "postalCode": "12207" });
    let quoted = shop.nobody().post("/guests/quotes/discounted", basket).await.expect(200);
    assert_eq!(engine.asked()[0]["shipTo"], json!({ "country": "US", "postalCode": "12207" }));
    assert_eq!(shop.customer("ada").order("first", order()).await.expect(201)["total"], quoted["total"]);
}
