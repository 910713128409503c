//! Quotes for those without an account: what a guest's order, and a customer's, would cost.

use shop::seed;

use crate::prelude::*;
use crate::taxes;

const PLAIN: &str = "/guests/quotes";
const DISCOUNTED: &str = "/guests/quotes/discounted";

/// Zones for two countries, rates of tax for three, products of two categories, one of them in cells, and codes.
async fn shop(prices_include_tax: bool) -> Shop {
    let shop = taxes::shop(prices_include_tax).await;
    shop.create("spread", json!({ "price": eur(333), "cells": 3, "weightGrams": 700 })).await;
    shop.create("crate", json!({ "price": eur(4999), "weightGrams": 2000 })).await;
    let country = |country: &str, standard: u32| json!({ "country": country, "standard": standard });
    let mut rates = taxes::rates(1900, 700);
    rates["countries"].as_array_mut().expect("countries").extend([country("FR", 2000), country("US", 0)]);
    taxes::put(&shop, "0", &rates).await.expect(200);
    let by_weight = json!([{ "upTo": 1000, "price": 490 }, { "upTo": 8000, "price": 1290 }]);
    let standard = json!({
        "methodId": "standard", "name": "Standard", "by": "weight", "bands": by_weight, "freeFrom": 15000,
    });
    let express = json!({ "methodId": "express", "name": "Express", "by": "price", "bands": [{ "price": 1795 }] });
    let zones = json!([
        { "countries": ["DE"], "currency": "EUR", "methods": [standard, express] },
        { "countries": ["FR"], "currency": "EUR", "methods": [express] },
    ]);
    shop.admin().put_if("/shipping", "\"0\"", json!({ "zones": zones })).await.expect(200);
    for code in [
        json!({ "code": "ALL", "percent": 7, "combinable": true }),
        json!({ "code": "BOOKS", "percent": 15, "category": "books", "combinable": true }),
        json!({ "code": "FEW", "amount": eur(300), "maxUses": 1000 }),
    ] {
        shop.admin().post("/discounts", code).await.expect(201);
    }
    shop
}

