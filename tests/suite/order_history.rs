//! A page of an order history is one request: the list of a customer's orders shows of each order what the order itself says,
//! with its first lines as they were sold.

use devstack::fault_proxy::{Access, Consumed};
use shop::seed::random;

use crate::prelude::*;

/// What a list leaves out of an order.
const LEFT_OUT: [&str; 7] = ["shipTo", "paymentMethod", "creditedTaxes", "invoice", "shipments", "returns", "flag"];

/// The most lines that a list shows of an order.
const SHOWN: usize = 5;

/// Two more than the most lines with which an order does not end the Query that reads its lines.
const PRODUCTS: usize = 14;

/// A shop with products, each with attributes, and every other one with an image.
async fn shop() -> Shop {
    let shop = Shop::with_ada().await;
    for at in 0..PRODUCTS {
        let id = product(at);
        shop.create(&id, json!({ "stock": 10_000, "attributes": { "size": "M", "colour": "dark red" } })).await;
        if at % 2 == 0 {
            let image = shop.uploaded(&id).await;
            let said = json!({ "alt": "A cup beside a window", "width": 1200, "height": 800 });
            shop.say_of_image(&id, &image, said).await.expect(200);
        }
    }
    shop
}

fn product(at: usize) -> String {
    format!("product-{at}")
}

/// An order of the first products, three units of each.
fn first(lines: usize) -> Value {
    json!({ "lines": (0..lines).map(|at| json!({ "productId": product(at), "quantity": 3 })).collect::<Vec<_>>() })
}

fn one(at: usize) -> Value {
    basket(product(at), 1)
}

fn carried(lines: Value) -> Value {
    let mut body = lines;
    body["carrier"] = json!("Post");
    body
}

fn statuses(parts: &Value) -> Vec<Value> {
    parts.as_array().into_iter().flatten().map(|part| part["status"].clone()).collect()
}

/// Asserts that the order in the list says what the order says, and that the order's parts have the names of its lines.
fn says_the_same(listed: &Value, order: &Value) {
    let mut expected = order.clone();
    let of_order = expected.as_object_mut().expect("an order");
    of_order.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    let lines = order["lines"].as_array().expect("lines");
    of_order["lines"] = lines.iter().take(SHOWN).cloned().collect();
    assert_eq!(*listed, expected);

    assert_eq!(order["lineCount"], lines.len());
    for (parts, told) in [("shipments", "shipmentStatuses"), ("returns", "returnStatuses")] {
        let none = json!([]);
        assert_eq!(
            statuses(&order[parts]),
            *order.get(told).unwrap_or(&none).as_array().expect("statuses"),
            "{order:#}"
        );
        for units in order[parts].as_array().into_iter().flatten().filter_map(|part| part["lines"].as_array()).flatten()
        {
            let line = lines.iter().find(|line| line["productId"] == units["productId"]).expect("its line");
            assert!(units["name"] == line["name"] && units["name"].is_string(), "{units:#}");
        }
    }
}

/// Asserts that the list says what the orders say, and returns the orders.
async fn list_agrees(shop: &Shop) -> Vec<Value> {
    let ada = shop.customer("ada");
    let mut orders = Vec::new();
    for listed in ada.walk("/customers/ada/orders", 50).await {
        let order = ada.read(&listed).await;
        says_the_same(&listed, &order);
        orders.push(order);
    }
    orders
}

