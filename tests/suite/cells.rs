//! Stocks in several cells: all units can be sold, and none twice, whichever cells orders use and however the cells
//! change meanwhile.

mod admin;
mod busy;
mod invariants;
mod requests;

use futures_util::{StreamExt as _, stream};
use shop::cells::place;

use crate::invariants::{BEFORE_EVERY_CHANGE, breaches};
use crate::prelude::*;

/// A shop with the customer ada and the product `thing` in eight cells.
async fn shop(units: u64) -> Shop {
    let shop = Shop::with_ada().await;
    in_cells(&shop, units, 8).await.expect(201);
    shop.fault_proxy().take_calls();
    shop
}

async fn in_cells(shop: &Shop, units: u64, cells: u8) -> Reply {
    shop.admin().post("/products", goods("thing", json!({ "stock": units, "cells": cells }))).await
}

/// Repeats a request while its outcome is unknown.
async fn insist(client: &Client, method: Method, path: &str, header: (&str, &str), body: Value) -> Reply {
    loop {
        let reply = client.send(method.clone(), path, &[header], Some(body.to_string())).await;
        if reply.status != 503 {
            return reply;
        }
    }
}

/// Places an order, with retries.
async fn order(client: &Client, key: &str, body: Value) -> Reply {
    insist(client, Method::POST, "/orders", ("idempotency-key", key), body).await
}

async fn change(client: &Client, body: Value) -> Reply {
    client.patch("/products/thing", "*", body).await
}

async fn adjust(client: &Client, if_match: &str, delta: i64) -> Reply {
    let body = json!({ "delta": delta });
    client.post_if("/products/thing/stock", if_match, body).await
}

/// The units of each cell.
async fn units(shop: &Shop) -> Vec<u64> {
    let first = shop.item("p#thing", "stock").await;
    let cells = first["cells"]["N"].as_str().map_or(1, |cells| cells.parse().expect("a number"));
    let mut units = Vec::new();
    for cell in 0..cells {
        let [pk, sk] = place("thing", cell);
        let cell = shop.item(&pk, &sk).await;
        units.push(cell["available"]["N"].as_str().expect("a cell").parse().expect("not below zero"));
    }
    units
}

async fn all_at_once(shop: &Shop, orders: impl IntoIterator<Item = (String, Value)>) -> Vec<Reply> {
    let sending = orders.into_iter().map(|(key, body)| async move { order(&shop.customer("ada"), &key, body).await });
    stream::iter(sending).buffer_unordered(16).collect().await
}

/// The units of orders that are not cancelled.
async fn sold(shop: &Shop) -> u64 {
    let dump = shop.dump().await;
    let text = |item: &Value, name: &str| item[name]["S"].as_str().expect("a text").to_owned();
    let of = |kind: &'static str| dump.iter().filter(move |item| item["EntityType"]["S"] == kind);
    let stand =
        |line: &Value| of("order").any(|order| order["PK"] == line["PK"] && text(order, "status") != "CANCELLED");
    of("orderItem")
        .filter(|line| stand(line))
        .map(|line| line["quantity"]["N"].as_str().expect("a number").parse::<u64>().expect("a number"))
        .sum()
}

/// Asserts that supplied units are sold or in the cells, and that an audit finds no breach.
async fn conserved(shop: &Shop, supplied: u64) {
    assert_eq!(breaches(shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    let left: u64 = units(shop).await.iter().sum();
    assert_eq!(left + sold(shop).await, supplied, "units sold and left are those supplied");
    assert_eq!(shop.available("thing").await, left);
}

fn actions(shop: &Shop) -> Vec<String> {
    shop.fault_proxy().take_calls().into_iter().map(|call| call.action).collect()
}