/// A basket, and as an order to somebody at the same destination. Of 25 rounds, each has another destination or other codes.
fn any(random: &mut fastrand::Rng, round: usize) -> (Value, Value) {
    let number = random.usize(1..4);
    let products = random.choose_multiple(["novel", "cup", "spread", "crate"], number);
    let lines = products.into_iter().map(|product| json!({ "productId": product, "quantity": random.u32(1..4) }));
    let mut basket = json!({ "lines": lines.collect::<Vec<_>>() });
    let codes: [&[&str]; 5] = [&[], &["ALL"], &["BOOKS"], &["FEW"], &["BOOKS", "ALL"]];
    let codes = codes[round / 5 % 5];
    if !codes.is_empty() {
        basket["discountCodes"] = json!(codes);
    }
    let mut order = basket.clone();
    let method = random.choice(["standard", "express", ""]).filter(|method| !method.is_empty());
    let destinations = [("DE", "10115"), ("DE", "80331"), ("FR", "75001"), ("US", "12207")];
    if let Some((country, code)) = destinations.get(round % 5) {
        basket["shipTo"] = json!({ "country": country, "postalCode": code });
        order["shipTo"] = json!({ "name": "Ada", "line1": "Way 1", "city": "Anywhere" });
        order["shipTo"]["country"] = json!(country);
        order["shipTo"]["postalCode"] = json!(code);
        for request in [&mut basket, &mut order] {
            request
                .as_object_mut()
                .expect("an object")
                .extend(method.map(|id| ("shippingMethod".to_owned(), json!(id))));
        }
    }
    (basket, order)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_quoted_what_a_customer_is_and_both_order_for_exactly_that() {
    let mut random = seed::random();
    let mut answers = BTreeSet::new();
    for prices_include_tax in [true, false] {
        let shop = shop(prices_include_tax).await;
        let (ada, nobody) = (shop.customer("ada"), shop.nobody());
        for number in 0..seed::rounds(25) {
            let (basket, mut order) = any(&mut random, usize::try_from(number).expect("few"));
            let before = shop.dump().await;
            let quoted = ada.post("/quotes", order.clone()).await;
            let has_codes = basket.get("discountCodes").is_some();
            for path in [DISCOUNTED, PLAIN].into_iter().take(if has_codes { 1 } else { 2 }) {
                let of_nobody = nobody.post(path, basket.clone()).await;
                assert_eq!((of_nobody.status, &of_nobody.body), (quoted.status, &quoted.body), "{path} of {basket}");
            }
            assert_eq!(shop.dump().await, before, "a quote writes nothing");

            let secret = format!("{number:0>10}{}", "A".repeat(33));
            shop.introduce(&secret, json!({ "email": "mallory@example.com", "name": "Mallory" })).await.expect(201);
            let (key, quote) = (format!("order-{number}"), quoted.body);
            answers.insert((quoted.status, quote.get("shipping").is_some(), quote.get("tax").is_some()));
            if quoted.status != 200 {
                for refused in [ada.order(&key, order.clone()).await, shop.guest_order(&secret, &key, order).await] {
                    assert_eq!((quoted.status, &quote), (refused.status, &refused.body), "{basket}");
                }
                continue;
            }
            order["expectedTotal"] = quote["total"].clone();
            for placed in [ada.order(&key, order.clone()).await, shop.guest_order(&secret, &key, order.clone()).await] {
                let placed = placed.expect(201);
                for part in ["lines", "subtotal", "discount", "shipping", "shippingMethod", "tax", "total"] {
                    assert_eq!(placed.get(part), quote.get(part), "{part} of {basket}");
                }
            }
            order["expectedTotal"]["amount"] = json!(quote["total"]["amount"].as_u64().expect("an amount") + 1);
            let other = shop.guest_order(&secret, "another", order).await.problem(Kind::PriceChanged);
            assert_eq!(other["total"], quote["total"]);
        }
    }
    for seen in [(200, true, true), (200, true, false), (200, false, true), (200, false, false)] {
        assert!(answers.contains(&seen), "{seen:?} is missing: {answers:?}");
    }
    assert!(answers.iter().any(|(status, ..)| *status == 409), "nothing was refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_question_is_refused_and_writes_nothing() {
    let shop = shop(true).await;
    shop.gift_card("GIFT-50-7QKX-M2TD", 5000).await;
    let before = shop.dump().await;
    let with = |field: &str, value: Value| {
        let mut basket = basket("cup", 1);
        basket[field] = value;
        basket
    };
    let cup = json!({ "productId": "cup", "quantity": 1 });
    let many: Vec<_> = (0..11).map(|at| json!({ "productId": format!("p-{at}"), "quantity": 1 })).collect();
    let whole = json!({
        "name": "Ada", "line1": "Way 1", "city": "Ulm", "postalCode": "89073", "country": "DE",
    });
    let codes = [
        (with("discountCode", json!("NONE")), Kind::DiscountInvalid),
        (with("discountCodes", json!(["ALL", "FEW"])), Kind::DiscountInvalid),
        (with("discountCodes", json!(["ALL", "ALL"])), Kind::Validation),
        (with("discountCodes", json!(["A", "B", "C", "D"])), Kind::TooLarge),
    ];
    let wrong = [
        (json!({}), Kind::Validation),
        (with("lines", json!([])), Kind::Validation),
        (with("lines", json!([cup, cup])), Kind::Validation),
        (with("lines", json!([{ "productId": "cup", "quantity": 0 }])), Kind::Validation),
        (with("lines", json!(many)), Kind::TooLarge),
        (with("giftCards", json!(["GIFT-50-7QKX-M2TD"])), Kind::Validation),
        (with("cart", json!(1)), Kind::Validation),
        (with("payLater", json!(true)), Kind::Validation),
        (with("shipTo", json!({})), Kind::Validation),
        (with("shipTo", json!({ "country": "ZZ" })), Kind::Validation),
        (with("shipTo", json!({ "country": "DE", "postalCode": "1011" })), Kind::Validation),
        (with("shipTo", json!({ "addressId": "home" })), Kind::Validation),
        (with("shipTo", whole), Kind::Validation),
        (with("shipTo", json!({ "country": "US" })), Kind::NotShipped),
        (with("shippingMethod", json!("express")), Kind::Validation),
        (basket("nothing", 1), Kind::NotFound),
        (basket("cup", 101), Kind::OutOfStock),
        (basket("spread", 101), Kind::OutOfStock),
    ];
    let of_codes = codes.iter().map(|(wrong, kind)| (DISCOUNTED, wrong, *kind));
    let of_plain = codes.iter().map(|(wrong, _)| (PLAIN, wrong, Kind::Validation));
    let of_both =
        [PLAIN, DISCOUNTED].into_iter().flat_map(|path| wrong.iter().map(move |(wrong, kind)| (path, wrong, *kind)));
    for (path, wrong, kind) in of_codes.chain(of_plain).chain(of_both) {
        let refused = shop.nobody().post(path, wrong.clone()).await;
        assert!((400..500).contains(&refused.status), "{wrong}");
        refused.problem(kind);
    }
    let by_country = shop.nobody().post(PLAIN, with("shipTo", json!({ "country": "DE" }))).await.expect(200);
    assert_eq!(by_country["shipping"], eur(490));
    assert_eq!(shop.dump().await, before);
}
