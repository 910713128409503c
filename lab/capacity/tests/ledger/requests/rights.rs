//! What a customer or guest may ask about the data of a person: to see it, and to have it erased.

use reqwest::Method;
use serde_json::json;
use shop::guest_id;

use crate::metered_shop::MeteredShop;

/// The secret of a guest, whose id is its hash.
const SECRET: &str = "dGhlIHRoaXJkIGd1ZXN0IG9mIGV2ZXJ5IHdvcmxkLi4";

pub async fn of_a_guest(shop: &mut MeteredShop) {
    let guest = json!({ "email": format!("{}@example.com", shop.id("e", 4)), "name": shop.name('n') });
    shop.shop.introduce(SECRET, guest).await.expect(201);
    let path = format!("/customers/{}", guest_id(SECRET));
    shop.pass().await;
    let id = shop.id("c", 3);
    let sign_up = json!({
        "username": shop.id("u", 5), "email": format!("{}@example.com", shop.id("e", 5)), "name": shop.name('n'),
    });
    shop.shop.customer(&id).post("/customers", sign_up).await.expect(201);
    shop.pass().await;
    let claim = path.replace("/customers/", &format!("/customers/{id}/guests/"));
    for case in ["of a guest without orders", "again"] {
        shop.shop.admin().send(Method::PUT, &claim, &[], None).await.expect(204);
        shop.check("claim-guest", case).await;
    }
    shop.shop.customer(&id).get(&format!("{path}/orders")).await.expect(200);
    shop.check("list-customer-orders", "of a guest, by the claimant").await;
    shop.shop.admin().send(Method::DELETE, &path, &[], None).await.expect(204);
    shop.check("erase-customer", "of a guest without orders").await;
}

pub async fn of_a_customer(shop: &mut MeteredShop) {
    let id = shop.id("c", 2);
    let (customer, path) = (shop.shop.customer(&id), format!("/customers/{id}"));
    let sign_up = json!({
        "username": shop.id("u", 3), "email": format!("{}@example.com", shop.id("e", 3)), "name": shop.name('n'),
    });
    customer.post("/customers", sign_up).await.expect(201);
    shop.pass().await;
    customer.get(&format!("{path}/export")).await.expect(200);
    shop.check("export-customer", "of a customer without orders").await;
    for case in ["of a customer without orders", "again"] {
        customer.send(Method::DELETE, &path, &[], None).await.expect(204);
        shop.check("erase-customer", case).await;
    }
}
