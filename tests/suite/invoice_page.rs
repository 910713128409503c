//! The page of an invoice.

use http_api::Kind;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use shop::{Client, Reply, Shop, eur};

use crate::taxes;

/// The amounts of the elements of a page that the selector finds. Each is also written as people read it.
fn amounts(page: &Html, selector: &str) -> Vec<i64> {
    let selector = Selector::parse(&format!("{selector} data")).expect("a selector");
    let amounts = page.select(&selector).map(|data| {
        let amount: i64 = data.attr("value").expect("a value").parse().expect("a number");
        let written: String = data.text().collect();
        assert_eq!(written, format!("{}.{:02} EUR", amount / 100, amount % 100));
        amount
    });
    amounts.collect()
}

fn sum(page: &Html, selector: &str) -> i64 {
    amounts(page, selector).iter().sum()
}

fn amount(money: &Value) -> i64 {
    money["amount"].as_i64().unwrap_or_default()
}

async fn page_of(client: &Client, order: &Value) -> (Html, Reply) {
    let path = format!("/orders/{}/invoice/page", order["orderId"].as_str().expect("an id"));
    let reply = client.get(&path).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    (Html::parse_document(reply.body.as_str().expect("a page")), reply)
}

/// Asserts that the page has the figures of the order and of its invoice, and that they add up.
async fn adds_up(client: &Client, order: &Value) {
    let (page, _) = page_of(client, order).await;
    let path = format!("/orders/{}", order["orderId"].as_str().expect("an id"));
    let order = client.get(&path).await.expect(200);

    let total = amount(&order["invoice"]["amount"]);
    assert_eq!(amounts(&page, ".sums .total"), [total]);
    assert_eq!(sum(&page, ".amount"), sum(&page, ".subtotal"));
    assert_eq!(sum(&page, ".share"), sum(&page, ".discount"));
    let parts = sum(&page, ".subtotal") - sum(&page, ".discount") + sum(&page, ".shipping") + sum(&page, ".sums .tax");
    assert_eq!(parts, total);

    let taxes = order["invoice"]["taxes"].as_array().cloned().unwrap_or_default();
    for part in ["net", "tax"] {
        let of_invoice: Vec<i64> = taxes.iter().map(|rate| amount(&rate[part])).collect();
        assert_eq!(amounts(&page, &format!(".taxes .{part}")), of_invoice);
    }
    if !taxes.is_empty() {
        assert_eq!(sum(&page, ".taxes"), total);
    }

    let kept = sum(&page, ".received") - sum(&page, ".returned") - sum(&page, ".due");
    let wanted = if order["status"] == "CANCELLED" { 0 } else { total - sum(&page, ".credit") };
    assert_eq!(kept + sum(&page, ".open") + sum(&page, ".reserved"), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_of_the_page_are_those_of_the_invoice_and_add_up() {
    for prices_include_tax in [true, false] {
        let shop = taxes::shop(prices_include_tax).await;
        let (ada, admin) = (shop.customer("ada"), shop.admin());
        let untaxed = ada.order("untaxed", taxes::both()).await.expect(201);
        adds_up(&ada, &untaxed).await;
        taxes::put(&shop, "0", &taxes::rates(1900, 700)).await.expect(200);
        let discount = json!({ "code": "TENTH", "percent": 10 });
        admin.post("/discounts", discount).await.expect(201);
        admin.post("/gift-cards", json!({ "code": "GIFT-CARD-0001", "balance": eur(1000) })).await.expect(201);

        let mut body = taxes::both();
        body["discountCode"] = json!("TENTH");
        body["giftCards"] = json!(["GIFT-CARD-0001"]);
        let order = ada.order("first", body).await.expect(201);
        adds_up(&ada, &order).await;

        let path = format!("/orders/{}", order["orderId"].as_str().expect("an id"));
        let cup = json!({ "lines": [{ "productId": "cup", "quantity": 1 }] });
        admin.post(&format!("{path}/cancellation"), cup).await.expect(200);
        adds_up(&ada, &order).await;
        let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
        admin.post(&format!("/invoices/{invoice}/payments"), json!({ "reference": "r" })).await.expect(200);
        adds_up(&admin, &order).await;
        ada.post(&format!("{path}/cancellation"), json!({})).await.expect(200);
        adds_up(&ada, &order).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn html_in_a_name_or_an_address_is_text() {
    let hostile = "<script>alert(1)</script> & \"Sons\"";
    let shop = Shop::open_with(|template| {
        for function in &mut template.functions {
            let seller = format!("Till & Co. | {hostile}");
            function.environment.entry("SELLER".to_owned()).and_modify(|known| seller.clone_into(known));
        }
    })
    .await;
    shop.sign_up("ada").await;
    let ada = shop.customer("ada");
    let product = json!({
        "productId": "p", "name": hostile, "description": "", "category": "c", "price": eur(1999), "stock": 1,
    });
    shop.admin().post("/products", product).await.expect(201);
    let address = json!({
        "name": hostile, "line1": hostile, "line2": hostile, "city": hostile, "region": hostile,
        "postalCode": "10115", "country": "DE",
    });
    let body = json!({ "lines": [{ "productId": "p", "quantity": 1 }], "shipTo": address });
    let order = ada.order("first", body).await.expect(201);

    let (page, reply) = page_of(&ada, &order).await;
    assert_eq!(page.select(&Selector::parse("script").expect("a selector")).count(), 0);
    let text: String = page.root_element().text().collect();
    // The product, the seller, and five lines of the address.
    assert_eq!(text.matches(hostile).count(), 7, "{text}");
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
    let policy = &reply.headers["content-security-policy"];
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_for_the_customer_and_for_staff_alone() {
    let shop = Shop::open().await;
    shop.sign_up("ada").await;
    shop.sign_up("bob").await;
    let product = json!({
        "productId": "p", "name": "P", "description": "", "category": "c", "price": eur(1999), "stock": 1,
    });
    shop.admin().post("/products", product).await.expect(201);
    let body = json!({ "lines": [{ "productId": "p", "quantity": 1 }] });
    let order = shop.customer("ada").order("first", body).await.expect(201);
    let path = format!("/orders/{}/invoice/page", order["orderId"].as_str().expect("an id"));
    shop.customer("bob").get(&path).await.problem(Kind::NotFound);
    page_of(&shop.admin(), &order).await;
    page_of(&shop.customer("ada"), &order).await;
}
