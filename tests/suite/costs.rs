//! What changes and lists cost: requests, and write units beside what the items demand.

use std::collections::BTreeMap;

use local::wire::{Access, Call};
use reqwest::Method;
use serde_json::{Value, json};

use crate::engine::{Feature, lacks};
use crate::shop::{Client, Shop, eur};

/// The requests of a route, and what they wrote: units in the table, in GSI1 and in GSI2.
#[derive(Debug, PartialEq)]
struct Cost {
    requests: Vec<String>,
    read: f64,
    written: [f64; 3],
}

fn cost(calls: &[Call]) -> Cost {
    let mut read = 0.0;
    let mut written = BTreeMap::from([("table", 0.0), ("GSI1", 0.0), ("GSI2", 0.0)]);
    for consumed in calls.iter().flat_map(|call| &call.consumed) {
        match consumed.access {
            Access::Read => read += consumed.units(),
            Access::Write => {
                *written.get_mut("table").expect("counted") += consumed.table_units;
                for (index, units) in &consumed.index_units {
                    *written.get_mut(index.as_str()).expect("one of the two") += units;
                }
            }
        }
    }
    let requests = calls.iter().map(|call| call.action.clone()).collect();
    Cost { requests, read, written: [written["table"], written["GSI1"], written["GSI2"]] }
}

/// A request, and the DynamoDB requests, read units and written units it is to cost.
type Priced<'a> = (&'a str, String, Value, &'a str, f64, [f64; 3]);

const GET: &str = "GET";

async fn send(client: &Client, method: Method, path: &str, body: Value) -> u16 {
    let body = (!body.is_null()).then(|| body.to_string());
    client.send(method, path, &[("if-match", "*")], body).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_and_every_list_costs_what_it_must() {
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 100).await;
    shop.gift_card("GIFT", 500).await;
    shop.discount("TEN", 10, None).await;
    let line = json!({ "lines": [{ "productId": "thing", "quantity": 1 }] });
    let order = shop.customer("ada").order("k", line.clone()).await.expect(201);
    let other = shop.customer("ada").order("k2", line.clone()).await.expect(201);
    let id = |order: &Value| order["orderId"].as_str().expect("an id").to_owned();
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    let (order, other) = (format!("/orders/{}", id(&order)), format!("/orders/{}", id(&other)));
    // The counter has all of its parts, as that of any product that is looked at.
    for _ in 0..300 {
        send(&shop.admin(), Method::POST, "/products/thing/views", Value::Null).await;
    }
    shop.wire().take_calls();

    let eight_shards = ["Query"; 8].join(" ");
    let routes: Vec<Priced> = vec![
        // A profile, its new claim and its old one, twice each for the transaction; and the profile's index entry.
        (
            "PATCH",
            "/customers/ada".into(),
            json!({ "email": "a@b.de" }),
            "Query TransactWriteItems",
            1.0,
            [6.0, 0.0, 1.0],
        ),
        (
            "PATCH",
            "/customers/ada".into(),
            json!({ "name": "Lady Ada" }),
            "Query TransactWriteItems",
            1.0,
            [2.0, 0.0, 1.0],
        ),
        // Nothing but the product, and its entry in the category.
        ("PATCH", "/products/thing".into(), json!({ "name": "It" }), "BatchGetItem PutItem", 2.0, [1.0, 1.0, 0.0]),
        // The product and the copy of its price.
        (
            "PATCH",
            "/products/thing".into(),
            json!({ "price": eur(5) }),
            "BatchGetItem TransactWriteItems",
            2.0,
            [4.0, 1.0, 0.0],
        ),
        (
            "POST",
            "/products/thing/stock".into(),
            json!({ "delta": 5 }),
            "BatchGetItem TransactWriteItems",
            2.0,
            [4.0, 1.0, 0.0],
        ),
        ("PUT", "/customers/ada/cart".into(), line, "BatchGetItem PutItem", 1.0, [1.0, 0.0, 0.0]),
        (GET, "/customers/ada/cart".into(), Value::Null, "Query", 1.0, [0.0; 3]),
        ("DELETE", "/customers/ada/cart".into(), Value::Null, "DeleteItem", 0.0, [1.0, 0.0, 0.0]),
        ("POST", "/products/thing/views".into(), Value::Null, "UpdateItem", 0.0, [1.0, 0.0, 0.0]),
        // Sixteen parts, the product and its stats, half a unit each.
        (GET, "/products/thing/stats".into(), Value::Null, "BatchGetItem", 9.0, [0.0; 3]),
        // Header and invoice; the header moves to another status, which deletes one entry and makes another.
        (
            "POST",
            format!("/invoices/{invoice}/payments"),
            json!({ "reference": "r" }),
            "Query Query TransactWriteItems",
            1.5,
            [4.0, 3.0, 2.0],
        ),
        ("POST", format!("{order}/status"), json!({ "status": "SHIPPED" }), "Query PutItem", 1.0, [1.0, 2.0, 1.0]),
        // Header, invoice and the stock that gets its unit back.
        ("POST", format!("{other}/cancellation"), json!({}), "Query TransactWriteItems", 1.0, [6.0, 3.0, 2.0]),
        // The flag, and a look at the header.
        ("PUT", format!("{order}/flag"), json!({ "reason": "odd" }), "TransactWriteItems", 0.0, [4.0, 1.0, 0.0]),
        (GET, "/flagged-orders".into(), Value::Null, "Query", 0.5, [0.0; 3]),
        ("DELETE", format!("{order}/flag"), Value::Null, "DeleteItem", 0.0, [1.0, 1.0, 0.0]),
        (GET, "/customers?username=ada".into(), Value::Null, "Query Query", 2.0, [0.0; 3]),
        (GET, "/customers/ada/overview".into(), Value::Null, "Query", 0.5, [0.0; 3]),
        (GET, "/customers/ada/orders".into(), Value::Null, "Query", 0.5, [0.0; 3]),
        (GET, "/orders?status=SHIPPED".into(), Value::Null, &eight_shards, 4.0, [0.0; 3]),
        (GET, "/discounts/TEN".into(), Value::Null, "Query", 0.5, [0.0; 3]),
        (GET, "/gift-cards/GIFT".into(), Value::Null, "Query", 1.0, [0.0; 3]),
    ];
    let has_no_figures = lacks(Feature::CapacityFigures);
    for (method, path, body, requests, read, written) in routes {
        let method: Method = method.parse().expect("a method");
        let status = send(&shop.admin(), method.clone(), &path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status}");
        let expected = Cost { requests: requests.split(' ').map(str::to_owned).collect(), read, written };
        let mut cost = cost(&shop.wire().take_calls());
        if has_no_figures {
            cost.read = read;
            if requests.contains("TransactWriteItems") {
                cost.written = written;
            }
        }
        assert_eq!(cost, expected, "{method} {path}");
    }
}
