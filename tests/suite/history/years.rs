//! A history of some years: where it shows, what it counts, and that nobody is told of it.

use super::{AFTER_EVERY_CHANGE, Temporary, imported};
use crate::invariants::breaches;
use crate::prelude::*;
use local::history::Options;

/// The lines of a small history: an order in each year, in each closed status.
fn history() -> Vec<Value> {
    let line = |product: &str, quantity: u32, cents: u64| json!({ "productId": product, "name": format!("The {product} of old"), "quantity": quantity, "unitPrice": eur(cents) });
    let order = |id: &str, status: &str, placed: &str, more: Value| {
        let mut order = json!({
            "type": "order", "orderId": id, "customerId": "ada", "status": status, "placedAt": placed,
            "lines": [line("tea", 2, 450), line("cup", 1, 1100)], "total": eur(2000),
            "card": { "amount": eur(2000), "transfer": { "reference": "bank-1", "amount": 2000 } },
        });
        order.as_object_mut().expect("an order").extend(more.as_object().expect("more").clone());
        order
    };
    vec![
        json!({ "type": "customer", "customerId": "ada", "username": "ada", "email": "Ada@example.com",
            "name": "Ada Lovelace", "createdAt": "2019-01-02T03:04:05.678Z" }),
        json!({ "type": "product", "productId": "tea", "name": "Tea", "category": "drinks", "price": eur(500), "available": 7 }),
        json!({ "type": "product", "productId": "cup", "name": "Cup", "category": "things", "price": eur(1200),
            "available": 9, "cells": 3 }),
        json!({ "type": "discount", "code": "TEN", "percent": 10, "maxUses": 5, "createdAt": "2019-01-01" }),
        json!({ "type": "giftCard", "code": "GIFT-2019-ABCD", "initial": eur(5000), "createdAt": "2019-01-01" }),
        order(
            "o-2019",
            "DELIVERED",
            "2019-05-01T12:00:00Z",
            json!({ "deliveredAt": "2019-05-04", "invoiceId": "2019-0001" }),
        ),
        order(
            "o-2020",
            "CANCELLED",
            "2020-05-01T12:00:00Z",
            json!({
                "cancellation": { "at": "2020-05-02", "reason": "Too late", "cause": "customer" },
                "card": { "amount": eur(2000), "transfer": { "reference": "bank-2", "amount": 2000 },
                    "refunds": [{ "reference": "back-2", "amount": 2000 }] },
            }),
        ),
        // Ten percent off, and the rest by gift card.
        order(
            "o-2021",
            "SHIPPED",
            "2021-05-01T12:00:00Z",
            json!({
                "discount": eur(200), "codes": [{ "code": "TEN", "amount": eur(200) }], "total": eur(1800), "card": null,
                "giftCards": [{ "code": "GIFT-2019-ABCD", "amount": eur(1800) }],
            }),
        ),
        // One of the two teas came back, and its money is back.
        order(
            "o-2022",
            "DELIVERED",
            "2022-05-01T12:00:00Z",
            json!({
                "deliveredAt": "2022-05-03", "credits": [{ "productId": "tea", "quantity": 1 }],
                "returns": [{ "returnId": "ret-o-2022-1", "lines": [{ "productId": "tea", "quantity": 1 }],
                    "requestedAt": "2022-05-05", "status": "received", "closedAt": "2022-05-09", "amount": eur(450) }],
                "card": { "amount": eur(2000), "transfer": { "reference": "bank-4", "amount": 2000 },
                    "refunds": [{ "reference": "back-4", "amount": 450 }] },
            }),
        ),
    ]
}

