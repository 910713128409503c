//! Bodies with one invalid field. Which texts and amounts are accepted, and wrong types, are laws of `contract`.

use crate::prelude::*;

/// A route, a valid body, and changes that make it invalid.
pub type Bodies = (&'static str, Value, Vec<Wrong>);

/// A field, an invalid value, and the beginning of the expected detail.
pub type Wrong = (&'static str, Value, &'static str);

/// Invalid bodies for each route with a body.
pub fn wrong_bodies() -> [Bodies; 5] {
    [customers(), products(), discounts(), gift_cards(), orders()]
}

fn customers() -> Bodies {
    (
        "/customers",
        json!({ "username": "eve", "email": "eve@example.com", "name": "Eve", "customerId": "ada" }),
        vec![
            ("/username", Value::Null, "body: missing field `username`"),
            ("/email", Value::Null, "body: missing field `email`"),
            ("/name", Value::Null, "body: missing field `name`"),
            ("/nickname", json!("e"), "nickname: unknown field `nickname`"),
            ("/username", json!(""), "username: username must be 1 to 64 characters"),
            ("/email", json!("eve"), "email: email must be an address like ada@example.com"),
            ("/name", json!("  "), "name: must be 1 to 200 visible characters on one line"),
            ("/customerId", json!("a#b"), "customerId: customerId must be 1 to 64 characters"),
        ],
    )
}

fn products() -> Bodies {
    (
        "/products",
        goods("new", json!({})),
        vec![
            ("/name", Value::Null, "body: missing field `name`"),
            ("/description", Value::Null, "body: missing field `description`"),
            ("/category", Value::Null, "body: missing field `category`"),
            ("/price", Value::Null, "body: missing field `price`"),
            ("/price/currency", Value::Null, "price: missing field `currency`"),
            ("/price/amount", Value::Null, "price: missing field `amount`"),
            ("/price/scale", json!(2), "price.scale: unknown field `scale`"),
            ("/Price", eur(1), "Price: unknown field `Price`"),
            ("/productId", json!(""), "productId: productId must be 1 to 64 characters"),
            ("/description", json!("x".repeat(5001)), "description: must be at most 5000 characters"),
            ("/category", json!("a b"), "category: category must be"),
            ("/price/amount", json!(-1), "price: amount must be 0 to 9007199254740991, in minor units"),
            (
                "/price/amount",
                json!(1_000_000_000_001_u64),
                "price: amount must be at most 1000000000000, in minor units",
            ),
            ("/price/amount", json!(19.99), "price.amount: must be a whole number"),
            ("/price/amount", json!("1999"), "price.amount: must be a whole number"),
            ("/price/currency", json!("eur"), "price.currency: currency must be three capital letters, like EUR"),
            ("/price/currency", json!("EURO"), "price.currency: currency must be"),
            ("/stock", json!(-1), "stock: must be a whole number from 0 to 4294967295"),
            ("/stock", json!(1.5), "stock: must be a whole number from 0 to 4294967295"),
            ("/stock", json!(4_294_967_296_u64), "stock: must be a whole number from 0 to 4294967295"),
        ],
    )
}

fn discounts() -> Bodies {
    (
        "/discounts",
        json!({ "code": "NEW", "percent": 10, "from": "2998-01-01", "to": "2999-02-01", "maxUses": 1 }),
        vec![
            ("/code", Value::Null, "body: missing field `code`"),
            ("/code", json!("A#B"), "code: discount code must be"),
            ("/percent", json!(0), "percent: percent must be 1 to 100"),
            ("/percent", json!(101), "percent: percent must be 1 to 100"),
            ("/percent", json!(12.5), "percent: must be a whole number"),
            ("/maxUses", json!(0), "maxUses: must be at least 1"),
            ("/maxUses", json!(-1), "maxUses: must be a whole number from 0 to 4294967295"),
            ("/to", json!("2998-01-01"), "to: must be after from"),
            ("/from", json!("yesterday"), "from: a time must look like 2026-11-21T09:30:00Z or 2026-11-21"),
            ("/from", json!("2026-01-01T00:00:00"), "from: a time must look like"),
            ("/from", json!("2999-02-01"), "to: must be after from"),
            ("/from", json!("2999-02-02"), "to: must be after from"),
        ],
    )
}

fn gift_cards() -> Bodies {
    (
        "/gift-cards",
        json!({ "code": "NEW-GIFT-CARD", "balance": eur(1) }),
        vec![
            ("/code", json!(""), "code: gift card code must be"),
            ("/code", json!("ELEVEN-CHAR"), "code: must be 12 to 64 characters"),
            ("/balance/amount", json!(0), "balance.amount: must be at least 1"),
            ("/balance/amount", json!(-1), "balance: amount must be"),
            ("/balance/currency", json!("E"), "balance.currency: currency must be"),
            ("/initial", eur(1), "initial: unknown field `initial`"),
        ],
    )
}

fn orders() -> Bodies {
    (
        "/orders",
        json!({ "lines": [{ "productId": "cup", "quantity": 1 }], "giftCards": [] }),
        vec![
            ("/lines", Value::Null, "body: missing field `lines`"),
            ("/lines", json!([]), "lines must not be empty"),
            ("/lines", json!({}), "lines: must be an array"),
            ("/lines/0/quantity", Value::Null, "lines[0]: missing field `quantity`"),
            ("/lines/0/quantity", json!(0), "lines[0].quantity: quantity must be 1 to 10000"),
            ("/lines/0/quantity", json!(-1), "lines[0].quantity: quantity must be 1 to 10000"),
            ("/lines/0/quantity", json!(10_001), "lines[0].quantity: quantity must be 1 to 10000"),
            ("/lines/0/quantity", json!(1.5), "lines[0].quantity: must be a whole number"),
            ("/lines/0/quantity", json!("1"), "lines[0].quantity: must be a whole number"),
            ("/lines/0/productId", json!("a#b"), "lines[0].productId: productId must be"),
            ("/lines/0/price", eur(1), "lines[0].price: unknown field `price`"),
            (
                "/lines",
                json!([{ "productId": "cup", "quantity": 1 }, { "productId": "pot", "quantity": 1 },
                { "productId": "cup", "quantity": 2 }]),
                "lines[2].productId is also in an earlier line",
            ),
            ("/giftCards", json!(["A", "B", "A"]), "giftCards[2] is listed twice"),
            ("/giftCards", json!(["A#"]), "giftCards[0]: gift card code must be"),
            ("/giftCards", json!("A"), "giftCards: must be an array"),
            ("/discountCode", json!("A B"), "discountCode: discount code must be"),
            ("/customerId", json!("bob"), "customerId: unknown field `customerId`"),
        ],
    )
}
