//! Shipments: an order leaves the shop in parts.

use devstack::fault_proxy::{Fault, Match};
use http_api::Kind;
use reqwest::Method;
use serde_json::{Value, json};
use shop::{Client, Reply, Shop};
use tokio::task::JoinSet;

use crate::invariants;

/// A shop with a paid order of three cups and a pot.
async fn paid() -> (Shop, Value) {
    let shop = Shop::with_ada().await;
    shop.product("cup", 100, 10).await;
    shop.product("pot", 300, 10).await;
    let lines = json!([{ "productId": "cup", "quantity": 3 }, { "productId": "pot", "quantity": 1 }]);
    let order = shop.customer("ada").order("k", json!({ "lines": lines })).await.expect(201);
    let invoice = order["invoice"]["invoiceId"].as_str().expect("an id");
    let reference = json!({ "reference": "bank-1" });
    shop.admin().post(&format!("/invoices/{invoice}/payments"), reference).await.expect(200);
    (shop, order)
}

fn path(order: &Value, what: &str) -> String {
    format!("/orders/{}/{what}", order["orderId"].as_str().expect("an id"))
}

fn cups(quantity: u64) -> Value {
    json!({ "lines": [{ "productId": "cup", "quantity": quantity }], "carrier": "Parcel Post", "trackingNumber": "PP1" })
}

fn all_left() -> Value {
    json!({ "carrier": "Parcel Post" })
}

async fn ship(client: &Client, order: &Value, key: &str, body: Value) -> Reply {
    client.send(Method::POST, &path(order, "shipments"), &[("idempotency-key", key)], Some(body.to_string())).await
}

async fn deliver(shop: &Shop, shipment: &Value) -> Reply {
    let id = shipment["shipmentId"].as_str().expect("an id");
    shop.admin().post(&format!("/shipments/{id}/delivery"), Value::Null).await
}

async fn status(shop: &Shop, order: &Value) -> Value {
    let order = shop.customer("ada").get(&format!("/orders/{}", order["orderId"].as_str().expect("an id"))).await;
    order.expect(200)["status"].clone()
}

