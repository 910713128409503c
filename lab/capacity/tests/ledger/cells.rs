//! Products whose stock lies in several cells.

use key_schema::value::{IdempotencyKey, OrderId};
use sample_items::Kind;
use sample_items::Revision::{Changed, First};
use serde_json::{Value, json};
use shop::cells::lay_out;
use shop::{Reply, eur};

use super::metered_shop::{MeteredShop, basket_of};
use super::requests::Placed;

pub async fn send_all(shop: &mut MeteredShop) {
    catalogue(shop).await;
    orders(shop).await;
    changes(shop).await;
}

async fn catalogue(shop: &mut MeteredShop) {
    for number in 0..shop.sizes().lines {
        let mut product = shop.product(number);
        product["productId"] = json!(shop.id("s", number));
        product["cells"] = json!(shop.sizes().cells);
        shop.shop.admin().post("/products", product).await.expect(201);
        shop.check("create-product", "made, in several cells").await;
    }
    shop.check_sizes(&[("stock", Kind::FirstCell(First)), ("stockCell", Kind::StockCell(First))]).await;
}

fn home(shop: &MeteredShop, key: &str) -> u8 {
    let key: IdempotencyKey = key.parse().expect("a key");
    OrderId::of(&shop.id("c", 0).parse().expect("an id"), &key).spread(shop.sizes().cells)
}

/// Places an order with this number and quantity whose own cell is not the first.
async fn order(shop: &MeteredShop, number: u32, quantity: u64) -> Reply {
    send(shop, number, shop.order(number, quantity)).await
}

/// Places such an order without a discount code.
async fn order_without_code(shop: &MeteredShop, number: u32, quantity: u64) -> Reply {
    send(shop, number, shop.order_without_code(number, quantity)).await
}

/// The same order of products in cells.
fn in_cells(shop: &MeteredShop, mut order: Value) -> Value {
    for (at, line) in (0..).zip(order["lines"].as_array_mut().expect("lines")) {
        line["productId"] = json!(shop.id("s", at));
    }
    order
}

async fn send(shop: &MeteredShop, number: u32, order: Value) -> Reply {
    let mut keys = (0..).map(|at| format!("cells-{number}-{at}"));
    let key = keys.find(|key| home(shop, key) == 1).expect("a key");
    shop.customer().order(&key, in_cells(shop, order)).await
}

/// Sets the units of each cell, with a different number in one of them.
async fn put(shop: &MeteredShop, each: u64, (cell, other): (usize, u64)) {
    let mut units = vec![each; shop.sizes().cells.into()];
    units[cell] = other;
    for number in 0..shop.sizes().lines {
        lay_out(&shop.shop, &shop.id("s", number), &units).await;
    }
}

async fn orders(shop: &mut MeteredShop) {
    let placed = Placed(order(shop, 7, 1).await.expect(201));
    shop.check("place-order", "placed, from one of several cells").await;
    super::counting::count_alone(shop, &placed).await;
    shop.shop.nobody().get(&format!("/products/{}", shop.id("s", 0))).await.expect(200);
    shop.check("get-product", "found, in several cells").await;

    put(shop, 50, (0, 0)).await;
    order_without_code(shop, 8, 1).await.expect(201);
    shop.check("place-order", "placed, with little in the first cell").await;
    put(shop, 50, (1, 0)).await;
    order_without_code(shop, 9, 1).await.expect(201);
    shop.check("place-order", "placed, from another cell than its own").await;
    put(shop, 1, (0, 1)).await;
    order_without_code(shop, 10, 2).await.expect(201);
    shop.check("place-order", "placed, of units gathered in one cell").await;
    order_without_code(shop, 11, 5000).await.problem(http_api::Kind::OutOfStock);
    shop.check("place-order", "out of stock in all cells").await;
    let basket = basket_of(in_cells(shop, shop.order_without_code(11, 5000)));
    shop.shop.nobody().post("/guests/quotes", basket).await.problem(http_api::Kind::OutOfStock);
    shop.check("quote-guest-basket", "out of stock in all cells").await;
}

async fn changes(shop: &mut MeteredShop) {
    put(shop, 50, (0, 50)).await;
    let (product, cells) = (format!("/products/{}", shop.id("s", 0)), shop.sizes().cells);
    let admin = shop.shop.admin();
    let stock = format!("{product}/stock");
    admin.post_if(&stock, "*", json!({ "delta": -i64::from(cells) })).await.expect(200);
    shop.check("adjust-stock", "adjusted, in several cells").await;
    admin.post_if(&stock, "*", json!({ "delta": -5000 })).await.problem(http_api::Kind::OutOfStock);
    shop.check("adjust-stock", "too little in several cells").await;
    let changes: [(Value, _); 3] = [
        (json!({ "price": eur(2999) }), "another price, in several cells"),
        (json!({ "cells": 1 }), "from several cells to one"),
        (json!({ "cells": cells }), "from one cell to several"),
    ];
    for (change, case) in changes {
        admin.patch(&product, "*", change).await.expect(200);
        shop.check("update-product", case).await;
    }
    shop.check_sizes(&[("stock", Kind::FirstCell(Changed)), ("stockCell", Kind::StockCell(Changed))]).await;
}
