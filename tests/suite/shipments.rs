//! Shipments: an order leaves the shop in parts.

use crate::prelude::*;

/// A shop with a paid order of three cups and a pot.
async fn paid() -> (Shop, Value) {
    let shop = Shop::selling("cup", 100, 10).await;
    shop.product("pot", 300, 10).await;
    let lines = json!([{ "productId": "cup", "quantity": 3 }, { "productId": "pot", "quantity": 1 }]);
    let order = shop.customer("ada").order("k", json!({ "lines": lines })).await.expect(201);
    shop.admin().capture(&order, "bank-1").await.expect(200);
    (shop, order)
}

fn path(order: &Value, what: &str) -> String {
    format!("/orders/{}/{what}", order_id(order))
}

fn cups(quantity: u64) -> Value {
    json!({ "lines": [{ "productId": "cup", "quantity": quantity }], "carrier": "Parcel Post", "trackingNumber": "PP1" })
}

fn all_left() -> Value {
    json!({ "carrier": "Parcel Post" })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_leaves_in_two_shipments() {
    let (shop, order) = paid().await;
    let first = shop.admin().ship(&order, "a", cups(2)).await;
    assert_eq!(first.header("location"), Some(path(&order, "shipments").as_str()));
    let first = first.expect(201);
    assert_eq!(shop.admin().status(&order).await, "PACKING");
    let listed = shop.admin().get("/orders?status=PACKING").await.expect(200);
    assert_eq!(listed["items"][0]["orderId"], order["orderId"]);
    let refused = shop.admin().ship(&order, "b", cups(2)).await.problem(Kind::TooFewUnits);
    assert_eq!((&refused["productId"], &refused["left"]), (&json!("cup"), &json!(1)));
    let second = shop.admin().ship(&order, "b", all_left()).await.expect(201);
    assert_eq!(second["lines"].as_array().map(Vec::len), Some(2));
    assert_eq!(shop.admin().status(&order).await, "SHIPPED");

    shop.admin().deliver(&second).await.expect(200);
    assert_eq!(shop.admin().status(&order).await, "SHIPPED");
    shop.admin().deliver(&first).await.expect(200);
    assert_eq!(shop.admin().status(&order).await, "DELIVERED");
    let listed = shop.customer("ada").get(&path(&order, "shipments")).await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2));
    assert!(listed["items"][0]["deliveredAt"].is_string());
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_shipments_of_the_same_unit_at_once_are_one() {
    let (shop, order) = paid().await;
    let mut statuses = at_once(["a", "b", "c"], async |key| shop.admin().ship(&order, key, cups(2)).await.status).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409]);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_shipped_or_cancelled_but_not_both() {
    let (shop, order) = paid().await;
    shop.admin()
        .ship(&order, "pot", json!({ "lines": [{ "productId": "pot", "quantity": 1 }], "carrier": "By hand" }))
        .await
        .expect(201);
    let (admin, of) = (shop.admin(), order.clone());
    let shipped = tokio::spawn(async move { admin.ship(&of, "a", cups(3)).await });
    let cancel = basket("cup", 3);
    let cancelled = shop.admin().post(&path(&order, "cancellation"), cancel).await.status;
    let shipped = shipped.await.expect("no panic").status;
    assert!(matches!((shipped, cancelled), (201, 409) | (409, 200)), "{shipped} {cancelled}");
    assert_eq!(shop.admin().status(&order).await, "SHIPPED");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_at_once_deliver_the_order() {
    let (shop, order) = paid().await;
    let mut shipments = Vec::new();
    for (key, body) in [("a", cups(1)), ("b", cups(1)), ("c", all_left())] {
        shipments.push(shop.admin().ship(&order, key, body).await.expect(201));
    }
    at_once(shipments.iter().chain(&shipments), async |shipment| shop.admin().deliver(shipment).await.expect(200))
        .await;
    assert_eq!(shop.admin().status(&order).await, "DELIVERED");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_ships_no_more() {
    let (shop, order) = paid().await;
    let first = shop.admin().ship(&order, "a", cups(1)).await;
    let before = shop.dump().await;
    let again = shop.admin().ship(&order, "a", cups(1)).await;
    assert_eq!((first.status, again.status, &first.body), (201, 201, &again.body));
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
    shop.admin().ship(&order, "a", cups(2)).await.problem(Kind::IdempotencyKeyReused);
    assert_eq!(shop.dump().await, before);
    shop.admin().deliver(&again.body).await.expect(200);
    let before = shop.dump().await;
    assert_eq!(shop.admin().deliver(&again.body).await.header("idempotent-replayed"), Some("true"));
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_cannot_cancel_an_order_that_is_being_packed() {
    let (shop, order) = paid().await;
    shop.admin().post(&path(&order, "status"), json!({ "status": "PACKING" })).await.expect(200);
    let cancel = path(&order, "cancellation");
    let one = basket("cup", 1);
    for body in [json!({}), one.clone()] {
        shop.customer("ada").post(&cancel, body).await.problem(Kind::InvalidTransition);
    }
    shop.admin().post(&cancel, one).await.expect(200);
    shop.admin().ship(&order, "a", cups(1)).await.expect(201);
    shop.admin().post(&cancel, json!({})).await.problem(Kind::InvalidTransition);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_shipment_changes_nothing() {
    let (shop, order) = paid().await;
    let before = shop.dump().await;
    for wrong in [
        json!({}),
        json!({ "carrier": "" }),
        json!({ "carrier": "Post", "lines": [] }),
        json!({ "carrier": "Post", "trackingUrl": "javascript:alert(1)" }),
        json!({ "carrier": "Post", "parcel": 1 }),
    ] {
        shop.admin().ship(&order, "a", wrong).await.problem(Kind::Validation);
    }
    shop.admin()
        .ship(&order, "a", json!({ "carrier": "Post", "lines": [{ "productId": "tea", "quantity": 1 }] }))
        .await
        .problem(Kind::TooFewUnits);
    shop.admin().post("/shipments/shp-none-0/delivery", Value::Null).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);
}
