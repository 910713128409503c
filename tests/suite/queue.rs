//! Queued orders: their representation in the API, and their outcomes.

mod accepting;
mod waiting_room;

use shop::openapi;
use shop::queue::no_longer_queued;

use crate::prelude::*;

/// The number of attempts that the SDK makes for one call.
const GIVE_UP: usize = 3;

fn throttle(reason: &'static str) -> Fault {
    Fault::Throttle { reason, resource: "arn".to_owned() }
}

/// Adds products and the customer ada to a shop.
async fn stocked(shop: Shop) -> Shop {
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.fault_proxy().take_calls();
    shop
}

async fn shop() -> Shop {
    stocked(Shop::open().await).await
}

/// A shop whose queued orders are placed only by the test.
async fn idle_shop() -> Shop {
    stocked(Shop::open_undrained().await).await
}

/// Polls the reply's `Location` until the order is not queued any more.
pub async fn settled(client: &Client, reply: &Reply) -> Value {
    no_longer_queued(client, reply.header("location").expect("a location")).await
}

fn assert_accepted(reply: &Reply) {
    assert_eq!(reply.status, 202, "{}", reply.body);
    assert_eq!(reply.body["status"], "QUEUED");
    let location = format!("/orders/{}", order_id(&reply.body));
    assert_eq!(reply.header("location"), Some(location.as_str()));
    assert!(reply.header("retry-after").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_prefers_to_be_queued_is_placed() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(2)).await;
    assert_accepted(&reply);
    assert_eq!(reply.header("preference-applied"), Some("respond-async"));
    assert_eq!(reply.header("idempotent-replayed"), None);

    let order = settled(&ada, &reply).await;
    assert_eq!((&order["orderId"], &order["total"]), (&reply.body["orderId"], &eur(2000)));
    assert_eq!(shop.available("thing").await, 8);
    // It is the same order that the request places without the header.
    let again = ada.order("k", things(2)).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), order);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_capacity_is_queued() {
    for reason in [
        "TableWriteProvisionedThroughputExceeded",
        "IndexWriteProvisionedThroughputExceeded",
        "TableWriteMaxOnDemandThroughputExceeded",
        "IndexWriteMaxOnDemandThroughputExceeded",
    ] {
        let shop = shop().await;
        let ada = shop.customer("ada");
        // Once: the function does not retry, because it can queue the order.
        shop.fault_proxy().inject(commit(), throttle(reason), 1);
        let reply = ada.order("k", things(1)).await;
        assert_accepted(&reply);
        assert_eq!(reply.header("preference-applied"), None, "the request had no Prefer header");
        assert_eq!(shop.fault_proxy().pending(), 0);
        assert_eq!(settled(&ada, &reply).await["status"], "PENDING", "{reason}");
        assert_eq!(shop.available("thing").await, 9);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_transaction_or_reads_lack_capacity_is_queued() {
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
async fn a_hot_key_causes_backoff_and_an_account_quota_causes_a_503() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    // More often than the SDK retries.
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
async fn only_the_customer_of_a_queued_order_can_see_it() {
    let shop = idle_shop().await;
    shop.sign_up("bob").await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(1)).await;
    let path = reply.header("location").expect("a location").to_owned();
    assert_eq!(ada.get(&path).await.expect(200), reply.body);
    assert_eq!(shop.admin().get(&path).await.expect(200), reply.body);
    shop.customer("bob").get(&path).await.problem(Kind::NotFound);
    shop.customer("bob").post(&format!("{path}/cancellation"), json!({})).await.problem(Kind::NotFound);
    ada.get("/orders/never-was").await.problem(Kind::NotFound);
    assert_eq!(ada.get("/customers/ada/orders").await.expect(200)["items"], json!([]));
}

/// Whatever a client asks of an order that is not placed, the answer says so; and when to ask again, if that helps.
#[tokio::test(flavor = "multi_thread")]
async fn every_route_of_an_order_in_the_queue_says_that_it_waits() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let waiting = order_later(&ada, "k", things(1)).await;
    let hopeless = order_later(&ada, "much", things(11)).await;
    let messages = shop.take_messages().await;
    let of_hopeless =
        messages.iter().find(|message| message["body"].as_str().is_some_and(|body| body.contains("\"quantity\":11")));
    shop.drain(std::slice::from_ref(of_hopeless.expect("a message"))).await;
    for (order, status) in [(order_id(&waiting.body), "QUEUED"), (order_id(&hopeless.body), "REJECTED")] {
        let mut asked = 0;
        for (template, operations) in openapi::document()["paths"].as_object().expect("paths") {
            let path = template.replace("{orderId}", order).replace("{invoiceId}", &format!("inv-{order}"));
            for (method, operation) in operations.as_object().expect("operations") {
                let is_of_order = template.starts_with("/orders/{orderId}/");
                let changes_invoice = template.starts_with("/invoices/{invoiceId}/") && method == "post";
                if !(is_of_order || changes_invoice) || (template.ends_with("/flag") && method == "delete") {
                    continue;
                }
                let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
                let mut body = (!schema.is_null()).then(|| shop::openapi::sample(schema));
                if let Some(body) = body.as_mut().and_then(Value::as_object_mut) {
                    body.retain(|name, _| name != "trackingUrl" && name != "amount");
                    if template.ends_with("/credits") {
                        body.insert("amount".to_owned(), eur(1));
                    }
                    if template.ends_with("/status") {
                        body.insert("status".to_owned(), json!("SHIPPED"));
                    }
                }
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
                let headers = [("idempotency-key", "k")];
                let reply = shop.admin().send(method.clone(), &path, &headers, body.map(|body| body.to_string())).await;
                assert_eq!(reply.header("retry-after").is_some(), status == "QUEUED", "{method} {path}");
                let problem = reply.problem(Kind::NotPlaced);
                assert_eq!(problem["orderStatus"], status, "{method} {path}");
                asked += 1;
            }
        }
        assert!(asked >= 12, "{asked} routes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_one_order_whether_it_is_queued_or_placed_at_once() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let first = order_later(&ada, "k", things(1)).await;
    let table = shop.dump().await;

    let again = order_later(&ada, "k", things(1)).await;
    assert_accepted(&again);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    order_later(&ada, "k", things(2)).await.problem(Kind::IdempotencyKeyReused);
    assert_eq!(shop.dump().await, table);

    // Placed at once, it is the same order, and the queued message places no other.
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
async fn a_queued_order_that_cannot_be_placed_is_rejected_with_its_reason() {
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
        // The same problem as without the queue.
        assert_eq!(refused["problem"], ada.order(key, body.clone()).await.body);
    }
    assert_eq!(shop.available("thing").await, 10);
    // If the message is delivered again, the order stays refused, even if it could be placed by now.
    shop.admin().post_if("/products/thing/stock", "*", json!({ "delta": 5 })).await.expect(200);
    let table = shop.dump().await;
    assert_eq!(shop.drain(&messages).await, json!({ "batchItemFailures": [] }));
    assert_eq!(shop.dump().await, table);

    // If the order is requested again, it is queued again, and placed.
    let again = order_later(&ada, "much", things(11)).await;
    assert_accepted(&again);
    assert_eq!(again.header("idempotent-replayed"), None);
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(settled(&ada, &again).await["status"], "PENDING");
    assert_eq!(shop.available("thing").await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_duplicate_of_a_refused_message_does_not_refuse_the_order_that_was_requested_again() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    order_later(&ada, "k", things(11)).await;
    let first = shop.take_messages().await;
    shop.drain(&first).await;
    // Under the same key, with the same request and with another one.
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
async fn the_key_of_a_queued_order_cannot_be_used_for_another_request() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let waiting = order_later(&ada, "k", things(3)).await;
    // Without the header, another request is refused. The same request places the order, or the order stays queued.
    ada.order("k", things(2)).await.problem(Kind::IdempotencyKeyReused);
    shop.admin().post_if("/products/thing/stock", "*", json!({ "delta": -8 })).await.expect(200);
    let reply = ada.order("k", things(3)).await;
    assert_accepted(&reply);
    assert_eq!((reply.header("idempotent-replayed"), &reply.body), (Some("true"), &waiting.body));
    assert_eq!(reply.header("preference-applied"), None);
    assert_eq!(shop.queued().await, 2, "whether the first was ever sent is written nowhere");
    shop.admin().post_if("/products/thing/stock", "*", json!({ "delta": 8 })).await.expect(200);
    ada.order("k", things(3)).await.expect(201);
    shop.drain(&shop.take_messages().await).await;
    assert_eq!(shop.available("thing").await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_prefers_to_be_queued_is_queued_even_if_reads_are_throttled() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    shop.fault_proxy().inject(Match::action("Query"), throttle("TableReadProvisionedThroughputExceeded"), GIVE_UP);
    assert_accepted(&order_later(&ada, "k", things(1)).await);
    assert_eq!(shop.fault_proxy().pending(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_order_has_the_prices_of_the_time_of_placement() {
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
async fn an_order_that_was_queued_for_lack_of_capacity_costs_no_more_than_its_quote() {
    let shop = idle_shop().await;
    let ada = shop.customer("ada");
    let set_price = async |price: u64| {
        let body = json!({ "price": eur(price) }).to_string();
        shop.admin().send(Method::PATCH, "/products/thing", &[("if-match", "*")], Some(body)).await.expect(200);
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
            // Repeating the request accepts the new price.
            assert_eq!(ada.order(key, things(1)).await.expect(201)["total"], eur(later));
        }
    }
    assert_eq!(shop.available("thing").await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_a_known_price_is_queued_only_with_the_prefer_header() {
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
