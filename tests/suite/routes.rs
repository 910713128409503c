//! Every route answers by the contract: status, headers and the whole body.

use crate::prelude::*;
use crate::repeating::every_post;

/// The id of ada's order with the key `first`. Derived ids must never change.
const ADAS_FIRST: &str = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5";

/// The headers of an answer that the route itself sets. The request id is the gateway's, and each answer has another.
/// What caches read has tests of its own (`caching`).
pub fn own_headers(reply: &Reply) -> Vec<(&str, &str)> {
    let headers = reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let others = ["apigw-requestid", "cache-control", "content-length", "date", "vary"];
    let is_tag_of_body = |(name, value): &(&str, &str)| *name == "etag" && value.contains('-');
    headers.filter(|header| !others.contains(&header.0) && !is_tag_of_body(header)).collect()
}

#[track_caller]
fn answered(reply: &Reply, status: u16, headers: &[(&str, &str)]) -> Value {
    assert_eq!(reply.status, status, "{}", reply.body);
    let mut expected = vec![("content-type", "application/json")];
    expected.extend(headers);
    expected.push(("x-content-type-options", "nosniff"));
    assert_eq!(own_headers(reply), expected);
    reply.body.clone()
}

/// Asserts that a time is in the canonical format and within this test, and returns it.
#[track_caller]
fn of_today(moment: &Value, start: Timestamp) -> String {
    let text = moment.as_str().expect("a time").to_owned();
    let parsed: Timestamp = text.parse().expect("a time");
    assert_eq!(parsed.to_string(), text);
    assert!(start <= parsed && parsed <= Timestamp::now(), "{text}");
    text
}

/// The order as `GET` answers it, for the time at which it was placed.
fn ordered(at: &str, invoice_id: &str) -> Value {
    let line = |product, quantity: u64, price: u64| {
        json!({
            "productId": product, "name": format!("The {product}"), "quantity": quantity, "unitPrice": eur(price),
            "amount": eur(price * quantity),
        })
    };
    json!({
        "orderId": ADAS_FIRST, "customerId": "ada", "status": "PENDING", "placedAt": at, "version": 1,
        "lines": [line("teapot", 2, 1999), line("cup", 1, 350)], "lineCount": 2,
        "subtotal": eur(4348), "discount": eur(435), "discountCode": "TEN", "total": eur(3913), "paymentMethod": "card",
        "invoice": {
            "invoiceId": invoice_id, "orderId": ADAS_FIRST, "customerId": "ada", "issuedAt": at, "amount": eur(3913),
            "payments": [
                { "type": "giftCard", "code": "GIFT-FOR-ADA", "amount": eur(1000), "status": "captured" },
                { "type": "card", "amount": eur(2913), "status": "pending" },
            ],
        },
    })
}

fn listed(order: &Value, line: usize) -> Value {
    let mut item = order["lines"][line].clone();
    for field in ["orderId", "customerId", "placedAt"] {
        item[field] = order[field].clone();
    }
    item
}

#[tokio::test(flavor = "multi_thread")]
async fn a_created_resource_is_answered_with_its_location() {
    let start = Timestamp::now();
    let (_shop, replies) = every_post().await;
    let [customer, teapot, cup, discount, card, order] = replies.as_slice() else { panic!("one reply for each") };

    let body = answered(customer, 201, &[("etag", "\"1\""), ("location", "/customers/ada")]);
    assert_eq!(
        body,
        json!({
            "customerId": "ada", "username": "Ada", "email": "Ada@example.com", "name": "Ada Lovelace",
            "createdAt": of_today(&body["createdAt"], start), "version": 1, "stats": { "orders": 0, "spent": [] },
        })
    );

    let body = answered(teapot, 201, &[("etag", "\"1\""), ("location", "/products/teapot")]);
    assert_eq!(
        body,
        json!({
            "productId": "teapot", "name": "The teapot", "description": "Round.\nBrown.", "category": "things",
            "price": eur(1999), "availability": "inStock", "available": 10, "version": 1, "stats": { "orders": 0, "units": 0 },
        })
    );
    answered(cup, 201, &[("etag", "\"1\""), ("location", "/products/cup")]);

    let body = answered(discount, 201, &[("etag", "\"1\""), ("location", "/discounts/TEN")]);
    assert_eq!(
        body,
        json!({
            "code": "TEN", "percent": 10, "from": "2026-01-01T00:00:00.000Z", "to": "2999-01-01T00:00:00.000Z", "maxUses": 5,
            "uses": 0, "createdAt": of_today(&body["createdAt"], start),
        })
    );

    let body = answered(card, 201, &[("etag", "\"1\""), ("location", "/gift-cards/GIFT-FOR-ADA")]);
    assert_eq!(
        body,
        json!({
            "code": "GIFT-FOR-ADA", "balance": eur(1000), "initial": eur(1000), "createdAt": of_today(&body["createdAt"], start),
        })
    );

    let body = answered(order, 201, &[("location", &format!("/orders/{ADAS_FIRST}"))]);
    let invoice = invoice_id(&body);
    assert_eq!(body, ordered(&of_today(&body["placedAt"], start), invoice));
}

