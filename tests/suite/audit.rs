//! An audit finds every breach of an invariant, and reports nothing else.

use shop::read;

use crate::invariants::breaches;
use crate::prelude::*;

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
    let described = json!({ "description": "First flush. ".repeat(100) });
    shop.admin().patch("/products/tea", "*", described).await.expect(200);
    shop.admin().patch("/products/milk", "*", json!({ "cells": 3 })).await.expect(200);
    shop.customer("ada").put("/customers/ada/cart", basket("tea", 1)).await.expect(200);
    shop.nobody().post("/products/tea/views", Value::Null).await.expect(204);
    let body = json!({
        "lines": [{ "productId": "tea", "quantity": 2 }], "discountCode": "TEN", "giftCards": ["CARD"],
    });
    let order = shop.customer("ada").order("one", body).await.expect(201);
    let called_off = shop.customer("ada").order("two", basket("tea", 1)).await.expect(201);
    shop.customer("ada").cancel(&called_off, json!({})).await.expect(200);
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

#[tokio::test(flavor = "multi_thread")]
async fn every_damaged_item_is_reported() {
    let (shop, order, invoice) = a_shop().await;
    for (damage, expected) in cases(DAMAGES, &order, &invoice) {
        let words: Vec<_> = damage.splitn(4, ' ').collect();
        let [pk, sk, attribute, value] = words[..] else { panic!("{damage}") };
        let before = shop.item(pk, sk).await;
        assert!(before.is_object(), "{damage}");
        let mut after = before.clone();
        after[attribute] = stored(&serde_json::from_str(value).unwrap_or_else(|_| json!(value)));
        put(&shop, &after).await;
        expect(&shop, &expected, &damage).await;
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
    expect(&shop, &["c#ada c#ada: its keys are ".to_owned()], "without its entry").await;
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
    for (key, expected) in cases(LOSSES, &order, &invoice) {
        let (pk, sk) = key.split_once(' ').expect("a key");
        let before = shop.item(pk, sk).await;
        assert!(before.is_object(), "{key}");
        shop.delete(pk, sk).await;
        expect(&shop, &expected, &key).await;
        put(&shop, &before).await;
    }
}

/// Items at the right keys of an order that does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn every_item_of_a_missing_order_is_reported() {
    let (shop, order, invoice) = a_shop().await;
    shop.admin().put(&format!("/orders/{order}/flag"), json!({ "reason": "odd" })).await.expect(200);
    for (key, expected) in cases(STRAYS, &order, &invoice) {
        let (pk, sk) = key.split_once(' ').expect("a key");
        let stray = shop.item(pk, sk).await.to_string().replace(&order, "stray");
        put(&shop, &serde_json::from_str(&stray).expect("an item")).await;
        expect(&shop, &expected, &key).await;
        shop.delete(&pk.replace(&order, "stray"), &sk.replace(&order, "stray")).await;
    }
}

async fn put(shop: &Shop, item: &Value) {
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": item })).await;
}

/// Asserts that an audit finds breaches with these beginnings, and no others.
async fn expect(shop: &Shop, beginnings: &[String], after: &str) {
    let found = breaches(shop, AFTER_EVERY_CHANGE).await;
    let pairs = found.iter().zip(beginnings);
    let fits = found.len() == beginnings.len() && pairs.into_iter().all(|(one, begin)| one.starts_with(&**begin));
    assert!(fits, "{after}: {found:#?}");
}

/// What is done, and under it the beginnings of the breaches that an audit then finds.
fn cases(text: &str, order: &str, invoice: &str) -> Vec<(String, Vec<String>)> {
    let mut cases = Vec::<(String, Vec<String>)>::new();
    for line in text.replace("ORDER", order).replace("INVOICE", invoice).lines().skip(1) {
        match (line.strip_prefix("  "), cases.last_mut()) {
            (Some(breach), Some((_, breaches))) => breaches.push(breach.to_owned()),
            _ => cases.push((line.to_owned(), Vec::new())),
        }
    }
    cases
}

fn stored(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!({ "N": number.to_string() }),
        Value::Array(values) => json!({ "L": values.iter().map(stored).collect::<Vec<_>>() }),
        Value::Object(fields) => {
            json!({ "M": fields.iter().map(|(name, value)| (name, stored(value))).collect::<BTreeMap<_, _>>() })
        }
        other => json!({ "S": other }),
    }
}

/// The keys of an item that is missing.
const LOSSES: &str = r#"
o#ORDER p#tea
  day
  order ORDER: it is incomplete: 0 lines of 1, lacks []
  product tea: its counts lack
o#ORDER i#INVOICE
  order ORDER: gift card CARD has an entry for it, but it is not paid with that card
  order ORDER: it is incomplete: 1 lines of 1, lacks ["invoice"]
o#ORDER o#ORDER
  customer ada: its counts lack
  day
  discount TEN: 1 uses counted beyond the orders that have it
  order ORDER: gift card CARD has an entry for it, but it is not paid with that card
  order ORDER: it is incomplete: 1 lines of an unknown number, lacks ["header"]
  product tea: its counts lack
