//! Orders that wait: what the API says of them, and what becomes of them.

mod accepting;

use std::time::{Duration, Instant};

use http_api::Kind;
use local::fault_proxy::{Fault, Match};
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop::{Client, Reply, Shop, eur};

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Of so many attempts the SDK makes for one call, none succeeds.
const GIVE_UP: usize = 3;

fn commit() -> Match {
    Match::action("TransactWriteItems")
}

fn throttle(reason: &'static str) -> Fault {
    Fault::Throttle { reason, resource: "arn".to_owned() }
}

pub fn things(quantity: u64) -> Value {
    json!({ "lines": [{ "productId": "thing", "quantity": quantity }] })
}

/// A shop that sells things, where ada is a customer.
async fn stocked(shop: Shop) -> Shop {
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.fault_proxy().take_calls();
    shop
}

async fn shop() -> Shop {
    stocked(Shop::open().await).await
}

/// A shop where nobody places what waits, until the test says so.
async fn idle_shop() -> Shop {
    stocked(Shop::open_with(|template| template.queue_sources[0].enabled = false).await).await
}

/// Orders without waiting for the order.
pub async fn order_later(client: &Client, key: &str, body: Value) -> Reply {
    let headers = [("idempotency-key", key), ("prefer", "respond-async")];
    client.send(Method::POST, "/orders", &headers, Some(body.to_string())).await
}

