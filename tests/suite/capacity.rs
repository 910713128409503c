//! What each route costs: requests and capacity units, exactly.
//!
//! The expected units are computed from the sizes of the items, by the rules that DynamoDB publishes, and not from
//! what an engine has said before.

use std::collections::BTreeMap;

use local::wire::{Access, Call};
use serde_json::{Value, json};

use crate::engine::{Feature, lacks};
use crate::shop::Shop;

/// The size of an attribute value in bytes.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>
fn value_size(value: &Value) -> usize {
    let (kind, value) = value.as_object().and_then(|value| value.iter().next()).expect("a typed value");
    match kind.as_str() {
        "S" => value.as_str().expect("text").len(),
        "N" => value.as_str().expect("digits").trim_matches('0').len().div_ceil(2) + 1,
        "L" => 3 + value.as_array().expect("a list").iter().map(|value| 1 + value_size(value)).sum::<usize>(),
        "M" => 3 + attributes(value).map(|(name, value)| 1 + name.len() + value_size(value)).sum::<usize>(),
        other => panic!("an attribute of type {other}"),
    }
}

fn attributes(map: &Value) -> impl Iterator<Item = (&String, &Value)> {
    map.as_object().expect("a map").iter()
}

fn size(item: &Value) -> usize {
    attributes(item).map(|(name, value)| name.len() + value_size(value)).sum()
}

/// Write units of one index entry, or of one plain write: one for each kilobyte begun.
fn write_units(item: &Value) -> usize {
    size(item).div_ceil(1024)
}

/// What writing these items in one transaction demands: double in the table, single in each index the item is in.
fn transaction(items: &[&Value]) -> BTreeMap<String, usize> {
    let mut units = BTreeMap::new();
    for item in items {
        *units.entry("table".to_owned()).or_default() += 2 * write_units(item);
        for index in ["GSI1", "GSI2"].into_iter().filter(|index| item.get(format!("{index}PK")).is_some()) {
            *units.entry(index.to_owned()).or_default() += write_units(item);
        }
    }
    units
}

/// What a call was charged, by table and index.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole units below a hundred")]
fn charged(call: &Call) -> BTreeMap<String, usize> {
    let [consumed] = call.consumed.as_slice() else { panic!("one table: {:?}", call.consumed) };
    assert_eq!(consumed.access, Access::Write);
    let indexes = consumed.index_units.iter().map(|(index, units)| (index.clone(), *units));
    let all = std::iter::once(("table".to_owned(), consumed.table_units)).chain(indexes);
    all.map(|(name, units)| (name, units as usize)).collect()
}

fn units(figures: &[(&str, usize)]) -> BTreeMap<String, usize> {
    figures.iter().map(|(name, units)| ((*name).to_owned(), *units)).collect()
}

fn read_units(call: &Call) -> f64 {
    assert!(call.consumed.iter().all(|consumed| consumed.access == Access::Read));
    call.consumed.iter().map(local::wire::Consumed::units).sum()
}

fn actions(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|call| call.action.as_str()).collect()
}

/// A shop with two products, the calls of whose making are forgotten.
async fn shop(name: &str) -> Shop {
    let shop = Shop::with_ada().await;
    for id in ["thing-a", "thing-b"] {
        let body = json!({
            "productId": id, "name": name, "description": "", "category": "things",
            "price": { "amount": 1000, "currency": "EUR" }, "stock": 10,
        });
        shop.admin().post("/products", body).await.expect(201);
    }
    shop.gift_card("GIFT", 500).await;
    shop.discount("TEN", 10, None).await;
    shop.wire().take_calls();
    shop
}

fn two_lines() -> Value {
    json!({ "lines": [{ "productId": "thing-a", "quantity": 2 }, { "productId": "thing-b", "quantity": 1 }] })
}

fn with_discount_and_gift_card() -> Value {
    let mut order = two_lines();
    order["discountCode"] = json!("TEN");
    order["giftCards"] = json!(["GIFT"]);
    order
}

