//! This release beside a newer one: attributes that a newer release has added to an item survive every change.

use crate::prelude::*;

/// An attribute that this release does not know.
const ADDED: &str = "addedByANewerRelease";

/// Whether an item is changed in place, so that added attributes must survive. A cart is replaced as a whole.
fn is_changed_in_place(item: &Value) -> bool {
    item["EntityType"]["S"] != "cart"
}

/// Adds an unknown attribute to every item, and an unknown field to every payment.
async fn add_to_everything(shop: &Shop) {
    for item in shop.dump().await.into_iter().filter(is_changed_in_place) {
        let payments = item["payments"]["L"].as_array().map_or(0, Vec::len);
        let paths = (0..payments).map(|at| format!("payments[{at}].{ADDED} = :x"));
        let paths: Vec<_> = std::iter::once(format!("{ADDED} = :x")).chain(paths).collect();
        let update = json!({
            "TableName": shop.table(), "Key": { "PK": item["PK"], "SK": item["SK"] },
            "UpdateExpression": format!("SET {}", paths.join(", ")),
            "ExpressionAttributeValues": { ":x": { "M": { "at": { "N": "7" } } } },
        });
        shop.dynamodb("UpdateItem", &update).await;
    }
}

/// The keys of items that lost an added attribute.
async fn losses(shop: &Shop, before: &[Value]) -> Vec<String> {
    let after = shop.dump().await;
    let mut lost = Vec::new();
    for item in &after {
        let is_same = |other: &&Value| (&other["PK"], &other["SK"]) == (&item["PK"], &item["SK"]);
        let Some(earlier) = before.iter().find(is_same).filter(|item| is_changed_in_place(item)) else { continue };
        let payments = |item: &Value| item["payments"]["L"].as_array().cloned().unwrap_or_default();
        let kept = |earlier: &Value, item: &Value| earlier["M"][ADDED] == item["M"][ADDED];
        let payments_kept = payments(earlier).iter().zip(&payments(item)).all(|(earlier, item)| kept(earlier, item));
        if earlier[ADDED] != item[ADDED] || !payments_kept {
            lost.push(format!("{} {}", item["PK"], item["SK"]));
        }
    }
    lost
}

async fn order(shop: &Shop, key: &str) -> (String, String) {
    let body = json!({
        "lines": [{ "productId": "thing", "quantity": 2 }], "discountCode": "TEN", "giftCards": [format!("CARD-{key}")],
    });
    shop.gift_card(&format!("CARD-{key}"), 500).await;
    let order = shop.customer("ada").order(key, body).await.expect(201);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&order["orderId"]), text(&order["invoice"]["invoiceId"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_of_a_newer_release_survive_every_change_of_every_route() {
    let shop = Shop::selling("thing", 1000, 100).await;
    shop.discount("TEN", 10, Some(50)).await;
    let (paid, paid_invoice) = order(&shop, "paid").await;
    let (unpaid, _) = order(&shop, "unpaid").await;
    let (returned, returned_invoice) = order(&shop, "returned").await;
    let admin = shop.admin();
    let flag = |reason: &str| Some(json!({ "reason": reason }).to_string());
    admin.send(Method::PUT, &format!("/orders/{paid}/flag"), &[], flag("a look")).await.expect(200);
    add_to_everything(&shop).await;
    let before = shop.dump().await;

    let changes: [(Method, String, Value); 13] = [
        (Method::POST, format!("/invoices/{paid_invoice}/payments"), json!({ "reference": "bank-1" })),
        (Method::POST, format!("/orders/{paid}/status"), json!({ "status": "SHIPPED" })),
        (Method::POST, format!("/orders/{paid}/status"), json!({ "status": "DELIVERED" })),
        (Method::POST, format!("/orders/{unpaid}/cancellation"), json!({ "reason": "changed my mind" })),
        (Method::POST, format!("/invoices/{returned_invoice}/payments"), json!({ "reference": "bank-2" })),
        (Method::POST, format!("/orders/{returned}/cancellation"), json!({})),
        (Method::PUT, format!("/orders/{paid}/flag"), json!({ "reason": "another look" })),
        (Method::PATCH, "/products/thing".into(), json!({ "name": "Another thing" })),
        (Method::PATCH, "/products/thing".into(), json!({ "price": eur(1100) })),
        (Method::POST, "/products/thing/stock".into(), json!({ "delta": 5 })),
        (Method::PATCH, "/customers/ada".into(), json!({ "name": "Countess" })),
        (Method::PATCH, "/customers/ada".into(), json!({ "username": "Ada" })),
        (Method::POST, "/products/thing/stock".into(), json!({ "delta": -5 })),
    ];
    for (method, path, body) in changes {
        let reply = send(&admin, method.clone(), &path, &body).await;
        reply.expect(200);
        assert_eq!(losses(&shop, &before).await, Vec::<String>::new(), "{method} {path} {body}");
    }
    invariants::hold(&shop).await;
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) -> shop::Reply {
    client.send(method, path, &[("if-match", "*")], Some(body.to_string())).await
}