#[tokio::test]
async fn an_order_leaves_in_two_shipments() {
    let (shop, order) = paid().await;
    let first = ship(&shop.admin(), &order, "a", cups(2)).await;
    assert_eq!(first.header("location"), Some(path(&order, "shipments").as_str()));
    let first = first.expect(201);
    assert_eq!(status(&shop, &order).await, "PACKING");
    let listed = shop.admin().get("/orders?status=PACKING").await.expect(200);
    assert_eq!(listed["items"][0]["orderId"], order["orderId"]);
    let refused = ship(&shop.admin(), &order, "b", cups(2)).await.problem(Kind::TooFewUnits);
    assert_eq!((&refused["productId"], &refused["left"]), (&json!("cup"), &json!(1)));
    let second = ship(&shop.admin(), &order, "b", all_left()).await.expect(201);
    assert_eq!(second["lines"].as_array().map(Vec::len), Some(2));
    assert_eq!(status(&shop, &order).await, "SHIPPED");

    deliver(&shop, &second).await.expect(200);
    assert_eq!(status(&shop, &order).await, "SHIPPED");
    deliver(&shop, &first).await.expect(200);
    assert_eq!(status(&shop, &order).await, "DELIVERED");
    let listed = shop.customer("ada").get(&path(&order, "shipments")).await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2));
    assert!(listed["items"][0]["deliveredAt"].is_string());
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn two_shipments_of_the_same_unit_at_once_are_one() {
    let (shop, order) = paid().await;
    let mut shipping = JoinSet::new();
    for key in ["a", "b", "c"] {
        let (client, order) = (shop.admin(), order.clone());
        shipping.spawn(async move { ship(&client, &order, key, cups(2)).await });
    }
    let mut statuses: Vec<_> = shipping.join_all().await.iter().map(|reply| reply.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409]);
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_unit_is_shipped_or_cancelled_but_not_both() {
    let (shop, order) = paid().await;
    ship(
        &shop.admin(),
        &order,
        "pot",
        json!({ "lines": [{ "productId": "pot", "quantity": 1 }], "carrier": "By hand" }),
    )
    .await
    .expect(201);
    let (admin, of) = (shop.admin(), order.clone());
    let shipped = tokio::spawn(async move { ship(&admin, &of, "a", cups(3)).await });
    let cancel = json!({ "lines": [{ "productId": "cup", "quantity": 3 }] });
    let cancelled = shop.admin().post(&path(&order, "cancellation"), cancel).await.status;
    let shipped = shipped.await.expect("no panic").status;
    assert!(matches!((shipped, cancelled), (201, 409) | (409, 200)), "{shipped} {cancelled}");
    assert_eq!(status(&shop, &order).await, "SHIPPED");
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn deliveries_at_once_deliver_the_order() {
    let (shop, order) = paid().await;
    let mut delivering = JoinSet::new();
    for (key, body) in [("a", cups(1)), ("b", cups(1)), ("c", all_left())] {
        let shipment = ship(&shop.admin(), &order, key, body).await.expect(201);
        let path = format!("/shipments/{}/delivery", shipment["shipmentId"].as_str().expect("an id"));
        for _ in 0..2 {
            let (client, path) = (shop.admin(), path.clone());
            delivering.spawn(async move { client.post(&path, Value::Null).await.expect(200) });
        }
    }
    delivering.join_all().await;
    assert_eq!(status(&shop, &order).await, "DELIVERED");
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_repeated_request_ships_no_more() {
    let (shop, order) = paid().await;
    let first = ship(&shop.admin(), &order, "a", cups(1)).await;
    let before = shop.dump().await;
    let again = ship(&shop.admin(), &order, "a", cups(1)).await;
    assert_eq!((first.status, again.status, &first.body), (201, 201, &again.body));
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
    ship(&shop.admin(), &order, "a", cups(2)).await.problem(Kind::IdempotencyKeyReused);
    assert_eq!(shop.dump().await, before);
    deliver(&shop, &again.body).await.expect(200);
    let before = shop.dump().await;
    assert_eq!(deliver(&shop, &again.body).await.header("idempotent-replayed"), Some("true"));
    assert_eq!(shop.dump().await, before);
}

/// The answer to the write is lost, and the write was done.
#[tokio::test]
async fn a_shipment_whose_answer_was_lost_is_made_once() {
    let (shop, order) = paid().await;
    shop.fault_proxy().inject(Match::action("TransactWriteItems"), Fault::CutAfter, 3);
    let shipped = ship(&shop.admin(), &order, "a", cups(1)).await;
    assert!([201, 503].contains(&shipped.status), "{shipped:?}");
    ship(&shop.admin(), &order, "a", cups(1)).await.expect(201);
    let listed = shop.admin().get(&path(&order, "shipments")).await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_customer_cannot_cancel_an_order_that_is_being_packed() {
    let (shop, order) = paid().await;
    let packing = json!({ "status": "PACKING" });
    shop.admin().post(&path(&order, "status"), packing).await.expect(200);
    let cancel = path(&order, "cancellation");
    let one = json!({ "lines": [{ "productId": "cup", "quantity": 1 }] });
    for body in [json!({}), one.clone()] {
        shop.customer("ada").post(&cancel, body).await.problem(Kind::InvalidTransition);
    }
    shop.admin().post(&cancel, one).await.expect(200);
    ship(&shop.admin(), &order, "a", cups(1)).await.expect(201);
    shop.admin().post(&cancel, json!({})).await.problem(Kind::InvalidTransition);
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_shipment_is_made_by_staff_and_seen_by_its_customer() {
    let (shop, order) = paid().await;
    shop.sign_up("bob").await;
    ship(&shop.customer("ada"), &order, "a", cups(1)).await.problem(Kind::Forbidden);
    let shipment = ship(&shop.admin(), &order, "a", cups(1)).await.expect(201);
    shop.customer("bob").get(&path(&order, "shipments")).await.problem(Kind::NotFound);
    let delivery = format!("/shipments/{}/delivery", shipment["shipmentId"].as_str().expect("an id"));
    shop.customer("ada").post(&delivery, Value::Null).await.problem(Kind::Forbidden);
    shop.admin().post("/shipments/shp-none-0/delivery", Value::Null).await.problem(Kind::NotFound);
}

#[tokio::test]
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
        ship(&shop.admin(), &order, "a", wrong).await.problem(Kind::Validation);
    }
    ship(&shop.admin(), &order, "a", json!({ "carrier": "Post", "lines": [{ "productId": "tea", "quantity": 1 }] }))
        .await
        .problem(Kind::TooFewUnits);
    assert_eq!(shop.dump().await, before);
}
