//! Malformed requests: the answer names the place and the cause, and nothing is written.

use local::functions::routes;

use crate::prelude::*;
use crate::problems::{Ask, Desk};
use crate::wrong_bodies::wrong_bodies;

const MOST_BYTES: usize = 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_field_is_named() {
    let mut desk = Desk::open().await;
    // An admin has every route's scope, so the refusal is about the body.
    let admin = desk.shop.admin();
    for (path, right, wrong) in wrong_bodies() {
        for (pointer, value, begins) in wrong {
            let body = with(&right, pointer, &value).to_string();
            let detail = desk.refuses(Ask::post(&admin, path, &body), Kind::Validation, json!({})).await;
            assert!(detail.starts_with(begins), "{path} {pointer} {value}: {detail}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_one_json_object_is_refused() {
    let mut desk = Desk::open().await;
    let admin = desk.shop.admin();
    for (path, right, _) in wrong_bodies() {
        let right = right.to_string();
        let twice = right.replacen('{', &format!("{},", right.trim_end_matches('}')), 1);
        for body in [
            "",
            " ",
            "{",
            "null",
            "[]",
            "\"text\"",
            "\u{feff}{}",
            &right[1..],
            &format!("{right}x"),
            &right.repeat(2),
            &twice,
        ] {
            desk.refuses(Ask::post(&admin, path, body), Kind::Validation, json!({})).await;
        }
        let ask = Ask { body: None, ..Ask::post(&admin, path, "") };
        let detail = desk.refuses(ask, Kind::Validation, json!({})).await;
        assert_eq!(detail, "body: EOF while parsing a value at line 1 column 0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_64_kib_is_accepted_and_one_byte_more_is_too_large() {
    let mut desk = Desk::open().await;
    let admin = desk.shop.admin();
    for (path, right, _) in wrong_bodies() {
        let larger = padded(&right, MOST_BYTES + 1);
        let detail = desk.refuses(Ask::post(&admin, path, &larger), Kind::TooLarge, json!({})).await;
        assert_eq!(detail, "The body must not be larger than 65536 bytes.", "{path}");
    }
    // The gateway's own limit.
    let huge = " ".repeat(6 * 1024 * 1024 + 1);
    admin.send(Method::POST, "/gift-cards", &[], Some(huge)).await.of_gateway(413);

    let largest = padded(&json!({ "code": "NEW-GIFT-CARD", "balance": eur(1) }), MOST_BYTES);
    admin.send(Method::POST, "/gift-cards", &[], Some(largest)).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_query_string_is_refused() {
    let mut desk = Desk::open().await;
    let admin = desk.shop.admin();
    let limit = "query string: limit must be a whole number from 1 to 100";
    let time = "query string: a time must look like 2026-11-21T09:30:00Z or 2026-11-21";
    let lists = [
        ("/customers/ada/invoices?", true),
        ("/customers/ada/products?", true),
        ("/products/pot/orders?", true),
        ("/products?category=things&", false),
    ];
    for (path, dated) in lists {
        let mut wrong = vec![
            ("limit=0", limit),
            ("limit=101", limit),
            ("limit=-1", limit),
            ("limit=x", limit),
            ("limit=", limit),
            ("limit=1.0", limit),
            ("limit=5&limit=6", "query string: duplicate field `limit`"),
            ("Limit=5", "query string: unknown parameter `Limit`, expected one of "),
            ("surprise=1", "query string: unknown parameter `surprise`, expected one of "),
        ];
        if dated {
            wrong.extend([
                ("from=yesterday", time),
                ("to=2026-13-01", time),
                ("from=", time),
                ("from=2026-01-01T00:00:00", time),
                ("from=2026-01-01T00:00:00+01:00", time),
                ("to=2026-02-30", time),
                ("from=2026-02-01&to=2026-01-01", "query string: from must not be after to"),
                ("from=2026-01-01&from=2026-01-02", "query string: duplicate field `from`"),
                (
                    "category=things",
                    "query string: unknown parameter `category`, expected one of from, to, limit, cursor",
                ),
            ]);
        } else {
            wrong.push(("from=2026-01-01", "query string: unknown parameter `from`, expected one of "));
        }
        for (parameters, begins) in wrong {
            let path = format!("{path}{parameters}");
            let detail = desk.refuses(Ask::get(&admin, &path), Kind::Validation, json!({})).await;
            assert!(detail.starts_with(begins), "{path}: {detail}");
        }
    }
    for (path, expected) in [
        ("/products?category=", "query string: category must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
        ("/products?category=a%23b", "query string: category must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
        ("/products?category=a&category=b", "query string: duplicate field `category`"),
    ] {
        assert_eq!(desk.refuses(Ask::get(&admin, path), Kind::Validation, json!({})).await, expected, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_id_in_a_path_is_refused() {
    let mut desk = Desk::open().await;
    let admin = desk.shop.admin();
    let long = "x".repeat(65);
    let with_ids = routes().filter_map(|function| {
        let (before, name) = function.route.path.split_once('{')?;
        Some((Method::from(function.route.method), before, name.split_once('}')?.1))
    });
    for (method, before, after) in with_ids {
        for id in ["a%23b", "%20", "%C3%A9", "a%2Fb", "a%00", "~", &long] {
            let path = format!("{before}{id}{after}");
            let ask = Ask { method: method.clone(), ..Ask::get(&admin, &path) };
            let detail = desk.refuses(ask, Kind::Validation, json!({})).await;
            assert!(detail.ends_with(" must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"), "{path}: {detail}");
        }
    }
}

fn padded(body: &Value, length: usize) -> String {
    let body = body.to_string();
    " ".repeat(length - body.len()) + &body
}

/// The body with one field set, or removed where the value is null.
fn with(body: &Value, pointer: &str, value: &Value) -> Value {
    let mut body = body.clone();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    let parent = body.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    match value {
        Value::Null => parent.remove(field),
        value => parent.insert(field.to_owned(), value.clone()),
    };
    body
}
