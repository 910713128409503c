//! Products whose stock lies in several cells.

use capacity::sample::Kind;
use capacity::sample::Revision::{Changed, First};
use key_schema::value::{IdempotencyKey, OrderId};
use reqwest::Method;
use serde_json::{Value, json};

use super::book::Book;
use super::story::{Placed, send};
use crate::cells::lay_out;
use crate::shop::{Reply, eur};

pub async fn tell(book: &mut Book) {
    catalogue(book).await;
    orders(book).await;
    changes(book).await;
}

async fn catalogue(book: &mut Book) {
    for number in 0..book.sizes().lines {
        let mut product = book.product(number);
        product["productId"] = json!(book.id("s", number));
        product["cells"] = json!(book.sizes().cells);
        book.shop.admin().post("/products", product).await.expect(201);
        book.check("create-product", "made, in several cells");
    }
    book.check_sizes(&[("stock", Kind::FirstCell(First)), ("stockCell", Kind::StockCell(First))]).await;
}

/// The cell from which an order under this key would take.
fn home(book: &Book, key: &str) -> u8 {
    let key: IdempotencyKey = key.parse().expect("a key");
    OrderId::of(&book.id("c", 0).parse().expect("an id"), &key).spread(book.sizes().cells)
}

/// Places the order of this number, which takes so many of each product, as one whose own cell is not the first.
async fn order(book: &Book, number: u32, quantity: u64) -> Reply {
    let mut keys = (0..).map(|at| format!("cells-{number}-{at}"));
    let key = keys.find(|key| home(book, key) == 1).expect("a key");
    let mut order = book.order(number, quantity);
    for (at, line) in (0..).zip(order["lines"].as_array_mut().expect("lines")) {
        line["productId"] = json!(book.id("s", at));
    }
    book.customer().order(&key, order).await
}

/// Puts so many into each cell, and another number into one of them.
async fn put(book: &Book, each: u64, (cell, other): (usize, u64)) {
    let mut units = vec![each; book.sizes().cells.into()];
    units[cell] = other;
    for number in 0..book.sizes().lines {
        lay_out(&book.shop, &book.id("s", number), &units).await;
    }
}

async fn orders(book: &mut Book) {
    let placed = Placed(order(book, 7, 1).await.expect(201));
    book.check("place-order", "placed, from one of several cells");
    super::days::count_alone(book, &placed).await;
    book.shop.nobody().get(&format!("/products/{}", book.id("s", 0))).await.expect(200);
    book.check("get-product", "found, in several cells");

    put(book, 50, (0, 0)).await;
    order(book, 8, 1).await.expect(201);
    book.check("place-order", "placed, with little in the first cell");
    put(book, 50, (1, 0)).await;
    order(book, 9, 1).await.expect(201);
    book.check("place-order", "placed, from another cell than its own");
    put(book, 1, (0, 1)).await;
    order(book, 10, 2).await.expect(201);
    book.check("place-order", "placed, of units gathered in one cell");
    order(book, 11, 5000).await.problem(http_api::Kind::OutOfStock);
    book.check("place-order", "out of stock in all cells");
}

async fn changes(book: &mut Book) {
    put(book, 50, (0, 50)).await;
    let (product, cells) = (format!("/products/{}", book.id("s", 0)), book.sizes().cells);
    let admin = book.shop.admin();
    let stock = format!("{product}/stock");
    send(&admin, Method::POST, &stock, &json!({ "delta": -i64::from(cells) })).await.expect(200);
    book.check("adjust-stock", "adjusted, in several cells");
    send(&admin, Method::POST, &stock, &json!({ "delta": -5000 })).await.problem(http_api::Kind::OutOfStock);
    book.check("adjust-stock", "too little in several cells");
    let changes: [(Value, _); 3] = [
        (json!({ "price": eur(2999) }), "another price, in several cells"),
        (json!({ "cells": 1 }), "from several cells to one"),
        (json!({ "cells": cells }), "from one cell to several"),
    ];
    for (change, case) in changes {
        send(&admin, Method::PATCH, &product, &change).await.expect(200);
        book.check("update-product", case);
    }
    book.check_sizes(&[("stock", Kind::FirstCell(Changed)), ("stockCell", Kind::StockCell(Changed))]).await;
}
