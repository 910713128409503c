//! Guests: orders without an account. A guest is whoever has the secret.

use devstack::fault_proxy::WriteLimit;
use shop::log::Log;
use shop::queue::drain_source;
use shop::set_everywhere;

use crate::history::{copied, exported, imported, open};
use crate::prelude::*;

pub const SECRET: &str = "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A";
pub const ID: &str = "guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og";
pub const OTHER_SECRET: &str = "c2VjcmV0LW9mLWEtZ3Vlc3Qtb2YtdGhlLXNob3AuLi4";

/// A customer with the address that the guest gives.
async fn shop() -> Shop {
    Shop::selling("thing", 1000, 10).await
}

pub fn grace() -> Value {
    json!({ "email": "grace@example.com", "name": "Grace Hopper" })
}

pub async fn ask(shop: &Shop, secret: &str, method: Method, path: &str) -> Reply {
    shop.nobody().send(method, path, &[("guest-secret", secret)], None).await
}

fn path(order: &Value) -> String {
    format!("/guests/{ID}/orders/{}", order_id(order))
}

pub async fn guest_item(shop: &Shop) -> Value {
    shop.item(&format!("c#{ID}"), "guest").await
}

/// Sets the time of the guest's expiry to a minute ago, as DynamoDB's TTL has not deleted the item yet. A request that has
/// begun goes by the time of its begin.
pub async fn expire(shop: &Shop) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    shop.set(&format!("c#{ID}"), "guest", "expiresAt", json!({ "N": (now - 60).to_string() })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_orders_and_sees_the_order() {
    let shop = shop().await;
    let created = shop.introduce(SECRET, grace()).await;
    assert_eq!(created.header("location"), None, "guests have no route to their profile");
    let guest = created.expect(201);
    assert_eq!((&guest["guestId"], &guest["email"]), (&json!(ID), &json!("grace@example.com")));
    assert!(guest_item(&shop).await["expiresAt"]["N"].is_string(), "a guest without an order expires");

    let placed = shop.guest_order(SECRET, "k", things(2)).await;
    let placed_at = placed.header("location").map(str::to_owned);
    let placed = placed.expect(201);
    assert_eq!(placed_at, Some(path(&placed)));
    assert_eq!((&placed["customerId"], &placed["total"]["amount"]), (&json!(ID), &json!(2000)));
    assert!(guest_item(&shop).await["expiresAt"].is_null(), "a guest with an order stays");
    assert_eq!(ask(&shop, SECRET, Method::GET, &path(&placed)).await.expect(200), placed);
    assert_eq!(shop.admin().get(&format!("/orders/{}", order_id(&placed))).await.status, 200);

    let cancelled = ask(&shop, SECRET, Method::POST, &format!("{}/cancellation", path(&placed))).await.expect(200);
    assert_eq!((&cancelled["status"], &cancelled["cancellation"]["cause"]), (&json!("CANCELLED"), &json!("customer")));
    assert_eq!(shop.available("thing").await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_prints_the_invoice_and_withdraws_like_a_customer_without_staff() {
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    shop.introduce(OTHER_SECRET, grace()).await.expect(201);
    let placed = shop.guest_order(SECRET, "k", things(2)).await.expect(201);
    let (admin, nobody) = (shop.admin(), shop.nobody());
    let page = async |secret| ask(&shop, secret, Method::GET, &format!("{}/invoice/page", path(&placed))).await;
    let seen_by_staff = admin.get(&format!("/orders/{}/invoice/page", order_id(&placed))).await;
    let seen = page(SECRET).await;
    assert_eq!((seen.status, seen.body), (200, seen_by_staff.body));
    page(OTHER_SECRET).await.problem(Kind::NotFound);

    let back = async |secret: &str, key: &str, body: Value| {
        let headers = [("guest-secret", secret), ("idempotency-key", key)];
        nobody.with(Method::POST, &format!("{}/returns", path(&placed)), &headers, body).await
    };
    back(SECRET, "r", things(1)).await.problem(Kind::InvalidTransition);
    admin.capture(&placed, "bank-1").await.expect(200);
    for status in ["SHIPPED", "DELIVERED"] {
        admin.advance(&placed, status).await.expect(200);
    }
    let before = shop.dump().await;
    back(OTHER_SECRET, "r", things(1)).await.problem(Kind::NotFound);
    back(SECRET, "r", things(3)).await.problem(Kind::TooFewUnits);
    back(SECRET, "r", basket("nothing", 1)).await.problem(Kind::TooFewUnits);
    back(SECRET, "r", json!({})).await.problem(Kind::Validation);
    assert_eq!(shop.dump().await, before);

    let asked = back(SECRET, "r", things(1)).await;
    let location = asked.header("location").expect("a location").to_owned();
    let asked = asked.expect(201);
    assert_eq!(back(SECRET, "r", things(1)).await.expect(201), asked, "the same request again is the same return");
    assert_eq!(ask(&shop, SECRET, Method::GET, &location).await.expect(200)["returns"], json!([asked]));
    admin.receive(&asked, json!({ "accepted": true, "restock": true })).await.expect(200);
    assert_eq!(shop.available("thing").await, 9);
    shop.set(
        &format!("o#{}", order_id(&placed)),
        &format!("o#{}", order_id(&placed)),
        "deliveredAt",
        json!({ "S": "2026-01-01T12:00:00.000Z" }),
    )
    .await;
    back(SECRET, "late", things(1)).await.problem(Kind::WithdrawalOver);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_blocks_nobodys_address_and_nobody_blocks_a_guests() {
    let shop = shop().await;
    shop.introduce(SECRET, json!({ "email": "ada@example.com", "name": "Ada" })).await.expect(201);
    shop.introduce(OTHER_SECRET, json!({ "email": "ada@example.com", "name": "Ada" })).await.expect(201);
    shop.introduce(SECRET, grace()).await.problem(Kind::AlreadyExists);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_secret_is_refused_and_a_guest_s_path_leads_to_no_order_of_others() {
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let (placed, adas) = (shop.guest_order(SECRET, "k", things(1)).await.expect(201), shop.customer("ada"));
    let adas = adas.order("k", things(1)).await.expect(201);
    let before = shop.dump().await;
    ask(&shop, "", Method::POST, &format!("/guests/{ID}/orders")).await.problem(Kind::Validation);
    for (method, part) in
        [(Method::GET, ""), (Method::GET, "/invoice/page"), (Method::POST, "/cancellation"), (Method::POST, "/payment")]
    {
        let (own, foreign) = (path(&placed) + part, path(&adas) + part);
        shop.nobody().send(method.clone(), &own, &[], None).await.problem(Kind::Validation);
        ask(&shop, &SECRET[1..], method.clone(), &own).await.problem(Kind::Validation);
        ask(&shop, SECRET, method, &foreign).await.problem(Kind::NotFound);
    }
    shop.customer("ada").get(&format!("/orders/{}", order_id(&placed))).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_is_a_guests() {
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let placed = shop.guest_order(SECRET, "k", things(1)).await.expect(201);
    let id = order_id(&placed);
    shop.customer(ID).get(&format!("/orders/{id}")).await.problem(Kind::Unauthorized);
    shop.customer(ID).order("other", things(1)).await.problem(Kind::Unauthorized);
    shop.customer(ID).get(&format!("/customers/{ID}")).await.problem(Kind::Unauthorized);
    let sign_up = json!({ "username": "grace", "email": "grace@example.com", "name": "Grace", "customerId": ID });
    shop.admin().post("/customers", sign_up).await.problem(Kind::Validation);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_means_the_same_guest_and_the_same_order() {
    let shop = shop().await;
    let first = shop.introduce(SECRET, grace()).await.expect(201);
    let again = shop.introduce(SECRET, grace()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), first);

    // Several at once, as after a timeout.
    let orders = (0..4).map(|_| shop.guest_order(SECRET, "k", things(1)));
    let placed: Vec<_> = futures_util::future::join_all(orders).await.into_iter().map(|it| it.expect(201)).collect();
    assert!(placed.iter().all(|order| *order == placed[0]), "{placed:?}");
    shop.guest_order(SECRET, "k", things(2)).await.problem(Kind::IdempotencyKeyReused);
    assert_eq!(shop.available("thing").await, 9);

    // The guest stays kept if the introduction arrives once more.
    shop.introduce(SECRET, grace()).await.expect(201);
    assert!(guest_item(&shop).await["expiresAt"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_first_orders_at_once_are_both_placed() {
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let (one, other) = tokio::join!(shop.guest_order(SECRET, "1", things(1)), shop.guest_order(SECRET, "2", things(1)));
    assert_ne!(one.expect(201)["orderId"], other.expect(201)["orderId"]);
    assert!(guest_item(&shop).await["expiresAt"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_guest_orders_nothing_and_may_be_introduced_again() {
    let shop = shop().await;
    shop.guest_order(SECRET, "k", things(1)).await.problem(Kind::NotFound);
    shop.introduce(SECRET, grace()).await.expect(201);
    expire(&shop).await;
    shop.guest_order(SECRET, "k", things(1)).await.problem(Kind::NotFound);
    assert_eq!(shop.available("thing").await, 10);
    shop.introduce(SECRET, json!({ "email": "other@example.com", "name": "Grace" })).await.expect(201);
    shop.guest_order(SECRET, "k", things(1)).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_who_expires_while_the_order_is_placed_gets_no_order() {
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    // The transaction is about the guest.
    let guest = json!({ "orderId": ID });
    let reply = shop.overtaken(&guest, "TransactWriteItems", shop.guest_order(SECRET, "k", things(1)), async || {
        expire(&shop).await;
    });
    reply.await.problem(Kind::NotFound);
    assert_eq!(shop.available("thing").await, 10);
}

/// The queue and the waiting room are of customers.
#[tokio::test(flavor = "multi_thread")]
async fn a_guests_order_never_waits_in_the_queue() {
    let shop = Shop::open_with(|template| {
        drain_source(template).enabled = false;
        set_everywhere(template, "WAITING_ROOM_ORDERS", "1");
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let headers = [("guest-secret", SECRET), ("idempotency-key", "k"), ("prefer", "respond-async")];
    let orders = format!("/guests/{ID}/orders");
    let send = async || shop.nobody().send(Method::POST, &orders, &headers, Some(things(1).to_string())).await;
    let placed = send().await.expect(201);
    for key in ["one", "other"] {
        order_later(&shop.customer("ada"), key, things(1)).await;
    }
    // An environment believes the length of the queue for a second.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    shop.try_guest_order(SECRET, "late", things(1)).await.problem(Kind::Throttled);
    assert_eq!(send().await.expect(201), placed, "an order that is placed is there");
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    shop.try_guest_order(SECRET, "no capacity", things(1)).await.problem(Kind::Throttled);
    assert_eq!(shop.queued().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_with_orders_is_history() {
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    shop.introduce(OTHER_SECRET, grace()).await.expect(201);
    shop.guest_order(SECRET, "k", things(1)).await.expect(201);
    let other = Shop::open().await;
    let source = copied(&shop, &other).await;
    let file = exported(&other).await;
    assert_eq!(file.lines().filter(|line| line.contains(r#""type":"guest""#)).count(), 1, "the other one expires");
    assert_eq!(imported(&other, &source, &open()).await.0.new, 0);
    other.guest_order(SECRET, "again", things(1)).await.expect(201);
}

#[tokio::test]
async fn neither_the_table_nor_the_log_has_the_secret() {
    let (log, _logging) = Log::begin();
    let shop = shop().await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let placed = shop.guest_order(SECRET, "k", things(1)).await.expect(201);
    ask(&shop, SECRET, Method::GET, &path(&placed)).await.expect(200);
    ask(&shop, &SECRET[1..], Method::GET, &path(&placed)).await.problem(Kind::Validation);
    let kept = format!("{:?}{}", shop.dump().await, log.take());
    assert!(!kept.contains(&SECRET[1..]), "the secret is kept");
}
