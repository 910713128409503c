//! The rights of guests: staff read, export and erase them.

use shop::log::Log;
use shop::seed::rounds;

use super::proof::{deployed, everything};
use super::{cancel, erase};
use crate::guests::{ID, SECRET};
use crate::prelude::*;

fn is_found(text: &str) -> bool {
    text.to_lowercase().contains("unmistakable")
}

pub async fn shop() -> Shop {
    let shop = Shop::open_counted().await;
    shop.product("thing", 1000, 100).await;
    shop
}

pub async fn introduce(shop: &Shop) -> Value {
    let guest = json!({ "email": "unmistakable@example.com", "name": "Unmistakable Name" });
    shop.introduce(SECRET, guest).await.expect(201)
}

/// An order to an address.
pub async fn order(shop: &Shop, key: &str) -> Reply {
    let mut body = things(1);
    body["shipTo"] = json!({
        "name": "U", "line1": "Unmistakable Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE",
    });
    shop.guest_order(SECRET, key, body).await
}

async fn see(shop: &Shop, order: &Value) -> Reply {
    let path = format!("/guests/{ID}/orders/{}", order_id(order));
    shop.nobody().send(Method::GET, &path, &[("guest-secret", SECRET)], None).await
}

pub async fn has_traces(shop: &Shop) -> bool {
    is_found(&json!(shop.dump().await).to_string())
}

/// Two finished orders: a delivered one with a parcel and a flag, and a cancelled one.
pub async fn with_orders(shop: &Shop) -> [Value; 2] {
    introduce(shop).await;
    let admin = shop.admin();
    let delivered = order(shop, "delivered").await.expect(201);
    shop.admin().capture(&delivered, "bank-1").await.expect(200);
    let parcel = json!({ "carrier": "Post", "trackingNumber": "unmistakable-tracking" }).to_string();
    let parcels = format!("/orders/{}/shipments", order_id(&delivered));
    admin.send(Method::POST, &parcels, &[("idempotency-key", "parcel")], Some(parcel)).await.expect(201);
    shop.admin().advance(&delivered, "DELIVERED").await.expect(200);
    let flag = json!({ "reason": "unmistakable flag" }).to_string();
    admin.send(Method::PUT, &format!("/orders/{}/flag", order_id(&delivered)), &[], Some(flag)).await.expect(200);
    let cancelled = order(shop, "cancelled").await.expect(201);
    cancel(&admin, &cancelled, "unmistakable reason").await;
    [delivered, cancelled]
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_read_and_export_a_guest() {
    let shop = shop().await;
    let (admin, path, export) = (shop.admin(), format!("/guests/{ID}"), format!("/customers/{ID}/export"));
    for path in [&path, &export] {
        admin.get(path).await.problem(Kind::NotFound);
    }
    let guest = introduce(&shop).await;
    assert_eq!(admin.get(&path).await.expect(200), guest);
    assert_eq!(admin.walk(&export, 1).await, [json!({ "guest": guest })]);
    shop.customer("ada").get(&path).await.of_gateway(403);
    shop.customer("ada").get(&export).await.problem(Kind::NotFound);
    shop.sign_up("ada").await;
    admin.get("/guests/ada").await.problem(Kind::NotFound);

    let orders = with_orders(&shop).await;
    let all = admin.walk(&export, 10).await;
    let [newest, oldest] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&newest["guest"], oldest.get("guest")), (&guest, None));
    assert_eq!(
        (&newest["order"]["orderId"], &oldest["order"]["orderId"]),
        (&orders[1]["orderId"], &orders[0]["orderId"])
    );
    assert_eq!(oldest["flag"]["reason"], "unmistakable flag");
    assert!(oldest["order"]["shipTo"].is_object(), "{oldest}");
    // Pages of every size have the same items.
    assert_eq!(admin.walk(&export, 1).await, all);
}