fn file(lines: &[Value]) -> String {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.as_object_mut().expect("a record").retain(|_, value| !value.is_null());
    }
    super::file(&lines)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_shows_and_counts_in_its_own_years_and_nobody_is_told_of_it() {
    let shop = Shop::open_counted().await;
    let source = Temporary::with("years.ndjson", &file(&history()));
    let (summary, refused) = imported(&shop, &source, &Options::default()).await;
    assert_eq!((summary.new, refused), (9, vec![]));
    shop.settle().await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
    let orders: Vec<_> = shop.bus().events().into_iter().filter(|event| event["source"] == "till.orders").collect();
    assert_eq!(orders, Vec::<Value>::new());
    let (admin, ada) = (shop.admin(), shop.customer("ada"));
    let ids = |items: &[Value]| items.iter().map(|item| order_id(item).to_owned()).collect::<Vec<_>>();

    // The ten access patterns, in the years of the data.
    let customer = ada.get("/customers/ada").await.expect(200);
    assert_eq!(customer["stats"], json!({ "orders": 3, "spent": [eur(2000 + 1800 + 1550)] }));
    assert_eq!(customer["createdAt"], "2019-01-02T03:04:05.678Z");
    let tea = shop.nobody().get("/products/tea").await.expect(200);
    assert_eq!((&tea["available"], &tea["stats"]), (&json!(7), &json!({ "orders": 3, "units": 5 })));
    let delivered = ada.get("/orders/o-2022").await.expect(200);
    assert_eq!(delivered["lines"][0]["unitPrice"], eur(450));
    assert_eq!(delivered["credits"].as_array().map(Vec::len), Some(1));
    let invoice = ada.get("/invoices/2019-0001").await.expect(200);
    assert_eq!((&invoice["orderId"], &invoice["amount"]), (&json!("o-2019"), &eur(2000)));
    assert_eq!(invoice["payments"][0]["status"], "captured");
    let invoices = ada.walk("/customers/ada/invoices?from=2020-01-01&to=2022-01-01", 1).await;
    assert_eq!(ids(&invoices), ["o-2020", "o-2021"]);
    let of_product = admin.walk("/products/tea/orders?from=2019-01-01&to=2021-01-01", 1).await;
    assert_eq!(ids(&of_product), ["o-2019", "o-2020"]);
    let bought = ada.walk("/customers/ada/products?from=2022-01-01&to=2023-01-01", 1).await;
    assert_eq!(ids(&bought), ["o-2022", "o-2022"]);
    assert_eq!(ids(&ada.walk("/customers/ada/orders", 2).await), ["o-2022", "o-2021", "o-2020", "o-2019"]);
    let of_status = admin.walk("/orders?status=DELIVERED&from=2019-01-01&to=2023-01-01", 1).await;
    assert_eq!(ids(&of_status), ["o-2019", "o-2022"]);
    let totals = admin.get("/totals?from=2022-05-01&to=2022-05-02").await.expect(200);
    let expected = json!({
        "date": "2022-05-01", "orders": 1, "units": 2, "revenue": [eur(1550)],
        "statuses": [{ "status": "DELIVERED", "orders": 1 }],
    });
    assert_eq!(totals["items"], json!([expected]));
    let totals = admin.get("/totals?from=2020-05-01&to=2020-05-02").await.expect(200);
    assert_eq!(totals["items"][0]["statuses"], json!([{ "status": "CANCELLED", "orders": 1 }]));
    let card = admin.get("/gift-cards/GIFT-2019-ABCD").await;
    assert_eq!(card.expect(200)["balance"], eur(3200));

    // The history goes on: the shipped order is delivered here.
    let status = json!({ "status": "DELIVERED" });
    admin.post("/orders/o-2021/status", status).await.expect(200);
    shop.settle().await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
    let told = shop.bus().events().into_iter().filter(|event| event["source"] == "till.orders");
    let told: Vec<_> = told.map(|event| event["detail-type"].clone()).collect();
    assert_eq!(told, ["OrderStatusChanged"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_and_products_come_from_csv() {
    let shop = Shop::open().await;
    let customers = "customerId,username,email,name,createdAt\n\
        ada,ada,ada@example.com,\"Lovelace, Ada\",2019-01-02\n\
        bob,bob,no address,Bob,2019-01-02\n";
    let products =
        "productId,name,category,price,currency,available\ntea,Tea,drinks,500,EUR,7\ncup,Cup,things,-1,EUR,7\n";
    let customers = Temporary::with("customers.csv", customers);
    let products = Temporary::with("products.csv", products);
    let (summary, refused) = imported(&shop, &customers, &Options::default()).await;
    assert_eq!((summary.new, refused.len(), refused[0].0), (1, 1, 3));
    assert!(refused[0].1.contains("must be an address"), "{refused:?}");
    let (summary, refused) = imported(&shop, &products, &Options::default()).await;
    assert_eq!(
        (summary.new, refused),
        (1, vec![(3, "price: amount must be 0 to 9007199254740991, in minor units".to_owned())])
    );
    assert_eq!(shop.customer("ada").get("/customers/ada").await.expect(200)["name"], "Lovelace, Ada");
    assert_eq!(shop.available("tea").await, 7);

    // As other programs write them: a byte order mark, lines that end in CRLF, empty cells.
    let products = "\u{feff}productId, name,description,category,price,currency,available\r\n\
        pot,Pot,\"two\r\nlines\",things,900,EUR,\r\nmug,Mug,,things,9.50,EUR,1\r\n";
    let products = Temporary::with("more.csv", products);
    let (summary, refused) = imported(&shop, &products, &Options::default()).await;
    let why = "price: must be a whole number of minor units (1250, and not 12.50)";
    assert_eq!((summary.new, refused.len(), refused[0].1.as_str()), (1, 1, why));
    assert_eq!(shop.nobody().get("/products/pot").await.expect(200)["description"], "two\nlines");
    let line = json!({ "type": "product", "productId": "jug", "name": "Jug", "category": "things", "price": eur(1) });
    let ndjson = Temporary::with("marked.ndjson", &format!("\u{feff}{line}\r\n"));
    assert_eq!(imported(&shop, &ndjson, &Options::default()).await.1, vec![]);
    let separated = Temporary::with("separated.csv", "productId;name;price\n");
    let why =
        super::imported_to(&super::environment(&shop), &separated, &Options::default()).await.expect_err("no CSV");
    assert!(why.contains("by commas"), "{why}");
}
