//! Erasures of the day that finds what functions are permitted.

use reqwest::Method;
use serde_json::json;
use shop::Shop;

/// A customer is erased who has an order with one text, which is one write, and an order with several.
pub async fn erased(shop: &Shop) {
    let (zoe, admin) = (shop.customer("zoe"), shop.admin());
    shop.sign_up("zoe").await;
    shop.gift_card("GIFT-FOR-ZOE", 100_000).await;
    let one = json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "giftCards": ["GIFT-FOR-ZOE"] });
    let cancelled = zoe.order("cancelled", one.clone()).await.expect(201);
    let path = format!("/orders/{}/cancellation", cancelled["orderId"].as_str().expect("an id"));
    zoe.post(&path, json!({ "reason": "too many" })).await.expect(200);
    let kept = zoe.order("kept", one.clone()).await.expect(201);
    let path = format!("/orders/{}", kept["orderId"].as_str().expect("an id"));
    for status in ["SHIPPED", "DELIVERED"] {
        admin.post(&format!("{path}/status"), json!({ "status": status })).await.expect(200);
    }
    let body = json!({ "lines": one["lines"], "reason": "broken" }).to_string();
    let key = [("idempotency-key", "broken")];
    let asked = zoe.send(Method::POST, &format!("{path}/returns"), &key, Some(body)).await.expect(201);
    let receipt = format!("/returns/{}/receipt", asked["returnId"].as_str().expect("an id"));
    admin.post(&receipt, json!({ "accepted": false, "reason": "used" })).await.expect(200);
    admin.send_to_any_version(Method::PUT, &format!("{path}/flag"), &json!({ "reason": "why" })).await.expect(200);
    zoe.get("/customers/zoe/export").await.expect(200);
    assert_eq!(zoe.send(Method::DELETE, "/customers/zoe", &[], None).await.status, 204);
}
