//! Erasures of the day that finds what functions are permitted.

use crate::prelude::*;

/// A customer is erased. Some orders have one text: in the order, in the flag or in the return. One has several.
pub async fn erased(shop: &Shop) {
    let zoe = shop.customer("zoe");
    shop.sign_up("zoe").await;
    shop.gift_card("GIFT-FOR-ZOE", 100_000).await;
    let one = json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "giftCards": ["GIFT-FOR-ZOE"] });
    for (key, reason) in [("cancelled", json!({ "reason": "too many" })), ("flagged", json!({}))] {
        let order = zoe.order(key, one.clone()).await.expect(201);
        zoe.cancel(&order, reason).await.expect(200);
        if key == "flagged" {
            flag(shop, &order).await;
        }
    }
    for key in ["returned", "returned and flagged"] {
        let order = zoe.order(key, one.clone()).await.expect(201);
        refuse_return(shop, &order).await;
        if key == "returned and flagged" {
            flag(shop, &order).await;
        }
    }
    // A parcel has its tracking. Orders to an address have that.
    let order = zoe.order("parcel", one.clone()).await.expect(201);
    let path = format!("/orders/{}", order_id(&order));
    let parcel = json!({ "carrier": "Post", "trackingNumber": "1", "trackingUrl": "https://post.example/1" });
    let parcel = parcel.to_string();
    let key = [("idempotency-key", "parcel")];
    let shipments = format!("{path}/shipments");
    let sent = shop.admin().send(Method::POST, &shipments, &key, Some(parcel.clone())).await.expect(201);
    // Nothing is left to ship, and a parcel is delivered once.
    let again = [("idempotency-key", "another parcel")];
    assert_eq!(shop.admin().send(Method::POST, &shipments, &again, Some(parcel)).await.status, 409);
    let delivery = format!("/shipments/{}/delivery", sent["shipmentId"].as_str().expect("an id"));
    for _ in 0..2 {
        shop.admin().post(&delivery, json!({})).await.expect(200);
    }
    let unknown = format!("/shipments/shp-{}-0000000000000000/delivery", order_id(&order));
    assert_eq!(shop.admin().post(&unknown, json!({})).await.status, 404);
    let mut addressed = one.clone();
    addressed["shipTo"] = address();
    let now = zoe.order("to an address", addressed.clone()).await.expect(201);
    let now = format!("/orders/{}", order_id(&now));
    let later = order_later(&zoe, "to an address, later", addressed).await;
    let later = later.header("location").expect("a location").to_owned();
    shop::until("it is placed", async || zoe.get(&later).await.body["status"] == "PAID").await;
    for order in [now, later] {
        zoe.post(&format!("{order}/cancellation"), json!({})).await.expect(200);
    }
    zoe.get("/customers/zoe/export").await.expect(200);
    assert_eq!(zoe.delete("/customers/zoe").await.status, 204);
    a_guest(shop).await;
}

/// A guest without orders is erased.
async fn a_guest(shop: &Shop) {
    let headers = [("guest-secret", "dGhlIHRoaXJkIGd1ZXN0IG9mIGV2ZXJ5IHdvcmxkLi4")];
    let introduction = json!({ "email": "grace@example.com", "name": "Grace Hopper" }).to_string();
    let guest = shop.nobody().send(Method::POST, "/guests", &headers, Some(introduction)).await.expect(201);
    let guest = guest["guestId"].as_str().expect("an id");
    shop.admin().get(&format!("/guests/{guest}")).await.expect(200);
    let erased = shop.admin().delete(&format!("/customers/{guest}")).await;
    assert_eq!(erased.status, 204, "{}", erased.body);
}

pub fn address() -> Value {
    json!({ "name": "Zoe", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" })
}

async fn flag(shop: &Shop, order: &Value) {
    shop.admin().flag(order, "why").await.expect(200);
}

async fn refuse_return(shop: &Shop, order: &Value) {
    let (zoe, admin) = (shop.customer("zoe"), shop.admin());
    for status in ["SHIPPED", "DELIVERED"] {
        admin.advance(order, status).await.expect(200);
    }
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "reason": "broken" });
    let asked = zoe.request_return(order, "broken", body).await.expect(201);
    admin.receive(&asked, json!({ "accepted": false, "reason": "used" })).await.expect(200);
}
