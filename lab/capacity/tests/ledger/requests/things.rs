//! Customers, products, codes and carts.

use key_schema::value::{ImageId, Timestamp};
use reqwest::Method;
use sample_items::Kind;
use sample_items::Revision::Changed;
use serde_json::json;
use shop::eur;
use shop::images::PICTURE;

use crate::metered_shop::MeteredShop;

pub async fn customers(shop: &mut MeteredShop) {
    let sign_up = json!({
        "username": shop.id("u", 0), "email": format!("{}@example.com", shop.id("e", 0)), "name": shop.name('n'),
    });
    shop.customer().post("/customers", sign_up.clone()).await.expect(201);
    shop.check("create-customer", "signed up").await;
    shop.customer().post("/customers", sign_up.clone()).await.expect(201);
    shop.check("create-customer", "signed up before").await;
    let mut other = sign_up;
    other["email"] = json!(format!("{}@example.com", shop.id("e", 1)));
    shop.shop.customer(&shop.id("c", 1)).post("/customers", other).await.expect(409);
    shop.check("create-customer", "another has the username").await;
}

pub async fn catalogue(shop: &mut MeteredShop) {
    let admin = shop.shop.admin();
    let sizes = shop.sizes();
    for number in 0..sizes.lines.max(sizes.cart_lines).max(sizes.listed.into()) {
        admin.post("/products", shop.product(number)).await.expect(201);
        shop.check("create-product", if number == 0 { "made, the first of its category" } else { "made" }).await;
    }
    admin.post("/products", shop.product(0)).await.expect(201);
    shop.check("create-product", "made before").await;
    let mut product = shop.product(0);
    product["productId"] = json!(shop.id("q", 0));
    for case in ["made, under an idempotency key", "made before, under an idempotency key"] {
        let product = Some(product.to_string());
        admin.send(Method::POST, "/products", &[("idempotency-key", "new")], product).await.expect(201);
        shop.check("create-product", case).await;
    }
    shop.check_sizes(&[("idempotencyRecord", Kind::KeptProduct)]).await;
    let discount = json!({ "code": shop.id("d", 0), "percent": 10, "maxUses": 9_999 });
    admin.post("/discounts", discount.clone()).await.expect(201);
    shop.check("create-discount", "made").await;
    admin.post("/discounts", discount).await.expect(201);
    shop.check("create-discount", "made before").await;
    let card = |number: u32| json!({ "code": shop.id("g", number), "balance": eur(499) });
    // Each order has gift cards of its own.
    let cards: Vec<_> = (0..4 * 20).map(card).collect();
    for card in &cards {
        admin.post("/gift-cards", card.clone()).await.expect(201);
        shop.check("create-gift-card", "made").await;
    }
    admin.post("/gift-cards", cards[0].clone()).await.expect(201);
    shop.check("create-gift-card", "made before").await;
}

pub async fn variants(shop: &mut MeteredShop) {
    for number in 0..shop.sizes().listed.into() {
        let mut variant = shop.product(number);
        variant["productId"] = json!(shop.id("v", number));
        variant["variantOf"] = json!(shop.id("p", 0));
        variant["attributes"] = json!({ "size": "M" });
        shop.shop.admin().post("/products", variant).await.expect(201);
        shop.check("create-product", "a variant made").await;
    }
}

pub async fn images(shop: &mut MeteredShop) {
    let product = shop.id("p", 0);
    let signed = shop.shop.signed_upload(&product).await;
    shop.check("add-image", "signed").await;
    assert_eq!(shop.shop.upload(&signed, PICTURE).await, 200);
    let image = signed["imageId"].as_str().expect("an id");
    for case in ["confirmed", "confirmed before"] {
        shop.shop.confirm_image(&product, image).await.expect(200);
        shop.check("confirm-image", case).await;
    }
    let old = ImageId::random(Timestamp::now().minus_seconds(48 * 60 * 60));
    shop.shop.put_image(&product, &old).await;
    assert_eq!(shop.shop.tidy_images().await["deleted"], 1);
    shop.check("tidy-images", "an object of a product").await;
    for case in ["removed", "removed before"] {
        shop.shop.remove_image(&product, image).await.expect(204);
        shop.check("remove-image", case).await;
    }
}

pub async fn indexed(shop: &mut MeteredShop) {
    shop.shop.reindex().await;
    shop.pass().await;
    let body = json!({ "detail": { "productId": shop.id("p", 0) } });
    let index = shop.shop.consumer("index-products", &shop.shop.endpoints());
    let message = json!({ "messageId": "m", "body": body.to_string() });
    let answer = index(json!({ "Records": [message] })).await.expect("an answer");
    assert_eq!(answer["batchItemFailures"], json!([]));
    shop.check("index-products", "a product that has changed").await;
}