/// Places the order, and gives the read units, what the commit was charged, and what the sizes of the written items
/// demand.
async fn cost(shop: &Shop, order: Value) -> (f64, BTreeMap<String, usize>, BTreeMap<String, usize>) {
    let before = shop.dump().await;
    shop.customer("ada").order("k", order).await.expect(201);
    let calls = shop.wire().take_calls();
    assert_eq!(actions(&calls), ["BatchGetItem", "TransactWriteItems"]);
    let after = shop.dump().await;
    // A changed item is charged by its larger self; these change a digit at most, far from the next kilobyte.
    let written: Vec<&Value> = after.iter().filter(|item| !before.contains(item)).collect();
    (read_units(&calls[0]), charged(&calls[1]), transaction(&written))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_two_lines_costs_what_its_items_demand() {
    let (read, charged, demanded) = cost(&shop("A thing").await, two_lines()).await;
    assert_eq!(demanded, units(&[("table", 12), ("GSI1", 4), ("GSI2", 4)]));
    if lacks(Feature::CapacityFigures) {
        return;
    }
    assert_eq!(charged, demanded);
    assert!((read - 3.5).abs() < f64::EPSILON, "seven keys at half a unit each: {read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discount_and_a_gift_card_add_three_small_writes() {
    let (read, charged, demanded) = cost(&shop("A thing").await, with_discount_and_gift_card()).await;
    assert_eq!(demanded, units(&[("table", 18), ("GSI1", 4), ("GSI2", 4)]));
    if lacks(Feature::CapacityFigures) {
        return;
    }
    assert_eq!(charged, demanded);
    assert!((read - 4.5).abs() < f64::EPSILON, "nine keys at half a unit each: {read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_beyond_a_kilobyte_cost_the_second_one_in_the_table_and_in_both_indexes() {
    let long_name = "\u{1F600}".repeat(200);
    let (_, charged, demanded) = cost(&shop(&long_name).await, two_lines()).await;
    assert_eq!(demanded, units(&[("table", 16), ("GSI1", 6), ("GSI2", 6)]));
    if lacks(Feature::CapacityFigures) {
        return;
    }
    assert_eq!(charged, demanded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_writes_nothing() {
    let shop = shop("A thing").await;
    shop.customer("ada").order("k", two_lines()).await.expect(201);
    shop.wire().take_calls();
    shop.customer("ada").order("k", two_lines()).await.expect(201);
    assert_eq!(actions(&shop.wire().take_calls()), ["BatchGetItem", "Query"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sold_out_product_costs_its_disappointed_buyers_no_write() {
    let shop = shop("A thing").await;
    let order = json!({ "lines": [{ "productId": "thing-a", "quantity": 11 }] });
    shop.customer("ada").order("k", order).await.problem(edge::Kind::OutOfStock);
    // The cheap read says no, the strong one confirms it, and no copy of this order was faster or is under way.
    assert_eq!(actions(&shop.wire().take_calls()), ["BatchGetItem", "BatchGetItem", "TransactGetItems"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_read_is_one_request_of_the_least_there_is() {
    let shop = shop("A thing").await;
    let order = shop.customer("ada").order("k", with_discount_and_gift_card()).await.expect(201);
    let order_id = order["orderId"].as_str().expect("an id");
    let invoice_id = order["invoice"]["invoiceId"].as_str().expect("an id");
    shop.wire().take_calls();

    // All of these answer less than 4 KB: half a unit, or one where the answer must hold what was written just before.
    let reads = [
        ("/customers/ada".to_owned(), 1.0),
        ("/products/thing-a".to_owned(), 0.5),
        ("/products?category=things".to_owned(), 0.5),
        (format!("/orders/{order_id}"), 1.0),
        (format!("/orders/{order_id}/products"), 1.0),
        (format!("/orders/{order_id}/invoice"), 1.0),
        ("/products/thing-a/orders".to_owned(), 0.5),
        (format!("/invoices/{invoice_id}"), 0.5),
        (format!("/invoices/{invoice_id}/payments"), 0.5),
        ("/customers/ada/invoices".to_owned(), 0.5),
        ("/customers/ada/products".to_owned(), 0.5),
    ];
    for (path, expected) in reads {
        shop.admin().get(&path).await.expect(200);
        let calls = shop.wire().take_calls();
        assert_eq!(actions(&calls), ["Query"], "{path}");
        let units = read_units(&calls[0]);
        assert!((units - expected).abs() < f64::EPSILON, "{path}: {units}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn making_something_is_one_request() {
    let shop = Shop::open().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1, 1).await;
    shop.discount("TEN", 10, None).await;
    shop.gift_card("GIFT", 500).await;
    let calls = shop.wire().take_calls();
    assert_eq!(actions(&calls), ["TransactWriteItems", "TransactWriteItems", "PutItem", "PutItem"]);
    let charges: Vec<_> = calls.iter().map(charged).collect();
    // One item each, outside of any transaction.
    assert_eq!(charges[2], units(&[("table", 1)]));
    assert_eq!(charges[3], units(&[("table", 1)]));
    if lacks(Feature::CapacityFigures) {
        return;
    }
    // A profile and two claims; a product and its stock.
    assert_eq!(charges[0], units(&[("table", 6), ("GSI2", 1)]));
    assert_eq!(charges[1], units(&[("table", 4), ("GSI1", 1)]));
}
