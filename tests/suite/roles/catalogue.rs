//! The catalogue on the eventful day: images, search, long descriptions and codes.

use key_schema::entity::ProductDescription;
use key_schema::value::ImageId;

use crate::prelude::*;

/// Images are added, removed and tidied up.
pub async fn images(shop: &Shop) {
    let absent = ImageId::random(Timestamp::now());
    shop.confirm_image("thing", absent.as_str()).await.expect(404);
    let image = shop.uploaded("thing").await;
    shop.confirm_image("thing", &image).await.expect(200);
    shop.remove_image("thing", &image).await.expect(204);
    let old = ImageId::random(Timestamp::now().minus_seconds(48 * 60 * 60));
    shop.remove_image("thing", old.as_str()).await.expect(204);
    shop.put_image("thing", &old).await;
    assert_eq!(shop.tidy_images().await["deleted"], 1);
}

/// Long descriptions: made, changed, shortened, and seen by halves.
pub async fn described(shop: &Shop) {
    let (admin, any) = (shop.admin(), [("if-match", "*")]);
    let long = |end: &str| format!("{}{end}", "Stoneware. ".repeat(100));
    let product = |id: &str| json!({ "productId": id, "name": "N", "description": long(id), "category": "things", "price": eur(1), "stock": 1 });
    let batch = async |entry: Value, status: u64| {
        let answer = admin.post("/products/batch", json!({ "products": [entry] })).await.expect(200);
        assert_eq!(answer["results"][0]["status"], status, "{answer}");
    };
    admin.post("/products", product("described")).await.expect(201);
    batch(json!({ "create": product("batch-described") }), 201).await;
    for (version, end) in (1..).zip(["another end", ""]) {
        let changes = json!({ "description": if end.is_empty() { "short".to_owned() } else { long(end) } });
        admin.send(Method::PATCH, "/products/described", &any, Some(changes.to_string())).await.expect(200);
        let update = json!({ "productId": "batch-described", "version": version, "changes": changes });
        batch(json!({ "update": update }), 200).await;
    }
    let described = json!({ "description": long("last") }).to_string();
    admin.send(Method::PATCH, "/products/described", &any, Some(described)).await.expect(200);
    let more = json!({ "delta": 1 }).to_string();
    admin.send(Method::POST, "/products/described/stock", &any, Some(more)).await.expect(200);
    // The description of another version: a reader sees a transaction by halves.
    let id = || "described".parse().expect("an id");
    shop.put(&ProductDescription { product_id: id(), text: long("half") }).await;
    shop.nobody().get("/products/described").await.expect(200);
    admin
        .send(Method::PATCH, "/products/described", &any, Some(json!({ "name": "halves" }).to_string()))
        .await
        .expect(200);
    shop.search_until("q=halves", |found| found["total"] == 1).await;
    shop.put(&ProductDescription { product_id: id(), text: long("last") }).await;
}

/// A product is taken out of the lists and recalled, and comes back.
pub async fn withdrawn(shop: &Shop) {
    for away in [true, false] {
        shop.admin().patch("/products/thing", "*", json!({ "listed": !away, "recalled": away })).await.expect(200);
    }
}

/// The catalogue is listed and searched, and the index follows a change.
pub async fn searched(shop: &Shop) {
    shop.reindex().await;
    let (admin, any) = (shop.admin(), [("if-match", "*")]);
    let change = json!({ "name": "Something findable" }).to_string();
    admin.send(Method::PATCH, "/products/thing", &any, Some(change)).await.expect(200);
    shop.search_until("q=findable", |found| found["total"] == 1).await;
    shop.nobody().get("/categories").await.expect(200);
    shop.nobody().get("/products?limit=2").await.expect(200);
    shop.nobody().get("/products?ids=thing,described").await.expect(200);
}

/// A discount code is revoked and allowed again, and a gift card is blocked.
pub async fn codes_changed(shop: &Shop) {
    let admin = shop.admin();
    for revoked in [true, false] {
        admin.patch("/discounts/TEN", "*", json!({ "revoked": revoked, "to": "2100-01-01" })).await.expect(200);
    }
    let block = json!({ "blocked": true, "validUntil": "2100-01-01" });
    admin.patch("/gift-cards/SMALL-CARD", "*", block).await.expect(200);
}