g#CARD o#ORDER
  gift card CARD: 300 taken from its balance without an entry
  order ORDER: it is paid with gift card CARD, which has no entry for it
d#TEN d#TEN
  discount TEN: -1 uses counted beyond the orders that have it
p#tea p#tea
  category things: 1 products counted beyond those that are counted in it
  product tea: its long description is there, and none is needed
  product tea: its price is not there, the price in its stock 500 EUR
p#tea description
  product tea: its long description is not there
p#tea stock
  product tea: its price is 500 EUR (minor units), the price in its stock not there
categories cat#things
  category things: -2 products counted beyond those that are counted in it
p#tea stats
  product tea: its counts lack
stock#milk#2 stock#milk#2
  product milk: the other cells of its stock are [1], and should be [1, 2]
email#ada@example.com email#ada@example.com
  email#ada@example.com: it is claimed by nobody
"#;

/// The keys of an item, the attribute that is damaged, and the wrong value.
const DAMAGES: &str = r#"
o#ORDER o#ORDER subtotal {"amount":999,"currency":"EUR"}
  order ORDER: subtotal less discount plus shipping and tax: 899 EUR (minor units); the total: 900 EUR
  order ORDER: the lines: 1000 EUR (minor units); the subtotal: 999 EUR
o#ORDER o#ORDER status PAID
  customer ada: its counts lack
  day
  o#ORDER o#ORDER: its keys are
  order ORDER: a payment of 600 EUR (minor units) is Pending, the order PAID
  order ORDER: the mark of its payment is wrong: None
o#ORDER o#ORDER lineCount 2
  order ORDER: it is incomplete: 1 lines of 2, lacks []
p#tea description text Second
  product tea: its long description is another
o#ORDER p#tea quantity 3
  day
  order ORDER: 3 tea at 500 EUR (minor units) are said to be 1000 EUR
  order ORDER: its lines have 3 units, its header says 2
  product tea: its counts lack
o#ORDER i#INVOICE amount {"amount":901,"currency":"EUR"}
  order ORDER: the invoice: 901 EUR (minor units); the total: 900 EUR
g#CARD g#CARD balance {"amount":1,"currency":"EUR"}
  gift card CARD: -1 taken from its balance
g#CARD o#ORDER status refunded
  gift card CARD: 300 taken from its balance
  order ORDER: 300 paid with gift card CARD
d#TEN d#TEN uses 2
  discount TEN: 1 uses counted beyond
p#tea stock price {"amount":499,"currency":"EUR"}
  product tea: its price is 500 EUR (minor units), the price in its stock 499 EUR
p#tea stock available -1
  p#tea stock: it cannot be read
  product tea: its price is 500 EUR (minor units), the price in its stock not there
p#tea stats units 1
  product tea: its counts lack
c#ada stats orders 7
  customer ada: its counts lack
c#ada c#ada email eve@example.com
  email#ada@example.com: it is claimed by ada, and in the profile of nobody
  email#eve@example.com: it is claimed by nobody, and in the profile of ada
username#ada username#ada customerId eve
  username#ada: it is claimed by eve, and in the profile of ada
c#ada cart EntityType trolley
  c#ada cart: "trolley" is no kind of item
p#tea p#tea GSI1SK p#coffee
  p#tea p#tea: its keys are
o#ORDER o#ORDER credits [{"productId":"tea","units":1,"gross":500,"amount":400}]
  customer ada: its counts lack
  day
  order ORDER: 400 of the order is credited, and 0 of its payments
  order ORDER: its credits are [
  product tea: its counts lack
o#ORDER o#ORDER returning [{"productId":"tea","quantity":3}]
  order ORDER: 3 tea are credited or in open returns, of 2
  order ORDER: the units in open returns are {}
o#ORDER o#ORDER returnStatuses ["requested"]
  order ORDER: it is incomplete: 1 lines of 1, lacks ["returns"]
g#CARD o#ORDER returned 100
  gift card CARD: 100 taken from its balance
  order ORDER: 100 paid with gift card CARD
stock#milk#1 stock#milk#1 price {"amount":101,"currency":"EUR"}
  product milk: its price in cell 1 is 101 EUR (minor units), in the first 100 EUR (minor units)
p#milk stock cells 1
  product milk: the other cells of its stock are [1, 2], and should be []
stock#milk#1 stock#milk#1 available -1
  product milk: the other cells of its stock are [2], and should be [1, 2]
  stock#milk#1 stock#milk#1: it cannot be read
"#;

/// The keys of an item of which another order gets a copy.
const STRAYS: &str = r#"
o#ORDER p#tea
  order stray: it is incomplete: 1 lines of an unknown number, lacks ["header", "invoice"]
o#ORDER i#INVOICE
  order stray: it is incomplete: 0 lines of an unknown number, lacks ["header"]
o#ORDER flag
  order stray: it is incomplete: 0 lines of an unknown number, lacks ["header", "invoice"]
g#CARD o#ORDER
  gift card CARD: -300 taken from its balance
  order stray: gift card CARD has an entry for it
"#;