/// ReadPlan where the reply says until the order no longer waits.
pub async fn settled(client: &Client, reply: &Reply) -> Value {
    let location = reply.header("location").expect("a location").to_owned();
    let begin = Instant::now();
    loop {
        let order = client.get(&location).await.expect(200);
        if order["status"] != "QUEUED" {
            return order;
        }
        assert!(begin.elapsed() < PATIENCE, "{order} still waits");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn assert_accepted(reply: &Reply) {
    assert_eq!(reply.status, 202, "{}", reply.body);
    assert_eq!(reply.body["status"], "QUEUED");
    let location = format!("/orders/{}", reply.body["orderId"].as_str().expect("an id"));
    assert_eq!(reply.header("location"), Some(location.as_str()));
    assert!(reply.header("retry-after").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_need_not_be_placed_at_once_is_placed_all_the_same() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(2)).await;
    assert_accepted(&reply);
    assert_eq!(reply.header("preference-applied"), Some("respond-async"));
    assert_eq!(reply.header("idempotent-replayed"), None);

    let order = settled(&ada, &reply).await;
    assert_eq!((&order["orderId"], &order["total"]), (&reply.body["orderId"], &eur(2000)));
    assert_eq!(shop.available("thing").await, 8);
    // It is the order that the same request places at once.
    let again = ada.order("k", things(2)).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), order);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_for_which_there_is_no_capacity_waits() {
    for reason in [
        "TableWriteProvisionedThroughputExceeded",
        "IndexWriteProvisionedThroughputExceeded",
        "TableWriteMaxOnDemandThroughputExceeded",
        "IndexWriteMaxOnDemandThroughputExceeded",
    ] {
        let shop = shop().await;
        let ada = shop.customer("ada");
        // Once: it is not asked again, for the queue is there.
        shop.fault_proxy().inject(commit(), throttle(reason), 1);
        let reply = ada.order("k", things(1)).await;
        assert_accepted(&reply);
        assert_eq!(reply.header("preference-applied"), None, "nobody had asked for it");
        assert_eq!(shop.fault_proxy().pending(), 0);
        assert_eq!(settled(&ada, &reply).await["status"], "PENDING", "{reason}");
        assert_eq!(shop.available("thing").await, 9);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn so_does_one_whose_transaction_was_cancelled_or_whose_reads_were_throttled() {
    let cancel = |code| Fault::Cancel { item: 1, code, message: "Throughput exceeds the current capacity" };
    for (matching, fault, times) in [
        (commit(), cancel("ProvisionedThroughputExceeded"), 1),
        (commit(), cancel("ThrottlingError"), 1),
        (Match::action("BatchGetItem"), throttle("TableReadProvisionedThroughputExceeded"), GIVE_UP),
    ] {
        let shop = shop().await;
        let ada = shop.customer("ada");
        shop.fault_proxy().inject(matching, fault, times);
        let mut body = things(1);
        body["expectedTotal"] = eur(1000);
        let reply = ada.order("k", body).await;
        assert_accepted(&reply);
        assert_eq!(shop.fault_proxy().pending(), 0);
        assert_eq!(settled(&ada, &reply).await["status"], "PENDING");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hot_key_is_backed_off_from_and_an_accounts_quota_is_told() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    // More often than the SDK asks.
    shop.fault_proxy().inject(commit(), throttle("TableWriteKeyRangeThroughputExceeded"), GIVE_UP + 2);
    ada.order("hot", things(1)).await.expect(201);
    assert_eq!(shop.fault_proxy().pending(), 0);

    shop.fault_proxy().inject(commit(), throttle("TableWriteAccountLimitExceeded"), GIVE_UP);
    let reply = ada.order("quota", things(1)).await;
    assert!(reply.header("retry-after").is_some());
    reply.problem(Kind::Throttled);
    assert_eq!(shop.queued().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_is_told_so_and_others_are_told_nothing() {
    let shop = idle_shop().await;
    shop.sign_up("bob").await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(1)).await;
    let path = reply.header("location").expect("a location").to_owned();
    assert_eq!(ada.get(&path).await.expect(200), reply.body);
    assert_eq!(shop.admin().get(&path).await.expect(200), reply.body);
    shop.customer("bob").get(&path).await.problem(Kind::NotFound);
    // There is no order yet of which anything else could be said.
    ada.get(&format!("{path}/products")).await.problem(Kind::NotFound);
    ada.get(&format!("{path}/invoice")).await.problem(Kind::NotFound);
    ada.post(&format!("{path}/cancellation"), json!({})).await.problem(Kind::NotFound);
    ada.get("/orders/never-was").await.problem(Kind::NotFound);
    assert_eq!(ada.get("/customers/ada/orders").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_is_one_order_whether_it_waits_or_not() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let first = order_later(&ada, "k", things(1)).await;
    let table = shop.dump().await;

    let again = order_later(&ada, "k", things(1)).await;
    assert_accepted(&again);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    order_later(&ada, "k", things(2)).await.problem(Kind::IdempotencyKeyReused);
    assert_eq!(shop.dump().await, table);

    // Placed at once, it is the same order; and what still waits of it places no other.
    let placed = ada.order("k", things(1)).await.expect(201);
    assert_eq!(placed["orderId"], first.body["orderId"]);
    let replayed = order_later(&ada, "k", things(1)).await;
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(replayed.expect(201), placed);
    order_later(&ada, "k", things(2)).await.problem(Kind::IdempotencyKeyReused);
    let table = shop.dump().await;
    for _ in 0..2 {
        assert_eq!(shop.drain(&shop.take_messages().await).await, json!({ "batchItemFailures": [] }));
    }
    assert_eq!(shop.dump().await, table);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_cannot_be_placed_when_its_turn_comes_says_why() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let mut expecting = things(1);
    expecting["expectedTotal"] = eur(999);
    let mut with_code = things(1);
    with_code["discountCode"] = json!("NONE");
    let hopeless = [("much", things(11)), ("cheap", expecting), ("code", with_code)];
    let mut replies = Vec::new();
    for (key, body) in &hopeless {
        replies.push(order_later(&ada, key, body.clone()).await);
    }
    let messages = shop.take_messages().await;
    shop.drain(&messages).await;

    for ((key, body), reply) in hopeless.iter().zip(&replies) {
        let refused = settled(&ada, reply).await;
        assert_eq!(refused["status"], "REJECTED");
        assert_eq!(refused["queuedAt"], reply.body["queuedAt"]);
        // As if it had not waited.
        assert_eq!(refused["problem"], ada.order(key, body.clone()).await.body);
    }
    assert_eq!(shop.available("thing").await, 10);
    // Delivered again, it was refused already; also when it could be placed by now.
    let admin = shop.admin();
    let headers = [("if-match", "*")];
    admin
        .send(Method::POST, "/products/thing/stock", &headers, Some(json!({ "delta": 5 }).to_string()))
        .await
        .expect(200);
    let table = shop.dump().await;
    assert_eq!(shop.drain(&messages).await, json!({ "batchItemFailures": [] }));
    assert_eq!(shop.dump().await, table);

    // Asked for again, it waits again, and fares better.
    let again = order_later(&ada, "much", things(11)).await;
    assert_accepted(&again);
    assert_eq!(again.header("idempotent-replayed"), None);
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(settled(&ada, &again).await["status"], "PENDING");
    assert_eq!(shop.available("thing").await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_copy_of_what_was_refused_does_not_refuse_what_was_asked_for_again() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    order_later(&ada, "k", things(11)).await;
    let first = shop.take_messages().await;
    shop.drain(&first).await;
    // Under the same key, for the same thing and for another.
    for body in [things(11), things(12)] {
        let again = order_later(&ada, "k", body).await;
        assert_accepted(&again);
        shop.drain(&first).await;
        let path = again.header("location").expect("a location").to_owned();
        assert_eq!(ada.get(&path).await.expect(200), again.body, "it waits for its own message");
        shop.drain(&shop.take_messages().await).await;
        assert_eq!(settled(&ada, &again).await["status"], "REJECTED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_waits_is_taken() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let waiting = order_later(&ada, "k", things(3)).await;
    // Whoever does not want to wait with another request is refused; with the same one, the order is placed, or its
    // copy waits on.
    ada.order("k", things(2)).await.problem(Kind::IdempotencyKeyReused);
    let headers = [("if-match", "*")];
    let less = json!({ "delta": -8 }).to_string();
    shop.admin().send(Method::POST, "/products/thing/stock", &headers, Some(less)).await.expect(200);
    let reply = ada.order("k", things(3)).await;
    assert_accepted(&reply);
    assert_eq!((reply.header("idempotent-replayed"), &reply.body), (Some("true"), &waiting.body));
    assert_eq!(reply.header("preference-applied"), None);
    assert_eq!(shop.queued().await, 2, "whether the first was ever sent is written nowhere");
    let more = json!({ "delta": 8 }).to_string();
    shop.admin().send(Method::POST, "/products/thing/stock", &headers, Some(more)).await.expect(200);
    ada.order("k", things(3)).await.expect(201);
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(shop.available("thing").await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_can_wait_waits_also_when_reads_are_throttled() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    shop.fault_proxy().inject(Match::action("Query"), throttle("TableReadProvisionedThroughputExceeded"), GIVE_UP);
    assert_accepted(&order_later(&ada, "k", things(1)).await);
    assert_eq!(shop.fault_proxy().pending(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_are_those_of_the_moment_it_is_placed() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let mut expecting = things(1);
    expecting["expectedTotal"] = eur(1000);
    let [carefree, careful] =
        [order_later(&ada, "carefree", things(1)).await, order_later(&ada, "careful", expecting).await];
    let headers = [("if-match", "*")];
    let price = json!({ "price": eur(1500) }).to_string();
    shop.admin().send(Method::PATCH, "/products/thing", &headers, Some(price)).await.expect(200);
    shop.drain(&shop.take_messages().await).await;

    assert_eq!(settled(&ada, &carefree).await["total"], eur(1500));
    let refused = settled(&ada, &careful).await;
    assert_eq!(refused["problem"]["type"], "/problems/price-changed");
    assert_eq!(refused["problem"]["total"], eur(1500));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_did_not_ask_to_wait_pays_no_more_than_the_quote() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let set_price = async |price: u64| {
        let body = json!({ "price": eur(price) }).to_string();
        let headers = [("if-match", "*")];
        shop.admin().send(Method::PATCH, "/products/thing", &headers, Some(body)).await.expect(200);
    };
    for (key, later, expected) in [("dearer", 1001, None), ("cheaper", 900, Some(900)), ("same", 1000, Some(1000))] {
        set_price(1000).await;
        shop.fault_proxy().inject(commit(), throttle("TableWriteProvisionedThroughputExceeded"), 1);
        let reply = ada.order(key, things(1)).await;
        assert_accepted(&reply);
        assert_eq!(reply.body["maxTotal"], eur(1000));
        set_price(later).await;
        shop.drain(&shop.take_messages().await).await;
        let order = settled(&ada, &reply).await;
        if let Some(total) = expected {
            assert_eq!(order["total"], eur(total), "{key}");
        } else {
            assert_eq!(order["problem"]["type"], "/problems/price-changed");
            assert_eq!(order["problem"]["total"], eur(later));
            // Whoever asks again agrees to the new price.
            assert_eq!(ada.order(key, things(1)).await.expect(201)["total"], eur(later));
        }
    }
    assert_eq!(shop.available("thing").await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_which_no_price_is_known_waits_only_if_its_client_wants_that() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let before = shop.dump().await;
    let no_reads = || {
        let reads = Match::action("BatchGetItem");
        shop.fault_proxy().inject(reads, throttle("TableReadProvisionedThroughputExceeded"), GIVE_UP);
    };
    no_reads();
    let reply = ada.order("k", things(1)).await;
    assert!(reply.header("retry-after").is_some());
    reply.problem(Kind::Throttled);
    assert_eq!((shop.dump().await, shop.queued().await), (before, 0));
    no_reads();
    let mut expecting = things(1);
    expecting["expectedTotal"] = eur(1000);
    let reply = ada.order("expecting", expecting).await;
    assert_accepted(&reply);
    assert_eq!(reply.body["maxTotal"], eur(1000));
}