#[tokio::test(flavor = "multi_thread")]
async fn optional_fields_that_are_left_out_are_missing_in_the_answer() {
    let shop = Shop::open().await;
    let admin = shop.admin();

    let body = admin.post("/discounts", json!({ "code": "ONE", "percent": 1 })).await.expect(201);
    assert_eq!(body, json!({ "code": "ONE", "percent": 1, "createdAt": body["createdAt"] }));
    assert_eq!(admin.get("/discounts/ONE").await.expect(200), body, "its uses are not counted");

    let new = json!({ "name": "Pot", "description": "", "category": "things", "price": eur(0) });
    let first = admin.post("/products", new.clone()).await;
    let id = first.body["productId"].as_str().expect("an id").to_owned();
    assert_eq!(
        answered(&first, 201, &[("etag", "\"1\""), ("location", &format!("/products/{id}"))]),
        json!({
            "productId": id, "name": "Pot", "description": "", "category": "things", "price": eur(0), "availability": "soldOut", "available": 0,
            "version": 1, "stats": { "orders": 0, "units": 0 },
        })
    );
    let second = admin.post("/products", new).await.expect(201);
    assert_ne!(second["productId"], id.as_str(), "each product without an id is another one");

    shop.sign_up("ada").await;
    let lines = json!({ "lines": [{ "productId": id, "quantity": 1 }], "giftCards": [] });
    shop.product("cup", 350, 1).await;
    admin.post("/gift-cards", json!({ "code": "GIFT-FOR-ADA", "balance": eur(1) })).await.expect(201);
    assert_eq!(shop.customer("ada").order("free", lines.clone()).await.problem(Kind::OutOfStock)["available"], 0);
    let order = shop.customer("ada").order("plain", basket("cup", 1)).await.expect(201);
    assert_eq!(order.get("discountCode"), None);
    assert_eq!(order.get("flag"), None);
    assert_eq!(order["invoice"]["payments"], json!([{ "type": "card", "amount": eur(350), "status": "pending" }]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_cost_needs_no_payment() {
    let shop = Shop::selling("cup", 350, 1).await;
    shop.discount("ALL", 100, None).await;
    shop.gift_card("GIFT-FOR-ADA", 1000).await;
    let body = json!({ "lines": [{ "productId": "cup", "quantity": 1 }], "discountCode": "ALL", "giftCards": ["GIFT-FOR-ADA"] });
    let order = shop.customer("ada").order("k", body).await.expect(201);
    assert_eq!((&order["status"], &order["total"]), (&json!("PAID"), &eur(0)));
    assert_eq!(order["invoice"]["payments"], json!([]));
    assert_eq!(shop.item("g#GIFT-FOR-ADA", "g#GIFT-FOR-ADA").await["balance"]["M"]["amount"]["N"], "1000");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_can_sign_up_a_customer() {
    let shop = Shop::open().await;
    let body = json!({ "customerId": "eve", "username": "eve", "email": "eve@example.com", "name": "Eve" });
    let reply = shop.admin().post("/customers", body).await;
    let made = answered(&reply, 201, &[("etag", "\"1\""), ("location", "/customers/eve")]);
    assert_eq!(shop.customer("eve").get("/customers/eve").await.expect(200), made);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_created_resource_can_be_read() {
    let (shop, replies) = every_post().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let [customer, .., order] = replies.as_slice() else { panic!("one reply for each") };
    let order = &order.body;
    let invoice = &order["invoice"];
    let invoice_path = format!("/invoices/{}", invoice["invoiceId"].as_str().expect("an id"));
    let order_path = format!("/orders/{ADAS_FIRST}");

    let profile = ada.get("/customers/ada").await;
    assert_eq!((answered(&profile, 200, &[]), profile.version()), (customer.body.clone(), Some(1)));
    assert_eq!(&answered(&ada.get(&order_path).await, 200, &[]), order);
    assert_eq!(&answered(&ada.get(&format!("{order_path}/invoice")).await, 200, &[]), invoice);
    assert_eq!(&answered(&ada.get(&invoice_path).await, 200, &[]), invoice);

    let page = |items: Value| json!({ "items": items, "next": null });
    for (client, path, items) in [
        (&ada, format!("{invoice_path}/payments"), invoice["payments"].clone()),
        (&ada, format!("{order_path}/products"), json!([listed(order, 0), listed(order, 1)])),
        (&ada, "/customers/ada/invoices".to_owned(), json!([invoice])),
        (&ada, "/customers/ada/products".to_owned(), json!([listed(order, 0), listed(order, 1)])),
        (&admin, "/products/teapot/orders".to_owned(), json!([listed(order, 0)])),
        (&admin, "/products/unheard-of/orders".to_owned(), json!([])),
    ] {
        assert_eq!(answered(&client.get(&path).await, 200, &[]), page(items), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_can_be_read_without_a_token_and_with_any_token() {
    let (shop, replies) = every_post().await;
    let garbage = &[("authorization", "Bearer garbage")];

    let [_, teapot, cup, ..] = replies.as_slice() else { panic!("one reply for each") };
    let mut teapot = teapot.body.clone();
    teapot["available"] = json!(8);
    let found = shop.nobody().get("/products/teapot").await;
    assert_eq!((answered(&found, 200, &[]), found.version()), (teapot.clone(), Some(1)));
    let reply = shop.nobody().send(reqwest::Method::GET, "/products/teapot", garbage, None).await;
    assert_eq!(reply.expect(200), teapot);

    // A list has catalogue fields only: no stock, no stats.
    let brief = |product: &Value| {
        let mut product = product.clone();
        let fields = product.as_object_mut().expect("a product");
        assert!(fields.remove("available").is_some() && fields.remove("stats").is_some());
        product
    };
    let both = json!({ "items": [brief(&cup.body), brief(&teapot)], "next": null });
    for client in [shop.nobody(), shop.customer("ada"), shop.admin()] {
        assert_eq!(answered(&client.get("/products?category=things").await, 200, &[]), both);
    }
    let nothing = json!({ "items": [], "next": null });
    assert_eq!(shop.nobody().get("/products?category=Things").await.expect(200), nothing);
}
