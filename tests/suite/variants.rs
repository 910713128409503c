//! Variants of products: each is a product with a price and a stock of its own, and a list has those of one product.

use futures_util::future::join_all;

use crate::prelude::*;

fn shirt(id: &str) -> Value {
    json!({ "productId": id, "name": "Shirt", "description": "", "category": "shirts", "price": eur(1500), "stock": 10 })
}

fn variant(id: &str, size: &str) -> Value {
    let mut product = shirt(id);
    product["attributes"] = json!({ "size": size });
    product["variantOf"] = json!("shirt");
    product["listed"] = json!(false);
    product
}

async fn patch(client: &Client, id: &str, change: Value) -> Reply {
    client.patch(&format!("/products/{id}"), "*", change).await
}

/// The ids and the attributes of a product's variants, read in pages of one.
async fn variants(shop: &Shop, of: &str) -> Vec<(Value, Value)> {
    let found = shop.nobody().walk(&format!("/products/{of}/variants"), 1).await;
    found.into_iter().map(|product| (product["productId"].clone(), product["attributes"].clone())).collect()
}

async fn shop() -> Shop {
    let shop = Shop::with_ada().await;
    shop.admin().post("/products", shirt("shirt")).await.expect(201);
    shop
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_has_the_variants_of_a_product_each_with_its_own_stock() {
    let shop = shop().await;
    let admin = shop.admin();
    for _ in 0..2 {
        for (id, size) in [("shirt-m", "M"), ("shirt-l", "L")] {
            let made = admin.post("/products", variant(id, size)).await.expect(201);
            assert_eq!((&made["variantOf"], &made["attributes"]), (&json!("shirt"), &json!({ "size": size })));
        }
    }
    let mut other = variant("shirt-m", "S");
    admin.post("/products", other.clone()).await.problem(Kind::AlreadyExists);
    other["productId"] = json!("shirt-s");
    other["listed"] = json!(true);
    admin.post("/products", other).await.expect(201);
    let size = |size: &str| json!({ "size": size });
    let all = ["l", "m", "s"].map(|id| (json!(format!("shirt-{id}")), size(&id.to_uppercase())));
    assert_eq!(variants(&shop, "shirt").await, all);
    assert_eq!(variants(&shop, "shirt-m").await, []);
    // The list of the category has the product and the one variant that is listed.
    let listed = shop.nobody().walk("/products?category=shirts", 2).await;
    let ids: Vec<_> = listed.iter().map(|product| &product["productId"]).collect();
    assert_eq!(ids, ["shirt", "shirt-s"]);

    let order =
        json!({ "lines": [{ "productId": "shirt-m", "quantity": 4 }, { "productId": "shirt-l", "quantity": 1 }] });
    shop.customer("ada").order("k", order).await.expect(201);
    let left = join_all(["shirt", "shirt-m", "shirt-l", "shirt-s"].map(|id| shop.available(id))).await;
    assert_eq!(left, [10, 6, 9, 10]);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_becomes_a_variant_of_another_and_of_none_again() {
    let shop = shop().await;
    let admin = shop.admin();
    for id in ["cap", "shirt-m"] {
        admin.post("/products", shirt(id)).await.expect(201);
    }
    for _ in 0..2 {
        let changed = patch(&admin, "shirt-m", json!({ "variantOf": "shirt", "attributes": { "size": "M" } })).await;
        assert_eq!(changed.expect(200)["variantOf"], "shirt");
        assert_eq!(variants(&shop, "shirt").await, [(json!("shirt-m"), json!({ "size": "M" }))]);
        patch(&admin, "shirt-m", json!({ "variantOf": "cap" })).await.expect(200);
        assert_eq!((variants(&shop, "shirt").await, variants(&shop, "cap").await.len()), (Vec::new(), 1));
        let changed = patch(&admin, "shirt-m", json!({ "variantOf": "shirt-m", "attributes": {} })).await.expect(200);
        assert_eq!((&changed["variantOf"], &changed["attributes"]), (&Value::Null, &Value::Null));
        assert_eq!(variants(&shop, "cap").await, []);
    }
    // No variant of itself, from the beginning.
    let mut own = shirt("own");
    own["variantOf"] = json!("own");
    for _ in 0..2 {
        assert_eq!(admin.post("/products", own.clone()).await.expect(201)["variantOf"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_variant_of_a_product_that_is_not_there() {
    let shop = shop().await;
    let admin = shop.admin();
    let before = shop.dump().await;
    let mut lonely = variant("lonely", "M");
    lonely["variantOf"] = json!("nothing");
    let problem = admin.post("/products", lonely.clone()).await.problem(Kind::NotFound);
    assert_eq!(problem["productId"], "nothing");
    let problem = patch(&admin, "shirt", json!({ "variantOf": "nothing" })).await.problem(Kind::NotFound);
    assert_eq!(problem["productId"], "nothing");
    let batch = json!({ "products": [
        { "create": lonely },
        { "update": { "productId": "shirt", "version": 1, "changes": { "variantOf": "nothing" } } },
    ] });
    let results = admin.post("/products/batch", batch).await.expect(200)["results"].clone();
    for result in results.as_array().expect("results") {
        assert_eq!((&result["status"], &result["problem"]["type"]), (&json!(404), &json!("/problems/not-found")));
    }
    let mut many = variant("many", "M");
    many["attributes"] = (0..21).map(|at| (format!("a{at}"), json!("x"))).collect();
    for wrong in [many["attributes"].clone(), json!({ "size": "" }), json!({ "": "M" }), json!({ "size": 1 })] {
        many["attributes"] = wrong.clone();
        admin.post("/products", many.clone()).await.problem(Kind::Validation);
        patch(&admin, "shirt", json!({ "attributes": wrong })).await.problem(Kind::Validation);
    }
    assert_eq!(shop.dump().await, before);
}

/// Each of these transactions checks the item that others of them write.
#[tokio::test(flavor = "multi_thread")]
async fn variants_are_made_while_their_product_changes() {
    let shop = shop().await;
    let admin = shop.admin();
    let made = (0..20).map(|at| {
        let admin = admin.clone();
        async move { admin.post("/products", variant(&format!("v{at:02}"), "M")).await.expect(201) }
    });
    let renamed = (0..10).map(|at| {
        let admin = admin.clone();
        async move { patch(&admin, "shirt", json!({ "name": format!("Shirt {at}") })).await.expect(200) }
    });
    let (made, renamed) = futures_util::join!(join_all(made), join_all(renamed));
    assert_eq!((made.len(), renamed.len(), variants(&shop, "shirt").await.len()), (20, 10, 20));
    assert_eq!(shop.nobody().get("/products/shirt").await.expect(200)["version"], 11);
    invariants::hold(&shop).await;
}
