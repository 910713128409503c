//! The export of everything about a customer.

use super::{cancel, request_return, shop};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_the_profile_the_addresses_the_cart_and_every_order_with_its_parts() {
    let shop = shop().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let cart = ada.put("/customers/ada/cart", things(3)).await.expect(200);
    let home = json!({
        "name": "Ada Lovelace", "line1": "Chausseestrasse 1", "city": "Berlin", "postalCode": "10115", "country": "DE",
    });
    let book = json!({ "addresses": [home] }).to_string();
    let book = ada.send(Method::PUT, "/customers/ada/addresses", &[], Some(book)).await.expect(200);
    let cancelled = ada.order("a", things(1)).await.expect(201);
    cancel(&ada, &cancelled, "changed my mind").await;
    let order = ada.order("b", things(2)).await.expect(201);
    shop.admin().capture(&order, "bank-1").await.expect(200);
    for status in ["SHIPPED", "DELIVERED"] {
        shop.admin().advance(&order, status).await.expect(200);
    }
    request_return(&ada, &order, "r", "too small").await;
    let flag = json!({ "reason": "a frequent sender" }).to_string();
    admin.send(Method::PUT, &format!("/orders/{}/flag", order_id(&order)), &[], Some(flag)).await.expect(200);

    let all = ada.walk("/customers/ada/export", 100).await;
    let [profile, newest, oldest] = &all[..] else { panic!("{all:?}") };
    assert_eq!(profile["customer"], ada.get("/customers/ada").await.expect(200));
    let lines =
        json!([{ "productId": "thing", "quantity": 3, "whenAdded": { "price": cart["lines"][0]["unitPrice"] } }]);
    let stored = json!({
        "lines": lines, "version": cart["version"], "updatedAt": cart["updatedAt"], "expiresAt": cart["expiresAt"],
    });
    assert_eq!(profile["cart"], stored);
    assert_eq!(profile["addresses"], book);
    assert_eq!(newest["order"], ada.read(&order).await);
    assert_eq!(newest["order"]["returns"][0]["reason"], "too small");
    assert_eq!(newest["flag"]["reason"], "a frequent sender");
    assert_eq!(oldest["order"]["cancellation"]["reason"], "changed my mind");
    assert_eq!(oldest.get("flag"), None);
    // Pages of every size have the same items.
    for limit in [1, 2, 3] {
        assert_eq!(ada.walk("/customers/ada/export", limit).await, all);
    }
    assert_eq!(admin.walk("/customers/ada/export", 2).await, all);
    shop.customer("eve").get("/customers/ada/export").await.problem(Kind::NotFound);
    admin.get("/customers/nobody/export").await.problem(Kind::NotFound);
}

/// An answer of Lambda may have 6 MB, whatever the client asks for.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_export_has_at_most_5_items() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    for at in 0..6 {
        ada.order(&format!("k{at}"), things(1)).await.expect(201);
    }
    let first = ada.get("/customers/ada/export?limit=100").await.expect(200);
    assert_eq!(first["items"].as_array().map(Vec::len), Some(5));
    let next = first["next"].as_str().expect("a cursor");
    let second = ada.get(&format!("/customers/ada/export?limit=100&cursor={next}")).await.expect(200);
    assert_eq!((second["items"].as_array().map(Vec::len), &second["next"]), (Some(2), &Value::Null));
}
