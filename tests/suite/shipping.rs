//! Address books, addresses of orders, shipping rates and quotes.

use futures_util::future::join_all;

use crate::prelude::*;
use crate::queue::settled;

const BOOK: &str = "/customers/ada/addresses";

fn home() -> Value {
    json!({ "name": "Ada", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" })
}

fn saved(id: &str) -> Value {
    let mut address = home();
    address["addressId"] = json!(id);
    address
}

fn of(product: &str, quantity: u64) -> Value {
    basket(product, quantity)
}

fn to(mut order: Value, ship_to: Value) -> Value {
    order["shipTo"] = ship_to;
    order
}

async fn put_book(client: &Client, if_match: Option<&str>, book: Value) -> Reply {
    let headers: Vec<_> = if_match.map(|tag| ("if-match", tag)).into_iter().collect();
    client.send(Method::PUT, BOOK, &headers, Some(book.to_string())).await
}

async fn put_rates(shop: &Shop, if_match: &str, zones: Value) -> Reply {
    let rates = json!({ "zones": zones });
    shop.admin().put_if("/shipping", if_match, rates).await
}

/// Germany by weight, free from 50 euros; France by price, for up to 20 euros.
fn zones() -> Value {
    json!([
        { "countries": ["DE"], "currency": "EUR", "methods": [{
            "methodId": "standard", "name": "Standard", "by": "weight",
            "bands": [{ "upTo": 1000, "price": 490 }, { "upTo": 5000, "price": 890 }], "freeFrom": 5000,
        }] },
        { "countries": ["FR"], "currency": "EUR", "methods": [
            { "methodId": "standard", "name": "Standard", "by": "price", "bands": [{ "upTo": 2000, "price": 700 }] },
        ] },
    ])
}

async fn weighing(shop: &Shop, id: &str, price: u64, grams: u64) {
    let created = shop.create(id, json!({ "price": eur(price), "stock": 1000, "weightGrams": grams })).await;
    assert_eq!(created["weightGrams"], grams);
}

/// A shop with rates, and a product of 10 euros and 400 grams.
async fn shop() -> Shop {
    let shop = Shop::with_ada().await;
    weighing(&shop, "thing", 1000, 400).await;
    put_rates(&shop, "\"0\"", zones()).await.expect(200);
    shop
}

async fn quote(shop: &Shop, body: &Value) -> Reply {
    shop.customer("ada").post("/quotes", body.clone()).await
}

async fn all(shop: &Shop, kind: &str) -> Vec<Value> {
    shop.dump().await.into_iter().filter(|item| item["EntityType"]["S"] == kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_book_is_written_read_and_replaced() {
    let shop = Shop::with_ada().await;
    let ada = shop.customer("ada");
    ada.get(BOOK).await.problem(Kind::NotFound);
    let book = json!({ "addresses": [saved("home"), home()], "default": "home" });
    let first = put_book(&ada, None, book.clone()).await;
    let tag = first.header("etag").expect("a version").to_owned();
    let first = first.expect(200);
    assert_eq!(first["addresses"][0], saved("home"));
    assert_eq!(ada.get(BOOK).await.expect(200), first);
    let again = put_book(&ada, None, book).await.expect(200);
    assert_eq!(again["addresses"], first["addresses"], "an address without an id gets the same one each time");
    put_book(&ada, Some(&tag), json!({ "addresses": [] })).await.problem(Kind::VersionConflict);
    put_book(&ada, Some("*"), json!({ "addresses": [] })).await.expect(200);
    shop.customer("eve").get(BOOK).await.problem(Kind::NotFound);
    put_book(&shop.customer("eve"), None, json!({ "addresses": [] })).await.problem(Kind::NotFound);
    shop.sign_up("eve").await;
    assert_eq!(ada.get("/customers/ada").await.expect(200)["customerId"], "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_address_book_is_refused_and_the_old_one_stays() {
    let shop = Shop::with_ada().await;
    let ada = shop.customer("ada");
    put_book(&ada, None, json!({ "addresses": [saved("home")] })).await.expect(200);
    let before = shop.dump().await;
    let with = |field: &str, value: Value| {
        let mut address = saved("home");
        address[field] = value;
        json!({ "addresses": [address] })
    };
    for wrong in [
        with("country", json!("de")),
        with("country", json!("ZZ")),
        with("postalCode", json!("1011")),
        with("postalCode", Value::Null),
        with("name", json!(" ")),
        with("line1", json!("x".repeat(101))),
        with("city", json!("a\nb")),
        with("phone", json!("+49")),
        json!({ "addresses": [saved("home"), saved("home")] }),
        json!({ "addresses": [home(), home()] }),
        json!({ "addresses": [saved("home")], "default": "work" }),
    ] {
        put_book(&ada, None, wrong).await.problem(Kind::Validation);
    }
    let many: Vec<_> = (0..21).map(|at| saved(&format!("a{at}"))).collect();
    put_book(&ada, None, json!({ "addresses": many })).await.problem(Kind::TooLarge);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_address_books_that_replace_one_version_at_once_one_is_kept() {
    let shop = Shop::with_ada().await;
    let ada = shop.customer("ada");
    let tag = put_book(&ada, None, json!({ "addresses": [] })).await.header("etag").expect("a version").to_owned();
    let books = (0..10).map(|at| put_book(&ada, Some(&tag), json!({ "addresses": [saved(&format!("a{at}"))] })));
    let replies = join_all(books).await;
    let kept: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert_eq!(kept.len(), 1);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.clone().problem(Kind::VersionConflict);
    }
    assert_eq!(ada.get(BOOK).await.expect(200), kept[0].body);
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 1);
    put_book(&ada, Some("*"), json!({ "addresses": [saved("last")] })).await.expect(200);
    assert_eq!(shop.fault_proxy().pending(), 0, "the answer to its first attempt was lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_keeps_its_address_when_the_book_changes() {
    let shop = Shop::with_ada().await;
    let ada = shop.customer("ada");
    shop.product("thing", 1000, 10).await;
    put_book(&ada, None, json!({ "addresses": [saved("home")] })).await.expect(200);
    let body = to(of("thing", 2), json!({ "addressId": "home" }));
    let order = ada.order("k", body.clone()).await.expect(201);
    assert_eq!((&order["shipTo"], &order["total"]), (&home(), &eur(2000)));
    assert_eq!((&order["shipping"], &order["paymentMethod"]), (&Value::Null, &json!("card")));
    put_book(&ada, None, json!({ "addresses": [] })).await.expect(200);
    assert_eq!(ada.read(&order).await["shipTo"], home());
    let again = ada.order("k", body.clone()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), order);
    ada.order("k", of("thing", 2)).await.problem(Kind::IdempotencyKeyReused);
    let unknown = ada.order("k2", body).await.problem(Kind::NotFound);
    assert_eq!(unknown["addressId"], "home");
    let list = ada.get("/customers/ada/orders").await.expect(200);
    assert_eq!(list["items"][0]["shipTo"], Value::Null);
    assert_eq!(all(&shop, "orderAddress").await.len(), 1);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_to_an_invalid_address_writes_nothing() {
    let shop = Shop::selling("thing", 1000, 10).await;
    let before = shop.dump().await;
    for (wrong, why) in [
        (json!({}), "shipTo: missing field `name`"),
        (json!({ "addressId": "home", "city": "Berlin" }), "shipTo: must be either"),
        (json!({ "addressId": "a b" }), "shipTo.addressId: "),
        (json!({ "name": "Ada", "line1": "Way", "city": "Ulm", "country": "DE" }), "shipTo: postalCode must have"),
        (json!({ "name": "Ada", "line1": "Way", "city": "Ulm", "country": "XX" }), "shipTo.country: "),
    ] {
        let problem = shop.customer("ada").order("k", to(of("thing", 1), wrong)).await.problem(Kind::Validation);
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.starts_with(why), "{detail}");
    }
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_address_appears_after_its_customer_was_erased() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.set("c#ada", "c#ada", "erasedAt", json!({ "S": "2026-11-25T09:30:00.000Z" })).await;
    let before = shop.dump().await;
    let ada = shop.customer("ada");
    ada.order("k", to(of("thing", 1), home())).await.problem(Kind::NotFound);
    put_book(&ada, None, json!({ "addresses": [saved("home")] })).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rates_are_replaced_only_under_their_version() {
    let shop = Shop::open().await;
    let none = shop.nobody().get("/shipping").await.expect(200);
    assert_eq!(none, json!({ "zones": [] }));
    put_rates(&shop, "\"1\"", zones()).await.problem(Kind::VersionConflict);
    let rates = put_rates(&shop, "\"0\"", zones()).await;
    assert_eq!(rates.header("etag"), Some("\"1\""));
    assert_eq!(rates.expect(200)["zones"], zones());
    put_rates(&shop, "\"0\"", zones()).await.expect(200);
    put_rates(&shop, "\"0\"", json!([])).await.problem(Kind::VersionConflict);
    let at_once = join_all((0..8).map(|_| put_rates(&shop, "\"1\"", json!([])))).await;
    assert!(at_once.iter().all(|reply| reply.status == 200), "the same rates");
    assert_eq!(shop.nobody().get("/shipping").await.expect(200)["zones"], json!([]));
    let body = Some(json!({ "zones": zones() }).to_string());
    shop.admin().send(Method::PUT, "/shipping", &[], body.clone()).await.problem(Kind::PreconditionRequired);
    let before = shop.dump().await;
    let method = |bands: Value| json!({ "methodId": "a", "name": "A", "by": "weight", "bands": bands });
    let of = |methods: Value| json!([{ "currency": "EUR", "methods": methods }]);
    let (zone, good) = (|bands: Value| of(json!([method(bands)])), method(json!([{ "price": 1 }])));
    let many: Vec<_> = (0..11)
        .map(|at| json!({ "methodId": format!("m{at}"), "name": "M", "by": "price", "bands": [{ "price": 1 }] }))
        .collect();
    for wrong in [
        zone(json!([])),
        zone(json!([{ "upTo": 2, "price": 1 }, { "upTo": 2, "price": 1 }])),
        zone(json!([{ "price": 1 }, { "upTo": 2, "price": 1 }])),
        zone(json!([{ "price": -1 }])),
        zone(json!([{ "upTo": -1, "price": 1 }])),
        json!([zone(json!([{ "price": 1 }]))[0], zone(json!([{ "price": 1 }]))[0]]),
        json!([{ "countries": ["ZZ"], "currency": "EUR", "methods": [good] }]),
        json!([{ "countries": ["DE", "DE"], "currency": "EUR", "methods": [good] }]),
        of(json!([])),
        of(json!([good, good])),
        of(json!(many)),
        of(json!([{ "methodId": "a", "by": "price", "bands": [{ "price": 1 }] }])),
        of(json!([{ "methodId": "a", "name": " ", "by": "price", "bands": [{ "price": 1 }] }])),
        of(json!([{ "methodId": "a b", "name": "A", "by": "price", "bands": [{ "price": 1 }] }])),
    ] {
        put_rates(&shop, "*", wrong).await.problem(Kind::Validation);
    }
    let large = (0..50).map(|_| json!({ "currency": "EUR", "methods": many[..10] }));
    put_rates(&shop, "*", large.collect()).await.problem(Kind::TooLarge);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_equals_the_order_and_writes_nothing() {
    let shop = shop().await;
    shop.gift_card("GIFT", 600).await;
    shop.discount("TEN", 10, None).await;
    let mut body = to(of("thing", 3), home());
    body["giftCards"] = json!(["GIFT"]);
    body["discountCode"] = json!("TEN");
    let before = shop.dump().await;
    let quoted = quote(&shop, &body).await.expect(200);
    assert_eq!(shop.dump().await, before);
    // 1,200 grams.
    assert_eq!((&quoted["subtotal"], &quoted["discount"]), (&eur(3000), &eur(300)));
    assert_eq!((&quoted["shipping"], &quoted["total"]), (&eur(890), &eur(3590)));
    assert_eq!(
        quoted["payments"],
        json!([{ "type": "giftCard", "code": "GIFT", "amount": eur(600) }, { "type": "card", "amount": eur(2990) }])
    );
    body["expectedTotal"] = quoted["total"].clone();
    let order = shop.customer("ada").order("k", body).await.expect(201);
    for field in ["lines", "subtotal", "discount", "shipping", "total"] {
        assert_eq!(order[field], quoted[field], "{field}");
    }
    assert_eq!(order["invoice"]["amount"], eur(3590));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shipping_is_free_above_a_sum_and_refused_to_other_countries() {
    let shop = shop().await;
    assert_eq!(quote(&shop, &to(of("thing", 5), home())).await.expect(200)["shipping"], eur(0));
    assert_eq!(quote(&shop, &of("thing", 1)).await.expect(200)["shipping"], Value::Null);
    let mut paris = home();
    (paris["country"], paris["postalCode"]) = (json!("FR"), json!("75001"));
    assert_eq!(quote(&shop, &to(of("thing", 2), paris.clone())).await.expect(200)["total"], eur(2700));
    let before = shop.dump().await;
    let beyond = shop.customer("ada").order("k", to(of("thing", 3), paris)).await.problem(Kind::NotShipped);
    assert_eq!(beyond["country"], "FR");
    let mut tokyo = home();
    (tokyo["country"], tokyo["postalCode"]) = (json!("JP"), json!("100-0001"));
    shop.customer("ada").order("k", to(of("thing", 1), tokyo)).await.problem(Kind::NotShipped);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_held_to_a_quote_is_refused_if_rates_or_prices_have_moved() {
    let shop = shop().await;
    let mut body = to(of("thing", 1), home());
    body["expectedTotal"] = quote(&shop, &body).await.expect(200)["total"].clone();
    let mut dearer = zones();
    dearer[0]["methods"][0]["bands"][0]["price"] = json!(590);
    put_rates(&shop, "\"1\"", dearer).await.expect(200);
    let before = shop.dump().await;
    let refused = shop.customer("ada").order("k", body.clone()).await.problem(Kind::PriceChanged);
    assert_eq!(refused["total"], eur(1590));
    quote(&shop, &body).await.problem(Kind::PriceChanged);
    assert_eq!(shop.dump().await, before, "nothing is written");
    put_rates(&shop, "\"2\"", zones()).await.expect(200);
    let price = json!({ "price": eur(1100) }).to_string();
    shop.admin().send(Method::PATCH, "/products/thing", &[("if-match", "*")], Some(price)).await.expect(200);
    let before = shop.dump().await;
    assert_eq!(shop.customer("ada").order("k", body).await.problem(Kind::PriceChanged)["total"], eur(1590));
    assert_eq!(shop.dump().await, before, "nothing is written");
}

/// The rates move all the time. Each order has the total of old rates or of new ones, and its amounts add up.
#[tokio::test(flavor = "multi_thread")]
async fn amounts_add_up_while_the_rates_move() {
    let shop = shop().await;
    let moving = async {
        for price in 500..515 {
            let mut zones = zones();
            zones[0]["methods"][0]["bands"][0]["price"] = json!(price);
            put_rates(&shop, "*", zones).await.expect(200);
        }
    };
    let ordering = join_all((0..15).map(|at| {
        let (ada, body) = (shop.customer("ada"), to(of("thing", 1), home()));
        async move { ada.order(&format!("k{at}"), body).await.expect(201) }
    }));
    let ((), orders) = futures_util::future::join(moving, ordering).await;
    for order in orders {
        let shipping = order["shipping"]["amount"].as_i64().expect("an amount");
        assert!((490..515).contains(&shipping), "{shipping}");
        assert_eq!(order["total"]["amount"], 1000 + shipping);
        assert_eq!(order["invoice"]["payments"][0]["amount"]["amount"], 1000 + shipping);
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_order_gives_its_shipping_back_and_cancelled_units_do_not() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    shop.gift_card("GIFT", 5000).await;
    let mut body = to(of("thing", 3), home());
    body["giftCards"] = json!(["GIFT"]);
    let order = ada.order("k", body).await.expect(201);
    assert_eq!((&order["total"], &order["paymentMethod"]), (&eur(3890), &json!("giftCard")));
    let units = |quantity: u64| basket("thing", quantity);
    let card = async || shop.item("g#GIFT", "g#GIFT").await["balance"]["M"]["amount"]["N"].clone();
    ada.cancel(&order, units(1)).await.expect(200);
    assert_eq!(card().await, "2110");
    // What the order was promised for its units as ordered, it keeps.
    assert_eq!(ada.read(&order).await["shipping"], order["shipping"]);
    invariants::hold(&shop).await;
    ada.cancel(&order, units(3)).await.expect(200);
    assert_eq!(card().await, "5000", "no unit is left, so the order is cancelled as a whole");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_drain_places_an_order_with_its_address() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    put_book(&ada, None, json!({ "addresses": [saved("home")] })).await.expect(200);
    for (key, address) in [("k0", home()), ("k1", json!({ "addressId": "home" }))] {
        let accepted = order_later(&ada, key, to(of("thing", 1), address)).await;
        assert_eq!(accepted.status, 202);
        let order = settled(&ada, &accepted).await;
        assert_eq!((&order["shipTo"], &order["total"]), (&home(), &eur(1490)));
    }
    let lost = order_later(&ada, "k2", to(of("thing", 1), json!({ "addressId": "work" }))).await;
    assert_eq!((lost.status, &settled(&ada, &lost).await["status"]), (202, &json!("REJECTED")));
    assert_eq!(all(&shop, "orderAddress").await.len(), 2);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_order_fits_in_one_transaction() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    for at in 0..40 {
        shop.product(&format!("p{at}"), 1000, 10).await;
    }
    for at in 0..4 {
        shop.gift_card(&format!("GIFT-{at}"), 100).await;
    }
    shop.discount("TEN", 10, Some(5)).await;
    put_book(&ada, None, json!({ "addresses": [saved("home")] })).await.expect(200);
    let lines: Vec<_> = (0..40).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    let body = json!({
        "lines": lines, "discountCode": "TEN", "giftCards": ["GIFT-0", "GIFT-1", "GIFT-2", "GIFT-3"],
        "shipTo": { "addressId": "home" },
    });
    shop.fault_proxy().take_calls();
    let order = ada.order("k", body).await.expect(201);
    assert_eq!((&order["shipping"], &order["total"]), (&eur(0), &eur(36_000)));
    let calls = shop.fault_proxy().calls();
    let actions: Vec<_> = calls.iter().map(|call| call.action.as_str()).collect();
    assert_eq!(actions, ["BatchGetItem", "TransactWriteItems"]);
    let items = calls[1].request["TransactItems"].as_array().expect("actions").len();
    assert_eq!(items, 93);
    invariants::hold(&shop).await;
}