pub async fn marked(shop: &mut MeteredShop) {
    let mut product = shop.product(9_999);
    product["stock"] = json!(1);
    let path = format!("/products/{}/stock", shop.id("p", 9_999));
    let body = json!({ "detail": { "productId": product["productId"] } });
    shop.shop.admin().post("/products", product).await.expect(201);
    shop.shop.admin().post_if(&path, "*", json!({ "delta": -1 })).await.expect(200);
    shop.pass().await;
    let mark = shop.shop.consumer("mark-availability", &shop.shop.endpoints());
    for case in ["a product that is sold out", "a product that says so"] {
        let message = json!({ "messageId": "m", "body": body.to_string() });
        let answer = mark(json!({ "Records": [message] })).await.expect("an answer");
        assert_eq!(answer["batchItemFailures"], json!([]));
        shop.check("mark-availability", case).await;
    }
}

pub async fn carts(shop: &mut MeteredShop) {
    let customer = shop.customer();
    let path = format!("/customers/{}/cart", shop.id("c", 0));
    customer.delete(&path).await.expect(204);
    shop.check("delete-cart", "there was none").await;
    let unknown = json!({ "lines": [{ "productId": "nothing", "quantity": 1 }] });
    customer.put(&path, unknown).await.expect(404);
    shop.check("put-cart", "of a product that is not there").await;
    for (quantity, case) in [(2, "the first"), (1, "in place of another")] {
        let lines: Vec<_> = (0..shop.sizes().cart_lines)
            .map(|number| json!({ "productId": shop.id("p", number), "quantity": quantity }))
            .collect();
        let cart = Some(json!({ "lines": lines }).to_string());
        customer.send(Method::PUT, &path, &[], cart).await.expect(200);
        shop.check("put-cart", case).await;
    }
    customer.get(&path).await.expect(200);
    shop.check("get-cart", "found").await;
    customer.send(Method::DELETE, &path, &[("if-match", "\"1\"")], None).await.expect(412);
    shop.check("delete-cart", "not the one that was meant").await;
}

pub async fn changes(shop: &mut MeteredShop) {
    let (admin, customer) = (shop.shop.admin(), shop.customer());
    let (profile, product) = (format!("/customers/{}", shop.id("c", 0)), format!("/products/{}", shop.id("p", 0)));
    customer.delete(&format!("{profile}/cart")).await.expect(204);
    shop.check("delete-cart", "thrown away").await;
    for (path, change, function, case) in [
        (&profile, json!({ "name": shop.name('m') }), "update-customer", "another name"),
        (
            &profile,
            json!({ "email": format!("{}@example.com", shop.id("e", 2)) }),
            "update-customer",
            "another e-mail address",
        ),
        (&profile, json!({ "username": shop.id("u", 2) }), "update-customer", "another username"),
        (&profile, json!({ "name": shop.name('m') }), "update-customer", "nothing new"),
        (&product, json!({ "name": shop.name('m') }), "update-product", "another name"),
        (&product, json!({ "price": eur(2999) }), "update-product", "another price"),
        (&product, json!({ "category": shop.id("l", 0) }), "update-product", "another category"),
        (&product, json!({ "name": shop.name('m') }), "update-product", "nothing new"),
    ] {
        admin.patch(path, "*", change).await.expect(200);
        shop.check(function, case).await;
    }
    admin.post_if(&format!("{product}/stock"), "*", json!({ "delta": 5 })).await.expect(200);
    shop.check("adjust-stock", "adjusted").await;
    for case in ["adjusted, under an idempotency key", "adjusted before, under an idempotency key"] {
        let (stock, delta) = (format!("{product}/stock"), Some(json!({ "delta": 5 }).to_string()));
        admin.send(Method::POST, &stock, &[("idempotency-key", "more")], delta).await.expect(200);
        shop.check("adjust-stock", case).await;
    }
    shop.check_sizes(&[("discount", Kind::Discount(Changed)), ("stock", Kind::Stock(Changed))]).await;
    let mut created = shop.product(0);
    created["productId"] = json!(shop.id("r", 0));
    let version = admin.get(&product).await.expect(200)["version"].clone();
    shop.pass().await;
    let update = json!({ "productId": shop.id("p", 0), "version": version, "changes": { "name": shop.name('o') } });
    for (entry, case) in [
        (json!({ "create": created }), "each product made"),
        (json!({ "create": created }), "each product made before"),
        (json!({ "update": update }), "each product with another name"),
        (json!({ "update": update }), "each product changed before"),
    ] {
        admin.post("/products/batch", json!({ "products": [entry] })).await.expect(200);
        shop.check("write-products", case).await;
    }
}
