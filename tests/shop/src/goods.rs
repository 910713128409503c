//! What a shop sells, and the codes and cards that it takes.

use key_schema::entity::GiftCard;
use key_schema::value::{Money, Timestamp};
use serde_json::{Value, json};

use crate::{Shop, eur, openapi};

/// A product to create: 100 units of a thing for 10.00 EUR, but for the fields that differ.
pub fn goods(id: &str, with: Value) -> Value {
    let mut product = json!({
        "productId": id, "name": format!("The {id}"), "description": "", "category": "things", "price": eur(1000),
        "stock": 100,
    });
    let Value::Object(with) = with else { panic!("no fields") };
    product.as_object_mut().expect("fields").extend(with);
    product
}

/// A change of every member that a product has, which makes it a variant of `main`.
pub fn every_change(main: &str) -> Value {
    let mut changes = openapi::sample(&json!({ "$ref": "#/components/schemas/ProductChanges" }));
    let Value::Object(members) = json!({
        "name": "Another thing", "description": "Stoneware", "category": "others", "price": eur(1200),
        "weightGrams": 250, "attributes": { "size": "M" }, "variantOf": main, "listed": false, "cells": 2,
    }) else {
        unreachable!()
    };
    changes.as_object_mut().expect("members").extend(members);
    changes
}

/// A change of each member that a product may be without, which removes it from the product `of`.
pub fn every_removal(of: &str) -> Value {
    json!({ "weightGrams": 0, "attributes": {}, "variantOf": of })
}

impl Shop {
    /// A shop with the customer ada and one product, as `product` makes it.
    pub async fn selling(id: &str, price: u64, stock: u64) -> Self {
        let shop = Self::with_ada().await;
        shop.product(id, price, stock).await;
        shop
    }

    pub async fn product(&self, id: &str, price: u64, stock: u64) -> Value {
        self.create(id, json!({ "price": eur(price), "stock": stock })).await
    }

    /// Creates a product with these fields, and with those of `goods` that they leave out.
    pub async fn create(&self, id: &str, with: Value) -> Value {
        self.admin().post("/products", goods(id, with)).await.expect(201)
    }

    pub async fn discount(&self, code: &str, percent: u64, max_uses: Option<u64>) {
        let body = json!({ "code": code, "percent": percent, "maxUses": max_uses });
        self.admin().post("/discounts", body).await.expect(201);
    }

    pub async fn gift_card(&self, code: &str, amount: u64) {
        if code.len() >= 12 {
            self.admin().post("/gift-cards", json!({ "code": code, "balance": eur(amount) })).await.expect(201);
            return;
        }
        // Stored directly: an import may bring shorter codes than staff may give.
        let now = Timestamp::now();
        let balance: Money = serde_json::from_value(eur(amount)).expect("money");
        let card = GiftCard::new(code.parse().expect("a code"), balance, now);
        self.put(&card).await;
    }

    pub async fn available(&self, product: &str) -> u64 {
        let product = self.nobody().get(&format!("/products/{product}")).await.expect(200);
        product["available"].as_u64().expect("a number")
    }
}
