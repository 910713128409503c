//! Money that goes back without units.

use super::{accepted, amounts, ask, delivered};
use crate::prelude::*;

async fn credit(shop: &Shop, order: &Value, key: &str, amount: u64) -> Reply {
    let body = json!({ "amount": eur(amount), "reason": "A scratch on the pot" });
    let path = format!("/orders/{}/credits", order_id(order));
    shop.admin().send(Method::POST, &path, &[("idempotency-key", key)], Some(body.to_string())).await
}

async fn everything(shop: &Shop, order: &Value) -> Value {
    let lines = json!([
        { "productId": "cup", "quantity": 3 }, { "productId": "pot", "quantity": 1 },
        { "productId": "tray", "quantity": 1 },
    ]);
    let asked = ask(&shop.customer("ada"), order, "all", lines).await.expect(201);
    shop.admin().receive(&asked, accepted()).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_goes_back_once_and_never_more_than_the_customer_paid() {
    let (shop, order) = delivered().await;
    let credited = credit(&shop, &order, "one", 100).await.expect(200);
    let allowance = &credited["allowances"][0];
    assert_eq!((&allowance["amount"], &allowance["reason"]), (&eur(100), &json!("A scratch on the pot")));
    assert_eq!(amounts(&credited), [100, 549, 0, 100]);
    assert_eq!(credit(&shop, &order, "one", 100).await.expect(200), credited, "a repetition changes nothing");
    credit(&shop, &order, "one", 200).await.problem(Kind::IdempotencyKeyReused);
    let dollars = json!({ "amount": { "amount": 100, "currency": "USD" }, "reason": "A scratch on the pot" });
    let path = format!("/orders/{}/credits", order_id(&order));
    shop.admin().post_once(&path, "one", dollars).await.problem(Kind::IdempotencyKeyReused);
    let problem = credit(&shop, &order, "two", 800).await.problem(Kind::InvalidTransition);
    assert_eq!(problem["amount"], eur(799));
    for wrong in [json!({ "amount": eur(0), "reason": "x" }), json!({ "amount": eur(1) })] {
        let headers = [("idempotency-key", "wrong")];
        shop.admin().send(Method::POST, &path, &headers, Some(wrong.to_string())).await.problem(Kind::Validation);
    }
    invariants::hold(&shop).await;

    // The units bring back what they cost. With the allowance, that would be more than the customer paid.
    assert_eq!(everything(&shop, &order).await["amount"], eur(799));
    let whole = shop.customer("ada").read(&order).await;
    assert_eq!(amounts(&whole), [549, 549, 0, 549]);
    credit(&shop, &order, "three", 1).await.problem(Kind::InvalidTransition);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_not_paid_or_is_cancelled_has_nothing_to_give_back() {
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 10).await;
    let order = shop.customer("ada").order("k", basket("thing", 1)).await.expect(201);
    credit(&shop, &order, "one", 100).await.problem(Kind::InvalidTransition);
    shop.customer("ada").cancel(&order, json!({})).await.expect(200);
    credit(&shop, &order, "one", 100).await.problem(Kind::InvalidTransition);
    invariants::hold(&shop).await;
}

/// Each row says whether the shop gives the price of shipping back, the units that are returned one after the other,
/// and what each return brings back.
#[tokio::test(flavor = "multi_thread")]
async fn the_price_of_shipping_goes_back_with_the_last_unit() {
    for (setting, returns, amounts) in [
        ("true", vec![2], vec![2490]),
        ("true", vec![1, 1], vec![1000, 1490]),
        ("true", vec![1], vec![1000]),
        ("false", vec![2], vec![2000]),
    ] {
        let shop = Shop::open_where(&[("RETURN_SHIPPING", setting)]).await;
        shop.sign_up("ada").await;
        shop.product("thing", 1000, 10).await;
        let zone = json!({ "countries": ["DE"], "currency": "EUR", "methods": [{ "methodId": "standard", "name": "Standard", "by": "price", "bands": [{ "price": 490 }] }] });
        shop.admin().put_if("/shipping", "\"0\"", json!({ "zones": [zone] })).await.expect(200);
        let mut body = basket("thing", 2);
        body["shipTo"] =
            json!({ "name": "Ada", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" });
        let order = shop.customer("ada").order("k", body).await.expect(201);
        shop.admin().capture(&order, "bank-1").await.expect(200);
        super::deliver(&shop, &order).await;
        let mut brought = Vec::new();
        for (at, units) in returns.iter().enumerate() {
            let lines = json!([{ "productId": "thing", "quantity": units }]);
            let asked = ask(&shop.customer("ada"), &order, &format!("r{at}"), lines).await.expect(201);
            let received = shop.admin().receive(&asked, accepted()).await.expect(200);
            brought.push(received["amount"]["amount"].as_i64().expect("an amount"));
        }
        assert_eq!(brought, amounts, "{setting} {returns:?}");
        invariants::hold(&shop).await;
    }
}