#[tokio::test]
async fn nothing_about_an_erased_guest_is_found_anywhere() {
    let (log, _guard) = Log::begin();
    let shop = shop().await;
    let orders = with_orders(&shop).await;
    shop.settle().await;
    let [table, _, _] = everything(&shop, 0).await;
    assert!(is_found(&table), "the control finds what is to be erased");

    let told = shop.bus().events().len();
    for _ in 0..2 {
        assert_eq!(erase(&shop.admin(), ID).await.status, 204);
    }
    shop.settle().await;
    let everywhere = everything(&shop, told).await;
    for (place, text) in ["the table", "the queues", "the bus"].into_iter().zip(&everywhere) {
        assert!(!is_found(text), "{place}: {text}");
    }
    assert!(!is_found(&deployed(&log.take())), "the log");

    for path in [format!("/guests/{ID}"), format!("/customers/{ID}/export")] {
        shop.admin().get(&path).await.problem(Kind::NotFound);
    }
    order(&shop, "late").await.problem(Kind::NotFound);
    // The books stay, and the secret still opens them. Whoever has it may come again.
    assert_eq!(shop.admin().walk(&format!("/customers/{ID}/orders"), 10).await.len(), 2);
    introduce(&shop).await;
    for order in &orders {
        let kept = see(&shop, order).await.expect(200);
        assert_eq!((&kept["total"], kept.get("shipTo")), (&order["total"], None));
    }
    order(&shop, "again").await.expect(201);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_order_of_a_guest_is_in_the_way() {
    let shop = shop().await;
    erase(&shop.admin(), ID).await.problem(Kind::NotFound);
    introduce(&shop).await;
    let order = order(&shop, "k").await.expect(201);
    let before = shop.dump().await;
    assert_eq!(erase(&shop.admin(), ID).await.problem(Kind::OpenOrders)["orders"], json!([order["orderId"]]));
    erase(&shop.customer("ada"), ID).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);
    cancel(&shop.admin(), &order, "no").await;
    assert_eq!(erase(&shop.admin(), ID).await.status, 204);
    assert!(!has_traces(&shop).await);
}

/// Nothing tells such a guest from one who never was.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_without_orders_is_erased_whole() {
    let shop = shop().await;
    let before = shop.dump().await;
    introduce(&shop).await;
    shop.fault_proxy().inject(Match::action("DeleteItem"), Fault::CutAfter, 1);
    assert_eq!(erase(&shop.admin(), ID).await.status, 204);
    assert_eq!(shop.dump().await, before);
    erase(&shop.admin(), ID).await.problem(Kind::NotFound);
    order(&shop, "k").await.problem(Kind::NotFound);
}

/// The first order and a later one each meet an erasure in many rounds. A placed order keeps its guest or is found by the
/// next erasure, and no text outlives that one.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_and_an_erasure_of_its_guest_at_once_leave_no_personal_data() {
    let shop = shop().await;
    let admin = shop.admin();
    for round in 0..rounds(8) {
        introduce(&shop).await;
        // In every other round, the guest is kept already.
        if round % 2 == 1 {
            let first = order(&shop, &format!("first {round}")).await.expect(201);
            cancel(&admin, &first, "unmistakable reason").await;
        }
        let key = format!("k{round}");
        let (erased, placed) = tokio::join!(erase(&admin, ID), order(&shop, &key));
        if placed.status == 201 {
            if erased.status != 204 {
                erased.problem(Kind::OpenOrders);
            }
            assert_eq!(erase(&admin, ID).await.problem(Kind::OpenOrders)["orders"], json!([placed.body["orderId"]]));
            cancel(&admin, &placed.body, "unmistakable reason").await;
            assert_eq!(erase(&admin, ID).await.status, 204);
        } else {
            placed.problem(Kind::NotFound);
            assert_eq!(erased.status, 204, "{}", erased.body);
        }
        assert!(!has_traces(&shop).await, "round {round}");
    }
    assert_eq!(shop.available("thing").await, 100);
    invariants::hold(&shop).await;
}

/// An order that read the guest before the erasure and is committed after it.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_overtakes_an_order() {
    let shop = shop().await;
    for is_kept in [false, true] {
        introduce(&shop).await;
        if is_kept {
            let first = order(&shop, "first").await.expect(201);
            cancel(&shop.admin(), &first, "unmistakable reason").await;
        }
        let erasing = async || assert_eq!(erase(&shop.admin(), ID).await.status, 204);
        let guest = json!({ "orderId": ID });
        let late = shop.overtaken(&guest, "TransactWriteItems", order(&shop, "late"), erasing).await;
        late.problem(Kind::NotFound);
        assert!(!has_traces(&shop).await, "kept: {is_kept}");
    }
}
