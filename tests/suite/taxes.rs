//! Tax: the rates, and the taxes of orders and invoices.

use devstack::fault_proxy::{Fault, Match};
use http_api::Kind;
use reqwest::Method;
use serde_json::{Value, json};
use shop::{Reply, Shop, eur};

use crate::invariants::{BEFORE_EVERY_CHANGE, breaches};

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
    for (product, category, price) in [("novel", "books", 10_70), ("cup", "cups", 11_90)] {
        let body = json!({
            "productId": product, "name": product, "description": "", "category": category,
            "price": eur(price), "stock": 100,
        });
        shop.admin().post("/products", body).await.expect(201);
    }
    shop
}

pub fn rates(standard: u32, books: u32) -> Value {
    let books = json!([{ "category": "books", "rate": books }]);
    json!({ "countries": [{ "country": "DE", "standard": standard, "categories": books }] })
}

pub async fn put(shop: &Shop, headers: &[(&str, &str)], rates: &Value) -> Reply {
    shop.admin().send(Method::PUT, "/taxes", headers, Some(rates.to_string())).await
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
    put(&shop, &[], &rates(1900, 700)).await.expect(200);

    let order = ada.order("first", both()).await.expect(201);
    assert_eq!((&order["total"], order.get("tax")), (&eur(34_50), None));
    assert_eq!(order["invoice"]["taxes"], json!([tax(700, 10_00, 70), tax(1900, 20_00, 3_80)]));
    let lines: Vec<_> = order["lines"].as_array().expect("lines").iter().map(|line| &line["tax"]).collect();
    assert_eq!(lines, [&json!({ "rate": 1900, "amount": eur(3_80) }), &json!({ "rate": 700, "amount": eur(70) })]);
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    assert_eq!(ada.get(&format!("/invoices/{invoice}")).await.expect(200)["taxes"], order["invoice"]["taxes"]);

    // New rates are for new orders. A repeated request answers with those of its order.
    put(&shop, &[], &rates(2000, 0)).await.expect(200);
    assert_eq!(ada.order("first", both()).await.expect(201)["invoice"], order["invoice"]);
    let second = ada.order("second", both()).await.expect(201);
    assert_eq!(second["invoice"]["taxes"], json!([tax(0, 10_70, 0), tax(2000, 19_83, 3_97)]));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn tax_on_top_of_the_prices_is_in_the_total_and_all_of_it_comes_back() {
    let shop = shop(false).await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    put(&shop, &[], &rates(1900, 700)).await.expect(200);
    let order = ada.order("first", both()).await.expect(201);
    assert_eq!((&order["subtotal"], &order["tax"], &order["total"]), (&eur(34_50), &eur(5_27), &eur(39_77)));
    assert_eq!(order["invoice"]["taxes"], json!([tax(700, 10_70, 75), tax(1900, 23_80, 4_52)]));

    // A total that was quoted before the rates changed holds no longer, and nothing is written.
    put(&shop, &[], &rates(2000, 700)).await.expect(200);
    let before = shop.dump().await;
    let mut expecting = both();
    expecting["expectedTotal"] = order["total"].clone();
    let problem = ada.order("second", expecting).await.problem(Kind::PriceChanged);
    assert_eq!(problem["total"], eur(40_01));
    assert_eq!(shop.dump().await, before);

    // Cancelled unit by unit: the credits are the price with its tax, and together the total.
    let id = order["orderId"].as_str().expect("an id");
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    admin.post(&format!("/invoices/{invoice}/payments"), json!({ "reference": "bank-1" })).await.expect(200);
    let cancel = |product: &str, quantity: u32| json!({ "lines": [{ "productId": product, "quantity": quantity }] });
    let path = format!("/orders/{id}/cancellation");
    let credited = ada.post(&path, cancel("cup", 1)).await.expect(200);
    assert_eq!(credited["credits"][0]["amount"], eur(14_16));
    let credited = ada.post(&path, cancel("cup", 2)).await.expect(200);
    assert_eq!(credited["credits"][0]["amount"], eur(28_32));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    let cancelled = ada.post(&path, cancel("novel", 1)).await.expect(200);
    assert_eq!(cancelled["status"], "CANCELLED");
    assert_eq!(cancelled["invoice"]["payments"][0]["due"], eur(39_77));
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_are_replaced_as_a_whole_and_only_in_the_version_that_was_read() {
    let shop = shop(true).await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    admin.get("/taxes").await.problem(Kind::NotFound);
    let other = ("if-match", "\"7\"");
    put(&shop, &[other], &rates(1900, 700)).await.problem(Kind::VersionConflict);
    let first = put(&shop, &[], &rates(1900, 700)).await;
    let tag = first.header("etag").expect("an ETag").to_owned();
    assert_eq!(first.expect(200)["countries"], rates(1900, 700)["countries"]);
    put(&shop, &[other], &rates(1, 1)).await.problem(Kind::VersionConflict);
    put(&shop, &[("if-match", &tag)], &rates(2000, 0)).await.expect(200);
    put(&shop, &[("if-match", &tag)], &rates(1, 1)).await.problem(Kind::VersionConflict);
    assert_eq!(ada.get("/taxes").await.expect(200)["countries"], rates(2000, 0)["countries"]);

    let before = shop.dump().await;
    let body = rates(1, 1).to_string();
    ada.send(Method::PUT, "/taxes", &[], Some(body)).await.problem(Kind::Forbidden);
    let germany = |categories: Value| json!({ "country": "DE", "standard": 1900, "categories": categories });
    let twice = |of: Value| json!([of, of]);
    for (wrong, kind) in [
        (json!({ "countries": twice(germany(json!([]))) }), Kind::Validation),
        (json!({ "countries": [germany(twice(json!({ "category": "books", "rate": 1 })))] }), Kind::Validation),
        (json!({ "countries": [{ "country": "de", "standard": 1 }] }), Kind::Validation),
        (json!({ "countries": [{ "country": "DE", "standard": 10_001 }] }), Kind::Validation),
        (json!({ "countries": vec![germany(json!([])); 101] }), Kind::TooLarge),
    ] {
        put(&shop, &[], &wrong).await.problem(kind);
    }
    assert_eq!(shop.dump().await, before, "a refused request wrote something");
}

/// The answer to the write is lost: the SDK tries again, and finds its own rates.
#[tokio::test(flavor = "multi_thread")]
async fn rates_that_were_written_without_an_answer_are_written_once() {
    let shop = shop(true).await;
    let first = put(&shop, &[], &rates(1900, 700)).await;
    let tag = first.header("etag").expect("an ETag").to_owned();
    shop.fault_proxy().inject(Match::action("PutItem"), Fault::CutAfter, 1);
    put(&shop, &[("if-match", &tag)], &rates(2000, 0)).await.expect(200);
    assert_eq!(shop.admin().get("/taxes").await.expect(200)["countries"], rates(2000, 0)["countries"]);
}
