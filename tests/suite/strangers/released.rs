//! What a guest holds is free again when the order is paid, cancelled, expired or its customer's.

use super::{Stranger, held};
use crate::claimed_guests::claim;
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_becomes_of_a_guests_order_its_units_are_released_once() {
    let shop = Shop::with_ada().await;
    shop.create("thing", json!({ "stock": 100, "cells": 3 })).await;
    shop.discount("SALE", 10, Some(10)).await;
    shop.gift_card("RICH", 100_000).await;
    let (stranger, admin) = (Stranger::come(&shop, 1).await, shop.admin());
    let mut numbers = 0..;
    let mut order = async |more: Value| {
        let mut body = things(3);
        body.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        let key = format!("k{}", numbers.next().expect("a number"));
        stranger.order(&key, body).await.expect(201)
    };
    let code = json!({ "discountCode": "SALE" });
    let uses = async || shop.item("d#SALE", "d#SALE").await["heldByGuests"]["N"].clone();

    order(json!({ "giftCards": ["RICH"] })).await;
    assert_eq!(held(&shop).await, 0, "a paid order holds nothing");

    let paid = order(code.clone()).await;
    assert_eq!((held(&shop).await, uses().await), (3, json!("1")));
    for _ in 0..2 {
        admin.capture(&paid, "bank").await.expect(200);
        assert_eq!((held(&shop).await, uses().await), (0, json!("0")));
    }
    admin.cancel(&paid, json!({})).await.expect(200);
    assert_eq!((held(&shop).await, uses().await), (0, json!("0")), "a paid order has nothing to release");

    let cancelled = order(code.clone()).await;
    for (body, left) in [(things(1), 2), (things(1), 2), (things(2), 1), (json!({}), 0), (json!({}), 0)] {
        admin.cancel(&cancelled, body).await.expect(200);
        assert_eq!(held(&shop).await, left);
    }
    assert_eq!(uses().await, "0");

    let expired = order(code).await;
    shop.age_by_minutes(&expired, 14).await;
    assert_eq!(shop.expire().await["expired"], 0);
    shop.age_by_minutes(&expired, 16).await;
    assert_eq!(shop.expire().await["expired"], 1, "a guest has less time than a customer");
    assert_eq!((held(&shop).await, uses().await), (0, json!("0")));

    let claimed = order(json!({})).await;
    assert_eq!(claim(&admin, "ada", &stranger.id).await.status, 204);
    assert_eq!(held(&shop).await, 3, "until it is paid or expires");
    shop.customer("ada").cancel(&claimed, json!({})).await.expect(200);
    assert_eq!(held(&shop).await, 0);
    invariants::hold(&shop).await;
}
