//! The proof: a customer with unmistakable texts everywhere does what a customer can do, and is erased. Then the texts are
//! searched for in the whole table with all keys of its indexes, in the queues, on the bus and in the log.

use shop::log::Log;
use shop::queue::{DEAD_LETTERS, QUEUE};

use super::{cancel, erase, request_return};
use crate::prelude::*;

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

/// The texts that are in the table before the erasure.
const HELD: [&str; 11] = [
    "zyx-username",
    "zyx-address",
    "Zyx Name",
    "zyx-cancelled",
    "zyx-returned",
    "zyx-refused",
    "zyx-flagged",
    "zyx-by-staff",
    "Zyx Street",
    "Zyx Way",
    "zyx-tracking",
];

/// Texts that a change of the profile has replaced.
const REPLACED: [&str; 3] = ["zyx-first-username", "zyx-first-address", "Zyx First"];

/// The texts that occur in this one, regardless of case.
fn found(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    HELD.into_iter().chain(REPLACED).filter(|secret| text.contains(&secret.to_lowercase())).collect()
}

/// What the table and the queues hold, and the bus after so many events, as text.
pub async fn everything(shop: &Shop, told: usize) -> [String; 3] {
    let mut messages = Vec::new();
    for queue in [QUEUE, DEAD_LETTERS] {
        messages.extend(shop.take_from(queue).await);
    }
    [json!(shop.dump().await), json!(messages), json!(shop.bus().events()[told..])].map(|all| all.to_string())
}

async fn flag(shop: &Shop, order: &Value) {
    shop.admin().flag(order, "zyx-flagged").await.expect(200);
}

/// The lines that a deployed function writes: those of the level INFO and above, without those of the laptop's stack.
pub fn deployed(log: &str) -> String {
    let is_local = |line: &str| [" DEBUG ", " TRACE ", " devstack::"].into_iter().any(|mark| line.contains(mark));
    log.lines().filter(|line| !is_local(line)).collect()
}

#[tokio::test]
async fn nothing_about_an_erased_customer_is_found_anywhere() {
    let (log, _guard) = Log::begin();
    let shop = Shop::open_counted().await;
    shop.product("thing", 1000, 100).await;
    shop.gift_card("GIFT-A", 100_000).await;
    let (zoe, admin) = (shop.customer("id-4711"), shop.admin());
    let first =
        json!({ "username": REPLACED[0], "email": format!("{}@example.com", REPLACED[1]), "name": REPLACED[2] });
    zoe.post("/customers", first).await.expect(201);
    let then = json!({ "username": HELD[0], "email": format!("{}@example.com", HELD[1]), "name": HELD[2] });
    zoe.patch("/customers/id-4711", "\"1\"", then).await.expect(200);
    let cart = things(3).to_string();
    zoe.send(Method::PUT, "/customers/id-4711/cart", &[], Some(cart)).await.expect(200);

    let address =
        |line: &str| json!({ "name": "Z", "line1": line, "city": "Berlin", "postalCode": "10115", "country": "DE" });
    zoe.put("/customers/id-4711/addresses", json!({ "addresses": [address("Zyx Street 1")] })).await.expect(200);

    let cancelled = zoe.order("a", things(1)).await.expect(201);
    cancel(&zoe, &cancelled, "zyx-cancelled").await;
    let by_staff = zoe.order("b", things(1)).await.expect(201);
    cancel(&admin, &by_staff, "zyx-by-staff").await;
    let body = json!({ "lines": things(2)["lines"], "giftCards": ["GIFT-A"], "shipTo": address("Zyx Way 2") });
    let delivered = zoe.order("c", body).await.expect(201);
    let parcel = json!({ "carrier": "Post", "trackingNumber": "zyx-tracking" }).to_string();
    let path = format!("/orders/{}/shipments", order_id(&delivered));
    admin.send(Method::POST, &path, &[("idempotency-key", "parcel")], Some(parcel)).await.expect(201);
    shop.admin().advance(&delivered, "DELIVERED").await.expect(200);
    let asked = request_return(&zoe, &delivered, "r", "zyx-returned").await;
    admin.receive(&asked, json!({ "accepted": false, "reason": "zyx-refused" })).await.expect(200);
    for order in [&cancelled, &delivered] {
        flag(&shop, order).await;
    }
    // An order that cannot be placed waits, and is refused.
    order_later(&zoe, "later", things(99)).await;
    zoe.get("/customers/id-4711/export").await.expect(200);
    shop.settle().await;

    // The control: the same search finds every text that the table holds.
    let [table, _, _] = everything(&shop, 0).await;
    assert_eq!(found(&table), HELD, "before the erasure");

    // Receivers have the tracking of the parcel, and are told to erase it.
    let told = shop.bus().events().len();
    assert_eq!(erase(&zoe, "id-4711").await.status, 204);
    shop.settle().await;
    let everywhere = everything(&shop, told).await;
    for (place, text) in ["the table", "the queues", "the bus"].into_iter().zip(&everywhere) {
        assert_eq!(found(text), Vec::<&str>::new(), "{place} after the erasure");
    }
    let log = deployed(&log.take());
    assert!(log.contains("id-4711") || log.contains("order events published"), "the log was captured");
    assert_eq!(found(&log), Vec::<&str>::new(), "the log");

    // The books are still there, and receivers were told.
    assert_eq!(admin.walk("/customers/id-4711/orders", 10).await.len(), 3);
    let told = shop.bus().events().into_iter().filter(|event| event["detail-type"] == "CustomerErased");
    let told: Vec<_> = told.map(|event| event["detail"]["customerId"].clone()).collect();
    assert_eq!(told, [json!("id-4711")]);
    assert_eq!(invariants::breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
}
