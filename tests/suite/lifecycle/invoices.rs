//! Finding an order by its invoice.

use shop::imported::other_invoice_id;

use super::Change::{Cancel, Capture, Refund};
use super::{ask, shop_with_order};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_is_found_before_it_is_in_the_index() {
    let (shop, order) = shop_with_order().await;
    let (order_id, invoice_id) = (order_id(&order), invoice_id(&order));
    shop.update(&format!("o#{order_id}"), &format!("i#{invoice_id}"), "REMOVE GSI1PK, GSI1SK", &Value::Null).await;
    let (ada, path) = (shop.customer("ada"), format!("/invoices/{invoice_id}"));
    assert_eq!(ada.get(&path).await.expect(200), order["invoice"]);
    ada.get(&format!("{path}/payments")).await.expect(200);
    ask(&shop.admin(), &order, Capture).await.expect(200);
    assert_eq!(shop.admin().status(&order).await, "PAID");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_invoice_is_found_by_its_id_and_paid() {
    let (shop, mut order) = shop_with_order().await;
    let old = other_invoice_id(&shop, &order).await;
    let new = order["invoice"]["invoiceId"].take();
    order["invoice"]["invoiceId"] = json!(old);
    shop.customer("ada").get(&format!("/invoices/{old}")).await.expect(200);
    shop.customer("eve").get(&format!("/invoices/{old}")).await.problem(Kind::NotFound);
    let payments = shop.customer("ada").get(&format!("/invoices/{old}/payments")).await.expect(200);
    assert_eq!(payments["items"].as_array().map(Vec::len), Some(2));
    // The order has no other invoice.
    let path = format!("/invoices/{}/payments", new.as_str().expect("an id"));
    shop.admin().post(&path, json!({ "reference": "bank-1" })).await.problem(Kind::NotFound);
    for change in [Capture, Cancel, Refund] {
        ask(&shop.admin(), &order, change).await.expect(200);
    }
    invariants::hold(&shop).await;
}