/// One step of an order's life, which may be refused.
async fn step(shop: &Shop, order: &Value, key: &str, random: &mut fastrand::Rng) -> u16 {
    let admin = shop.admin();
    let any = |random: &mut fastrand::Rng, of: &Value| random.choice(of.as_array().cloned().unwrap_or_default());
    let lines = one(random.usize(0..order["lines"].as_array().map_or(1, Vec::len)));
    let reply = match random.u8(0..13) {
        0..=1 => admin.capture(order, "bank").await,
        2..=3 => admin.ship(order, key, carried(lines)).await,
        4 => admin.ship(order, key, json!({ "carrier": "Post" })).await,
        5..=6 => match any(random, &order["shipments"]) {
            Some(shipment) => admin.deliver(&shipment).await,
            None => admin.advance(order, "SHIPPED").await,
        },
        7 => admin.advance(order, random.choice(["PACKING", "SHIPPED", "DELIVERED"]).expect("one")).await,
        8 => admin.cancel(order, if random.u8(0..4) == 0 { json!({}) } else { lines }).await,
        9..=10 => admin.request_return(order, key, lines).await,
        11 => match any(random, &order["returns"]) {
            Some(returned) if random.bool() => {
                admin.receive(&returned, json!({ "accepted": true, "restock": true })).await
            }
            Some(returned) => admin.receive(&returned, json!({ "accepted": false, "reason": "used" })).await,
            None => admin.flag(order, "a look").await,
        },
        _ => {
            let credit = json!({ "amount": eur(1), "reason": "a scratch" });
            admin.post_once(&format!("/orders/{}/credits", order_id(order)), key, credit).await
        }
    };
    assert!(reply.status < 500, "{reply:?}");
    reply.status
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_orders_says_what_each_order_says_whatever_becomes_of_it() {
    let (shop, mut random) = (shop().await, random());
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    for at in 0..12 {
        ada.order(&format!("key-{at}"), first([1, 2, 3, 5, 6, PRODUCTS][at % 6])).await.expect(201);
    }
    // One order that has everything.
    let full = ada.order("full", first(6)).await.expect(201);
    admin.capture(&full, "bank").await.expect(200);
    let sent = admin.ship(&full, "s1", carried(one(0))).await.expect(201);
    admin.ship(&full, "s2", json!({ "carrier": "Post" })).await.expect(201);
    admin.deliver(&sent).await.expect(200);
    let seen = list_agrees(&shop).await;
    assert_eq!((&seen[0]["shipmentStatuses"], seen.len()), (&json!(["delivered", "shipped"]), 13));
    admin.advance(&full, "DELIVERED").await.expect(200);
    let mut returns = Vec::new();
    for key in ["r1", "r2", "r3"] {
        returns.push(admin.request_return(&full, key, one(1)).await.expect(201));
    }
    admin.receive(&returns[0], json!({ "accepted": true, "restock": true })).await.expect(200);
    admin.receive(&returns[1], json!({ "accepted": false, "reason": "used" })).await.expect(200);
    let seen = list_agrees(&shop).await;
    assert_eq!(seen[0]["returnStatuses"], json!(["received", "refused", "requested"]));

    let mut done = 0;
    for number in 0..150 {
        let order = random.choice(&seen).expect("an order");
        let order = ada.read(order).await;
        done += u32::from(step(&shop, &order, &format!("step-{number}"), &mut random).await < 300);
        if number % 10 == 9 {
            list_agrees(&shop).await;
        }
    }
    assert!(done > 20, "{done} steps changed an order");
    invariants::hold(&shop).await;
}

/// The read units and the requests of what was done.
async fn reads<T>(shop: &Shop, work: impl Future<Output = T>) -> (f64, usize, T) {
    shop.fault_proxy().take_calls();
    let done = work.await;
    let calls = shop.fault_proxy().take_calls();
    let units = calls.iter().flat_map(|call| &call.consumed).filter(|used| used.access == Access::Read);
    (units.map(Consumed::units).sum(), calls.len(), done)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_order_history_is_two_queries() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    for at in 0..50 {
        ada.order(&format!("key-{at}"), first(2)).await.expect(201);
    }
    for (limit, most) in [(10, 4.0), (50, 16.0)] {
        let path = format!("/customers/ada/orders?limit={limit}");
        let (units, requests, page) = reads(&shop, ada.get(&path)).await;
        assert_eq!(page.expect(200)["items"].as_array().map(Vec::len), Some(limit));
        assert!(requests == 2 && units <= most, "{units} units in {requests} requests");
    }

    // The lines of a long order that are not shown are not read.
    for at in 0..3 {
        ada.order(&format!("long-{at}"), first(PRODUCTS)).await.expect(201);
    }
    let (units, requests, page) = reads(&shop, ada.get("/customers/ada/orders?limit=10")).await;
    assert_eq!((requests, page.expect(200)["items"][0]["lines"].as_array().map(Vec::len)), (4, Some(SHOWN)));
    assert!(units <= 6.0, "{units} units");
    list_agrees(&shop).await;
    let pages = ada.get("/customers/ada/orders?limit=100").await.expect(200);
    assert_eq!(pages["items"].as_array().map(Vec::len), Some(50));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_in_the_index_before_its_lines_has_them() {
    let shop = shop().await;
    let mut orders = Vec::new();
    for at in 0..4 {
        orders.push(shop.customer("ada").order(&format!("key-{at}"), first(3)).await.expect(201));
    }
    let order = format!("o#{}", order_id(&orders[2]));
    for at in [0, 2] {
        shop.update(&order, &format!("p#{}", product(at)), "REMOVE GSI2PK, GSI2SK", &Value::Null).await;
    }
    // A long order whose lines are late lies below a short one, and another order lacks its first line alone.
    let ada = shop.customer("ada");
    for (key, lines, late) in [("long", 14, 0..14), ("short", 1, 0..0), ("six", 6, 0..1)] {
        let order = format!("o#{}", order_id(&ada.order(key, first(lines)).await.expect(201)));
        for at in late {
            shop.update(&order, &format!("p#{}", product(at)), "REMOVE GSI2PK, GSI2SK", &Value::Null).await;
        }
    }
    assert_eq!(list_agrees(&shop).await.len(), 7);
}

/// The write units and the requests of placing an order.
async fn placing(shop: &Shop, key: &str, order: Value) -> (f64, usize) {
    shop.fault_proxy().take_calls();
    shop.customer("ada").order(key, order).await.expect(201);
    let calls = shop.fault_proxy().take_calls();
    let units = calls.iter().flat_map(|call| &call.consumed).filter(|used| used.access == Access::Write);
    (units.map(Consumed::units).sum(), calls.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_keeps_image_and_attributes_as_sold_at_no_unit_more() {
    let shop = shop().await;
    for id in ["plain", "simple"] {
        shop.create(id, json!({ "stock": 10 })).await;
    }
    let plain = json!({ "lines": [{ "productId": "plain", "quantity": 1 }, { "productId": "simple", "quantity": 1 }] });
    placing(&shop, "first", plain.clone()).await;
    let before = placing(&shop, "without", plain).await;
    let sold = [0, 2].map(|at| json!({ "productId": product(at), "quantity": 1 }));
    let sold = json!({ "lines": sold });
    let after = placing(&shop, "with", sold.clone()).await;
    assert_eq!((after, after.1), (before, 2));

    let ada = shop.customer("ada");
    let order = ada.order("with", sold).await.expect(201);
    let line = &order["lines"][0];
    assert_eq!(line["attributes"], json!({ "size": "M", "colour": "dark red" }));
    let image = shop.nobody().get("/products/product-0").await.expect(200)["images"][0].clone();
    assert!(line["image"] == image && image["url"].is_string() && image["alt"].is_string(), "{line:#}");

    let changed = json!({ "name": "Another", "attributes": { "size": "L" } });
    shop.admin().patch("/products/product-0", "*", changed).await.expect(200);
    shop.remove_image("product-0", image["imageId"].as_str().expect("an id")).await.expect(204);
    for seen in [ada.read(&order).await, list_agrees(&shop).await.swap_remove(0)] {
        assert_eq!(seen["lines"], order["lines"]);
    }
    let lines = ada.get(&format!("/orders/{}/products", order_id(&order))).await.expect(200);
    assert_eq!(lines["items"][0]["image"], image);
}
