//! An audit finds every breach of an invariant, and reports nothing else.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use shop::{Shop, read};

use crate::invariants::breaches;

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

/// A shop with items of every kind and one order, with the ids of the order and its invoice.
async fn a_shop() -> (Shop, String, String) {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop.product("tea", 500, 10).await;
    shop.discount("TEN", 10, Some(5)).await;
    shop.gift_card("CARD", 300).await;
    shop.product("milk", 100, 9).await;
    let described = json!({ "description": "First flush. ".repeat(100) }).to_string();
    shop.admin().send(Method::PATCH, "/products/tea", &[("if-match", "*")], Some(described)).await.expect(200);
    let cells = json!({ "cells": 3 }).to_string();
    shop.admin().send(Method::PATCH, "/products/milk", &[("if-match", "*")], Some(cells)).await.expect(200);
    let cart = json!({ "lines": [{ "productId": "tea", "quantity": 1 }] });
    shop.customer("ada").send(Method::PUT, "/customers/ada/cart", &[], Some(cart.to_string())).await.expect(200);
    shop.nobody().post("/products/tea/views", Value::Null).await.expect(204);
    let body = json!({
        "lines": [{ "productId": "tea", "quantity": 2 }], "discountCode": "TEN", "giftCards": ["CARD"],
    });
    let order = shop.customer("ada").order("one", body).await.expect(201);
    let called_off =
        shop.customer("ada").order("two", json!({ "lines": [{ "productId": "tea", "quantity": 1 }] })).await;
    let called_off = called_off.expect(201)["orderId"].as_str().expect("an id").to_owned();
    shop.customer("ada").post(&format!("/orders/{called_off}/cancellation"), json!({})).await.expect(200);
    shop.settle().await;
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (shop, id(&order["orderId"]), id(&order["invoice"]["invoiceId"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_of_a_normally_used_shop_finds_no_breach() {
    let (shop, _, _) = a_shop().await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
    let kinds: BTreeSet<_> = shop.dump().await.iter().map(|item| item["EntityType"]["S"].to_string()).collect();
    // Without flags, queued orders and comparisons: other tests audit shops that have them.
    assert_eq!(kinds.len(), 20, "{kinds:?}");
}

/// An item's key, the attribute that is damaged, the wrong value, and the beginnings of the expected breaches.
type Damage = (String, String, &'static str, Value, Vec<String>);

#[tokio::test(flavor = "multi_thread")]
async fn every_damaged_item_is_reported() {
    let (shop, order, invoice) = a_shop().await;
    for (pk, sk, attribute, value, expected) in
        damages(&order, &invoice).into_iter().chain(damages_to_credits(&order)).chain(damages_to_cells())
    {
        let before = shop.item(&pk, &sk).await;
        assert!(before.is_object(), "{pk} {sk}");
        let mut after = before.clone();
        after[attribute] = value;
        put(&shop, &after).await;
        expect(&shop, &expected, &format!("{pk} {sk} {attribute}")).await;
        put(&shop, &before).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_without_an_index_entry_is_reported_and_gets_it_by_the_command_of_the_runbook() {
    let (shop, _, _) = a_shop().await;
    let page = read("CONTRIBUTING.md");
    let (_, command) = page.split_once("aws dynamodb update-item").expect("the command");
    let argument = |name: &str| {
        let (_, rest) = command.split_once(&format!("--{name} '")).expect("the argument");
        rest.split_once('\'').expect("its end").0
    };
    let json = |name: &str| serde_json::from_str::<Value>(argument(name)).expect("JSON");
    let customer = json!({ "TableName": shop.table(), "Key": json("key") });
    let update = |more: Value| {
        let mut request = customer.clone();
        request.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        request
    };
    let lose = update(json!({ "UpdateExpression": "REMOVE GSI2PK, GSI2SK" }));
    shop.dynamodb("UpdateItem", &lose).await;
    expect(&shop, &["c#ada c#ada: its keys are "], "without its entry").await;
    let give = update(json!({
        "UpdateExpression": argument("update-expression"),
        "ConditionExpression": argument("condition-expression"),
        "ExpressionAttributeValues": json("expression-attribute-values"),
    }));
    shop.dynamodb("UpdateItem", &give).await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_missing_item_is_reported() {
    let (shop, order, invoice) = a_shop().await;
    for (pk, sk, expected) in losses(&order, &invoice) {
        let before = shop.item(&pk, &sk).await;
        assert!(before.is_object(), "{pk} {sk}");
        shop.delete(&pk, &sk).await;
        expect(&shop, &expected, &format!("{pk} {sk}")).await;
        put(&shop, &before).await;
    }
}

/// Items at the right keys of an order that does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn every_item_of_a_missing_order_is_reported() {
    let (shop, order, invoice) = a_shop().await;
    shop.admin()
        .send(Method::PUT, &format!("/orders/{order}/flag"), &[], Some(r#"{"reason":"odd"}"#.to_owned()))
        .await
        .expect(200);
    let o = format!("o#{order}");
    for (pk, sk, expected) in [
        (
            &*o,
            "p#tea",
            vec!["order stray: it is incomplete: 1 lines of an unknown number, lacks [\"header\", \"invoice\"]"],
        ),
        (
            &o,
            &*format!("i#{invoice}"),
            vec!["order stray: it is incomplete: 0 lines of an unknown number, lacks [\"header\"]"],
        ),
        (
            &o,
            "flag",
            vec!["order stray: it is incomplete: 0 lines of an unknown number, lacks [\"header\", \"invoice\"]"],
        ),
        (
            "g#CARD",
            &o,
            vec!["gift card CARD: -300 taken from its balance", "order stray: gift card CARD has an entry for it"],
        ),
    ] {
        let stray = shop.item(pk, sk).await.to_string().replace(&order, "stray");
        put(&shop, &serde_json::from_str(&stray).expect("an item")).await;
        expect(&shop, &expected, sk).await;
        shop.delete(&pk.replace(&order, "stray"), &sk.replace(&order, "stray")).await;
    }
}

async fn put(shop: &Shop, item: &Value) {
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": item })).await;
}

/// Asserts that an audit finds breaches with these beginnings, and no others.
async fn expect(shop: &Shop, beginnings: &[impl AsRef<str>], after: &str) {
    let found = breaches(shop, AFTER_EVERY_CHANGE).await;
    let pairs = found.iter().zip(beginnings);
    let fits = found.len() == beginnings.len() && pairs.into_iter().all(|(one, begin)| one.starts_with(begin.as_ref()));
    assert!(fits, "{after}: {found:#?}");
}

/// For each item: its key, and the beginnings of the breaches if it is missing.
fn losses(order: &str, invoice: &str) -> Vec<(String, String, Vec<String>)> {
    let loss = |pk: &str, sk: &str, breaches: &[&str]| {
        let breaches = breaches.iter().map(|breach| breach.replace("ORDER", order)).collect();
        (pk.to_owned(), sk.to_owned(), breaches)
    };
    let o = format!("o#{order}");
    vec![
        loss(
            &o,
            "p#tea",
            &["day ", "order ORDER: it is incomplete: 0 lines of 1, lacks []", "product tea: its counts lack "],
        ),
        loss(
            &o,
            &format!("i#{invoice}"),
            &[
                "order ORDER: gift card CARD has an entry for it, but it is not paid with that card",
                "order ORDER: it is incomplete: 1 lines of 1, lacks [\"invoice\"]",
            ],
        ),
        loss(
            &o,
            &o,
            &[
                "customer ada: its counts lack ",
                "day ",
                "discount TEN: 1 uses counted beyond the orders that have it",
                "order ORDER: gift card CARD has an entry for it, but it is not paid with that card",
                "order ORDER: it is incomplete: 1 lines of an unknown number, lacks [\"header\"]",
                "product tea: its counts lack ",
            ],
        ),
        loss(
            "g#CARD",
            &o,
            &[
                "gift card CARD: 300 taken from its balance without an entry",
                "order ORDER: it is paid with gift card CARD, which has no entry for it",
            ],
        ),
        loss("d#TEN", "d#TEN", &["discount TEN: -1 uses counted beyond the orders that have it"]),
        loss(
            "p#tea",
            "p#tea",
            &[
                "category things: 1 products counted beyond those that are counted in it",
                "product tea: its long description is there, and none is needed",
                "product tea: its price is not there, the price in its stock 500 EUR",
            ],
        ),
        loss("p#tea", "description", &["product tea: its long description is not there"]),
        loss("p#tea", "stock", &["product tea: its price is 500 EUR (minor units), the price in its stock not there"]),
        loss("categories", "cat#things", &["category things: -2 products counted beyond those that are counted in it"]),
        loss("p#tea", "stats", &["product tea: its counts lack "]),
        loss(
            "stock#milk#2",
            "stock#milk#2",
            &["product milk: the other cells of its stock are [1], and should be [1, 2]"],
        ),
        loss("email#ada@example.com", "email#ada@example.com", &["email#ada@example.com: it is claimed by nobody"]),
    ]
}

fn damages(order: &str, invoice: &str) -> Vec<Damage> {
    let damage = |pk: &str, sk: &str, attribute, value, breaches: &[&str]| {
        let breaches = breaches.iter().map(|breach| breach.replace("ORDER", order)).collect();
        (pk.to_owned(), sk.to_owned(), attribute, value, breaches)
    };
    let (o, i) = (format!("o#{order}"), format!("i#{invoice}"));
    let money = |amount: u32| json!({ "M": { "amount": { "N": amount.to_string() }, "currency": { "S": "EUR" } } });
    let number = |number: u32| json!({ "N": number.to_string() });
    let text = |text: &str| json!({ "S": text });
    vec![
        damage(
            &o,
            &o,
            "subtotal",
            money(999),
            &[
                "order ORDER: subtotal less discount plus shipping and tax: 899 EUR (minor units); the total: 900 EUR",
                "order ORDER: the lines: 1000 EUR (minor units); the subtotal: 999 EUR",
            ],
        ),
        damage(
            &o,
            &o,
            "status",
            text("PAID"),
            &[
                "customer ada: its counts lack ",
                "day ",
                "o#ORDER o#ORDER: its keys are ",
                "order ORDER: a payment of 600 EUR (minor units) is Pending, the order PAID",
                "order ORDER: the mark of its payment is wrong: None",
            ],
        ),
        damage(&o, &o, "lineCount", number(2), &["order ORDER: it is incomplete: 1 lines of 2, lacks []"]),
        damage("p#tea", "description", "text", text("Second"), &["product tea: its long description is another"]),
        damage(
            &o,
            "p#tea",
            "quantity",
            number(3),
            &[
                "day ",
                "order ORDER: 3 tea at 500 EUR (minor units) are said to be 1000 EUR",
                "order ORDER: its lines have 3 units, its header says 2",
                "product tea: its counts lack ",
            ],
        ),
        damage(&o, &i, "amount", money(901), &["order ORDER: the invoice: 901 EUR (minor units); the total: 900 EUR"]),
        damage("g#CARD", "g#CARD", "balance", money(1), &["gift card CARD: -1 taken from its balance"]),
        damage(
            "g#CARD",
            &o,
            "status",
            text("refunded"),
            &["gift card CARD: 300 taken from its balance", "order ORDER: 300 paid with gift card CARD"],
        ),
        damage("d#TEN", "d#TEN", "uses", number(2), &["discount TEN: 1 uses counted beyond"]),
        damage(
            "p#tea",
            "stock",
            "price",
            money(499),
            &["product tea: its price is 500 EUR (minor units), the price in its stock 499 EUR"],
        ),
        damage(
            "p#tea",
            "stock",
            "available",
            json!({ "N": "-1" }),
            &[
                "p#tea stock: it cannot be read",
                "product tea: its price is 500 EUR (minor units), the price in its stock not there",
            ],
        ),
        damage("p#tea", "stats", "units", number(1), &["product tea: its counts lack "]),
        damage("c#ada", "stats", "orders", number(7), &["customer ada: its counts lack "]),
        damage(
            "c#ada",
            "c#ada",
            "email",
            text("eve@example.com"),
            &[
                "email#ada@example.com: it is claimed by ada, and in the profile of nobody",
                "email#eve@example.com: it is claimed by nobody, and in the profile of ada",
            ],
        ),
        damage(
            "username#ada",
            "username#ada",
            "customerId",
            text("eve"),
            &["username#ada: it is claimed by eve, and in the profile of ada"],
        ),
        damage("c#ada", "cart", "EntityType", text("trolley"), &["c#ada cart: \"trolley\" is no kind of item"]),
        damage("p#tea", "p#tea", "GSI1SK", text("p#coffee"), &["p#tea p#tea: its keys are "]),
    ]
}

fn damages_to_credits(order: &str) -> Vec<Damage> {
    let damage = |pk: &str, sk: &str, attribute, value, breaches: &[&str]| {
        let breaches = breaches.iter().map(|breach| breach.replace("ORDER", order)).collect();
        (pk.to_owned(), sk.to_owned(), attribute, value, breaches)
    };
    let o = format!("o#{order}");
    let number = |number: u32| json!({ "N": number.to_string() });
    vec![
        damage(
            &o,
            &o,
            "credits",
            json!({ "L": [{ "M": {
                "productId": { "S": "tea" }, "units": { "N": "1" }, "gross": { "N": "500" }, "amount": { "N": "400" },
            } }] }),
            &[
                "customer ada: its counts lack ",
                "day ",
                "order ORDER: 400 of the order is credited, and 0 of its payments",
                "order ORDER: its credits are [",
                "product tea: its counts lack ",
            ],
        ),
        damage(
            &o,
            &o,
            "returning",
            json!({ "L": [{ "M": { "productId": { "S": "tea" }, "quantity": { "N": "3" } } }] }),
            &[
                "order ORDER: 3 tea are credited or in open returns, of 2",
                "order ORDER: the units in open returns are {}",
            ],
        ),
        damage(&o, &o, "returnCount", number(1), &["order ORDER: it is incomplete: 1 lines of 1, lacks [\"returns\"]"]),
        damage(
            "g#CARD",
            &o,
            "returned",
            number(100),
            &["gift card CARD: 100 taken from its balance", "order ORDER: 100 paid with gift card CARD"],
        ),
    ]
}

fn damages_to_cells() -> Vec<Damage> {
    let damage = |pk: &str, sk: &str, attribute, value: Value, breaches: &[&str]| {
        (pk.to_owned(), sk.to_owned(), attribute, value, breaches.iter().map(ToString::to_string).collect())
    };
    let cent_more = json!({ "M": { "amount": { "N": "101" }, "currency": { "S": "EUR" } } });
    vec![
        damage(
            "stock#milk#1",
            "stock#milk#1",
            "price",
            cent_more,
            &["product milk: its price in cell 1 is 101 EUR (minor units), in the first 100 EUR (minor units)"],
        ),
        damage(
            "p#milk",
            "stock",
            "cells",
            json!({ "N": "1" }),
            &["product milk: the other cells of its stock are [1, 2], and should be []"],
        ),
        damage(
            "stock#milk#1",
            "stock#milk#1",
            "available",
            json!({ "N": "-1" }),
            &[
                "product milk: the other cells of its stock are [2], and should be [1, 2]",
                "stock#milk#1 stock#milk#1: it cannot be read",
            ],
        ),
    ]
}
