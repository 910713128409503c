//! The page of an invoice.

mod page;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

use crate::prelude::*;
use crate::taxes;
use page::Page;

fn amount(money: &Value) -> i64 {
    money["amount"].as_i64().unwrap_or_default()
}

async fn page_of(client: &Client, order: &Value) -> (Page, Reply) {
    let reply = client.get(&format!("/orders/{}/invoice/page", order_id(order))).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    (Page::parse(reply.body.as_str().expect("a page")), reply)
}

/// Asserts that the page has the figures of the order and of its invoice, and that they add up.
async fn adds_up(client: &Client, order: &Value) {
    let (page, _) = page_of(client, order).await;
    let order = client.read(order).await;

    for (minor, written) in page.amounts("").into_iter().zip(page.written("")) {
        assert_eq!(written, format!("{}.{:02} EUR", minor / 100, minor % 100));
    }
    let total = amount(&order["invoice"]["amount"]);
    assert_eq!(page.amounts("sums total"), [total]);
    assert_eq!(page.sum("amount"), page.sum("subtotal"));
    assert_eq!(page.sum("share"), page.sum("discount"));
    let parts = page.sum("subtotal") - page.sum("discount") + page.sum("shipping") + page.sum("sums tax");
    assert_eq!(parts, total);

    let taxes = order["invoice"]["taxes"].as_array().cloned().unwrap_or_default();
    for part in ["net", "tax"] {
        let of_invoice: Vec<i64> = taxes.iter().map(|rate| amount(&rate[part])).collect();
        assert_eq!(page.amounts(&format!("taxes {part}")), of_invoice);
    }
    if !taxes.is_empty() {
        assert_eq!(page.sum("taxes"), total);
    }

    let kept = page.sum("received") - page.sum("returned") - page.sum("due");
    let wanted = if order["status"] == "CANCELLED" { 0 } else { total - page.sum("credit") };
    assert_eq!(kept + page.sum("open") + page.sum("reserved"), wanted);
    assert!(
        !page.texts.iter().any(|text| text.contains("GIFT-CARD-0001")),
        "the code is money, and paper is passed on"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_of_the_page_are_those_of_the_invoice_and_add_up() {
    for prices_include_tax in [true, false] {
        let shop = taxes::shop(prices_include_tax).await;
        let (ada, admin) = (shop.customer("ada"), shop.admin());
        let untaxed = ada.order("untaxed", taxes::both()).await.expect(201);
        adds_up(&ada, &untaxed).await;
        taxes::put(&shop, "0", &taxes::rates(1900, 700)).await.expect(200);
        admin.post("/discounts", json!({ "code": "TENTH", "percent": 10 })).await.expect(201);
        admin.post("/gift-cards", json!({ "code": "GIFT-CARD-0001", "balance": eur(1000) })).await.expect(201);

        let mut body = taxes::both();
        body["discountCode"] = json!("TENTH");
        body["giftCards"] = json!(["GIFT-CARD-0001"]);
        let order = ada.order("first", body).await.expect(201);
        adds_up(&ada, &order).await;

        admin.cancel(&order, basket("cup", 1)).await.expect(200);
        adds_up(&ada, &order).await;
        admin.capture(&order, "r").await.expect(200);
        adds_up(&admin, &order).await;
        ada.cancel(&order, json!({})).await.expect(200);
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
    shop.create("p", json!({ "name": hostile, "price": eur(1999) })).await;
    let address = json!({
        "name": hostile, "line1": hostile, "line2": hostile, "city": hostile, "region": hostile,
        "postalCode": "10115", "country": "DE",
    });
    let body = json!({ "lines": [{ "productId": "p", "quantity": 1 }], "shipTo": address });
    let order = ada.order("first", body).await.expect(201);

    let (page, reply) = page_of(&ada, &order).await;
    assert!(!page.elements.iter().any(|name| name == "script"), "{:?}", page.elements);
    // The product, the seller, and five lines of the address.
    let named = page.texts.iter().filter(|text| text.contains(hostile)).count();
    assert_eq!(named, 7, "{:?}", page.texts);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(reply.headers["cache-control"], "no-store");

    // A browser reads the style sheet, whose hash the policy has, and nothing else.
    let style = page.texts.iter().find(|text| text.contains("size: A4")).expect("a style sheet");
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = &reply.headers["content-security-policy"];
    assert!(policy.starts_with(&format!("default-src 'none'; style-src 'sha256-{hash}'; ")), "{policy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_have_the_decimals_of_their_currency() {
    let shop = Shop::open().await;
    shop.sign_up("ada").await;
    // ISO 4217 gives gold no minor unit.
    let written = [("EUR", "12.05 EUR"), ("JPY", "1205 JPY"), ("KWD", "1.205 KWD"), ("XAU", "1205 XAU (minor units)")];
    for (currency, expected) in written {
        shop.create(currency, json!({ "price": { "amount": 1205, "currency": currency } })).await;
        let order = shop.customer("ada").order(currency, basket(currency, 1)).await.expect(201);
        let (page, _) = page_of(&shop.customer("ada"), &order).await;
        assert_eq!(page.written("sums total"), [expected]);
    }
}
