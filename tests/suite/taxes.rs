//! Tax: the rates, and the taxes of orders and invoices.

use crate::invariants::{BEFORE_EVERY_CHANGE, breaches};
use crate::prelude::*;

/// A shop in Germany, where books have another rate than all else.
pub async fn shop(prices_include_tax: bool) -> Shop {
    let shop = Shop::open_with(|template| {
        for function in &mut template.functions {
            let mut set = |name: &str, value: &str| {
                function.environment.entry(name.to_owned()).and_modify(|known| value.clone_into(known));
            };
            set("TAX_COUNTRY", "DE");
            set("PRICES_INCLUDE_TAX", if prices_include_tax { "true" } else { "false" });
        }
    })
    .await;
    shop.sign_up("ada").await;
    for (product, category, price) in [("novel", "books", 1070), ("cup", "cups", 1190)] {
        shop.create(product, json!({ "category": category, "price": eur(price) })).await;
    }
    shop
}

pub fn rates(standard: u32, books: u32) -> Value {
    let books = json!([{ "category": "books", "rate": books }]);
    json!({ "countries": [{ "country": "DE", "standard": standard, "categories": books }] })
}

pub async fn put(shop: &Shop, version: &str, rates: &Value) -> Reply {
    shop.admin().put_if("/taxes", &format!("\"{version}\""), rates.clone()).await
}

pub fn both() -> Value {
    json!({ "lines": [{ "productId": "novel", "quantity": 1 }, { "productId": "cup", "quantity": 2 }] })
}

