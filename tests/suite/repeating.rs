//! Repeated creation: the same request again, and another request under the same name, for every route that creates
//! something.

use crate::prelude::*;
use crate::routes::own_headers;

/// A request that creates something.
struct Creation {
    client: Client,
    path: &'static str,
    key: Option<&'static str>,
    body: Value,
}

impl Creation {
    async fn send(&self, body: &Value) -> Reply {
        match self.key {
            Some(key) => self.client.order(key, body.clone()).await,
            None => self.client.post(self.path, body.clone()).await,
        }
    }
}

/// One request of each creating route, in a possible order.
fn creations(shop: &Shop) -> Vec<Creation> {
    let of = |client, path, body| Creation { client, path, key: None, body };
    vec![
        of(
            shop.customer("ada"),
            "/customers",
            json!({
                "username": "Ada", "email": "Ada@example.com", "name": " Ada Lovelace ",
            }),
        ),
        of(
            shop.admin(),
            "/products",
            json!({
                "productId": "teapot", "name": "The teapot", "description": "Round.\nBrown.", "category": "things",
                "price": eur(1999), "stock": 10,
            }),
        ),
        of(shop.admin(), "/products", goods("cup", json!({ "price": eur(350), "stock": 3 }))),
        of(
            shop.admin(),
            "/discounts",
            json!({
                "code": "TEN", "percent": 10, "from": "2026-01-01", "to": "2999-01-01T01:00:00+01:00", "maxUses": 5,
            }),
        ),
        of(shop.admin(), "/gift-cards", json!({ "code": "GIFT-FOR-ADA", "balance": eur(1000) })),
        Creation {
            client: shop.customer("ada"),
            path: "/orders",
            key: Some("first"),
            body: json!({
                "lines": [{ "productId": "teapot", "quantity": 2 }, { "productId": "cup", "quantity": 1 }],
                "discountCode": "TEN", "giftCards": ["GIFT-FOR-ADA"], "expectedTotal": eur(3913),
            }),
        },
    ]
}

/// A shop after each of these requests, with the replies.
pub async fn every_post() -> (Shop, Vec<Reply>) {
    let shop = Shop::open().await;
    let mut replies = Vec::new();
    for creation in creations(&shop) {
        replies.push(creation.send(&creation.body).await);
    }
    (shop, replies)
}

#[tokio::test(flavor = "multi_thread")]
async fn repeating_a_creation_gets_the_same_answer_and_writes_nothing() {
    let (shop, replies) = every_post().await;
    // Meanwhile the created resources were used.
    let more = json!({ "lines": [{ "productId": "teapot", "quantity": 8 }, { "productId": "cup", "quantity": 2 }] });
    shop.customer("ada").order("second", more).await.expect(201);
    let before = shop.dump().await;

    for (creation, first) in creations(&shop).into_iter().zip(&replies) {
        let again = creation.send(&creation.body).await;
        assert_eq!((again.status, &again.body), (201, &first.body), "{}", creation.path);
        let mut expected = own_headers(first);
        expected.push(("idempotent-replayed", "true"));
        expected.sort_unstable();
        assert_eq!(own_headers(&again), expected, "{}", creation.path);
        assert_eq!(shop.dump().await, before, "{}", creation.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn creating_something_else_under_the_same_name_is_refused_and_writes_nothing() {
    let (shop, _) = every_post().await;
    let before = shop.dump().await;
    let changes = [
        json!({ "username": "ada2", "email": "other@example.com", "name": "Ada" }),
        json!({ "name": "Pot", "description": "", "category": "other", "price": eur(1998), "stock": 11 }),
        json!({ "name": "Pot", "description": "-", "category": "other", "price": { "amount": 350, "currency": "USD" }, "stock": 2 }),
        json!({ "percent": 11, "from": "2026-01-02", "to": null, "maxUses": null }),
        json!({ "balance": eur(999) }),
        json!({ "lines": [], "discountCode": null, "giftCards": [], "expectedTotal": null }),
    ];
    for (creation, fields) in creations(&shop).into_iter().zip(changes) {
        for (field, other) in fields.as_object().expect("fields") {
            let mut body = creation.body.clone();
            body[field] = if field == "lines" { json!([body["lines"][0]]) } else { other.clone() };
            let kind = if creation.key.is_some() { Kind::IdempotencyKeyReused } else { Kind::AlreadyExists };
            let (at, reply) = (format!("{} with another {field}", creation.path), creation.send(&body).await);
            assert_eq!(reply.body["type"], format!("/problems/{}", kind.slug()), "{at}");
            reply.problem(kind);
            assert_eq!(shop.dump().await, before, "{at}");
        }
    }
}