fn tax(rate: u32, net: u64, tax: u64) -> Value {
    json!({ "rate": rate, "net": eur(net), "tax": eur(tax) })
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_that_include_tax_are_what_the_customer_pays_and_the_invoice_shows_the_tax() {
    let shop = shop(true).await;
    let ada = shop.customer("ada");
    let untaxed = ada.order("before", both()).await.expect(201);
    assert_eq!(untaxed["invoice"].get("taxes"), None, "there are no rates yet");
    put(&shop, "0", &rates(1900, 700)).await.expect(200);

    let order = ada.order("first", both()).await.expect(201);
    assert_eq!((&order["total"], order.get("tax")), (&eur(3450), None));
    assert_eq!(order["invoice"]["taxes"], json!([tax(700, 1000, 70), tax(1900, 2000, 380)]));
    let lines: Vec<_> = order["lines"].as_array().expect("lines").iter().map(|line| &line["tax"]).collect();
    assert_eq!(lines, [&json!({ "rate": 700, "amount": eur(70) }), &json!({ "rate": 1900, "amount": eur(380) })]);
    let invoice = invoice_id(&order);
    assert_eq!(ada.get(&format!("/invoices/{invoice}")).await.expect(200)["taxes"], order["invoice"]["taxes"]);

    // New rates are for new orders. A repeated request answers with those of its order.
    put(&shop, "1", &rates(2000, 0)).await.expect(200);
    assert_eq!(ada.order("first", both()).await.expect(201)["invoice"], order["invoice"]);
    let second = ada.order("second", both()).await.expect(201);
    assert_eq!(second["invoice"]["taxes"], json!([tax(0, 1070, 0), tax(2000, 1983, 397)]));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn tax_on_top_of_the_prices_is_in_the_total_and_all_of_it_comes_back() {
    let shop = shop(false).await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    put(&shop, "0", &rates(1900, 700)).await.expect(200);
    let order = ada.order("first", both()).await.expect(201);
    assert_eq!((&order["subtotal"], &order["tax"], &order["total"]), (&eur(3450), &eur(527), &eur(3977)));
    assert_eq!(order["invoice"]["taxes"], json!([tax(700, 1070, 75), tax(1900, 2380, 452)]));

    // A total that was quoted before the rates changed holds no longer, and nothing is written.
    put(&shop, "1", &rates(2000, 700)).await.expect(200);
    let before = shop.dump().await;
    let mut expecting = both();
    expecting["expectedTotal"] = order["total"].clone();
    let problem = ada.order("second", expecting).await.problem(Kind::PriceChanged);
    assert_eq!(problem["total"], eur(4001));
    assert_eq!(shop.dump().await, before);

    // Cancelled unit by unit: the credits are the price with its tax, and together the total.
    admin.capture(&order, "bank-1").await.expect(200);
    let cancel = |product: &str, quantity: u32| basket(product, quantity);
    let credited = ada.cancel(&order, cancel("cup", 1)).await.expect(200);
    assert_eq!(credited["credits"][0]["amount"], eur(1416));
    let credited = ada.cancel(&order, cancel("cup", 2)).await.expect(200);
    assert_eq!(credited["credits"][0]["amount"], eur(2832));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    let cancelled = ada.cancel(&order, cancel("novel", 1)).await.expect(200);
    assert_eq!(cancelled["status"], "CANCELLED");
    assert_eq!(cancelled["invoice"]["payments"][0]["due"], eur(3977));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_are_replaced_as_a_whole_and_only_in_the_version_that_was_read() {
    let shop = shop(true).await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    assert_eq!(admin.get("/taxes").await.expect(200), json!({ "countries": [] }));
    put(&shop, "7", &rates(1900, 700)).await.problem(Kind::VersionConflict);
    // A repeated request is done.
    for _ in 0..2 {
        let written = put(&shop, "0", &rates(1900, 700)).await;
        assert_eq!(written.header("etag"), Some("\"1\""));
        assert_eq!(written.expect(200)["countries"], rates(1900, 700)["countries"]);
    }
    put(&shop, "0", &rates(1, 1)).await.problem(Kind::VersionConflict);
    put(&shop, "1", &rates(2000, 0)).await.expect(200);
    put(&shop, "1", &rates(1, 1)).await.problem(Kind::VersionConflict);
    assert_eq!(ada.get("/taxes").await.expect(200)["countries"], rates(2000, 0)["countries"]);
    let unconditional = admin.put("/taxes", rates(1, 1)).await;
    unconditional.problem(Kind::PreconditionRequired);

    let before = shop.dump().await;
    let germany = |categories: Value| json!({ "country": "DE", "standard": 1900, "categories": categories });
    let twice = |of: Value| json!([of, of]);
    for (wrong, kind) in [
        (json!({ "countries": twice(germany(json!([]))) }), Kind::Validation),
        (json!({ "countries": [germany(twice(json!({ "category": "books", "rate": 1 })))] }), Kind::Validation),
        (json!({ "countries": [{ "country": "de", "standard": 1 }] }), Kind::Validation),
        (json!({ "countries": [{ "country": "DE", "standard": 10_001 }] }), Kind::Validation),
        (json!({ "countries": vec![germany(json!([])); 101] }), Kind::TooLarge),
    ] {
        put(&shop, "2", &wrong).await.problem(kind);
    }
    assert_eq!(shop.dump().await, before, "a refused request wrote something");
}

/// Of two who replace the same version, one does.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_replace_the_rates_at_once_one_is_told_of_the_other() {
    let shop = shop(true).await;
    put(&shop, "0", &rates(1900, 700)).await.expect(200);
    let (mine, yours) = (rates(2000, 0), rates(2100, 0));
    let (one, other) = tokio::join!(put(&shop, "1", &mine), put(&shop, "1", &yours));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    let winner = if one.status == 200 { mine } else { yours };
    assert_eq!(shop.admin().get("/taxes").await.expect(200)["countries"], winner["countries"]);
}

/// An order with an address has the rates of its country, and shipping the standard rate. A quote says the same.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_has_the_rates_of_the_country_that_it_goes_to_and_shipping_is_taxed_too() {
    let shop = shop(false).await;
    let ada = shop.customer("ada");
    let austria = json!({ "country": "AT", "standard": 2000 });
    let mut both_countries = rates(1900, 700);
    both_countries["countries"].as_array_mut().expect("countries").push(austria);
    put(&shop, "0", &both_countries).await.expect(200);
    let zones = json!({ "zones": [{ "currency": "EUR", "methods": [{ "methodId": "standard", "name": "Standard", "by": "price", "bands": [{ "price": 500 }] }] }] }).to_string();
    shop.admin().send(Method::PUT, "/shipping", &[("if-match", "\"0\"")], Some(zones)).await.expect(200);
    let to = |country: &str, code: &str| {
        let mut order = both();
        order["shipTo"] =
            json!({ "name": "Ada", "line1": "Way 1", "city": "There", "postalCode": code, "country": country });
        order
    };
    for (key, order, taxes, total) in [
        ("germany", to("DE", "10115"), json!([tax(700, 1070, 75), tax(1900, 2880, 547)]), 4572),
        ("austria", to("AT", "1010"), json!([tax(2000, 3950, 790)]), 4740),
        ("france", to("FR", "75001"), Value::Null, 3950),
    ] {
        let quote = ada.post("/quotes", order.clone()).await.expect(200);
        let placed = ada.order(key, order).await.expect(201);
        assert_eq!((&placed["total"], &quote["total"]), (&eur(total), &eur(total)), "{key}");
        assert_eq!(placed["invoice"]["taxes"], taxes, "{key}");
        assert_eq!(quote["tax"], placed["tax"], "{key}");
    }
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}
