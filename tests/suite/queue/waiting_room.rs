//! The waiting room: while many orders wait, new ones go to the queue first.

use devstack::Template;
use shop::queue::{QUEUE, drain_source};

use super::{assert_accepted, settled, stocked};
use crate::prelude::*;

/// The most orders that wait while others are still placed at once.
const MOST: u64 = 2;

/// More than the time for which an environment believes the length of the queue.
const BELIEVED: Duration = Duration::from_millis(1_200);

fn with_waiting_room(template: &mut Template) {
    for function in template.functions.iter_mut().filter(|function| function.handler == "place-order") {
        function.environment.insert("WAITING_ROOM_ORDERS".to_owned(), MOST.to_string());
    }
}

/// A shop with a waiting room whose queued orders are placed only by the test, and with more orders in the queue than the
/// waiting room needs.
async fn rush() -> (Shop, Client) {
    let template = |template: &mut Template| {
        drain_source(template).enabled = false;
        with_waiting_room(template);
    };
    let shop = stocked(Shop::open_with(template).await).await;
    let ada = shop.customer("ada");
    for at in 0..=MOST {
        assert_accepted(&order_later(&ada, &format!("early-{at}"), things(1)).await);
    }
    tokio::time::sleep(BELIEVED).await;
    shop.fault_proxy().take_calls();
    (shop, ada)
}

#[tokio::test(flavor = "multi_thread")]
async fn while_many_orders_wait_a_new_one_waits_behind_them_and_its_customer_is_told_how_long() {
    let (shop, ada) = rush().await;
    // The table has capacity, and the stock has units.
    let reply = ada.order("late", things(1)).await;
    assert_accepted(&reply);
    assert_eq!(reply.header("preference-applied"), None, "the request had no Prefer header");
    // 3 orders of 10 units each, at 200 units a second.
    assert_eq!(reply.header("retry-after"), Some("1"));
    let calls: Vec<_> = shop.fault_proxy().take_calls().into_iter().map(|call| call.action).collect();
    assert_eq!(calls, ["BatchGetItem", "PutItem"], "it is quoted, and not placed");
    let again = ada.order("late", things(1)).await;
    assert_accepted(&again);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));

    let messages = shop.take_messages().await;
    shop.drain(&messages).await;
    assert_eq!(settled(&ada, &reply).await["status"], "PENDING");
    assert_eq!(shop.available("thing").await, 10 - MOST - 2);
    tokio::time::sleep(BELIEVED).await;
    ada.order("calm", things(1)).await.expect(201);
    // An order that was placed from the queue is replayed as placed.
    let placed = ada.order("late", things(1)).await;
    assert_eq!((placed.status, placed.header("idempotent-replayed")), (201, Some("true")));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_pays_at_most_the_price_at_which_the_wait_began() {
    let (shop, ada) = rush().await;
    let reply = ada.order("late", things(1)).await;
    assert_accepted(&reply);
    shop.admin().patch("/products/thing", "*", json!({ "price": eur(1001) })).await.expect(200);
    let messages = shop.take_messages().await;
    shop.drain(&messages).await;
    let order = settled(&ada, &reply).await;
    assert_eq!(order["problem"]["type"], "/problems/price-changed", "{order}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_cannot_be_placed_is_refused_before_it_waits() {
    let (shop, ada) = rush().await;
    let before = (shop.queued().await, shop.dump().await);
    ada.order("too many", things(11)).await.problem(Kind::OutOfStock);
    assert_eq!((shop.queued().await, shop.dump().await), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_the_total_that_its_customer_expects_waits_without_reading_the_product() {
    let (shop, ada) = rush().await;
    let mut other_price = things(1);
    other_price["expectedTotal"] = eur(999);
    let reply = ada.order("other price", other_price).await;
    assert_accepted(&reply);
    let calls: Vec<_> = shop.fault_proxy().take_calls().into_iter().map(|call| call.action).collect();
    assert_eq!(calls, ["Query", "PutItem"], "whether it was placed before, and that it waits");
    let messages = shop.take_messages().await;
    shop.drain(&messages).await;
    assert_eq!(settled(&ada, &reply).await["problem"]["type"], "/problems/price-changed");
}

/// A customer who expects no total would wait for any price, if the price cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn without_capacity_to_quote_an_order_waits_only_with_a_total_that_its_customer_expects() {
    let (shop, ada) = rush().await;
    let throttle = Fault::Throttle { reason: "TableReadProvisionedThroughputExceeded", resource: "arn".to_owned() };
    shop.fault_proxy().inject(Match::action("BatchGetItem"), throttle, usize::MAX);
    let mut expected = things(1);
    expected["expectedTotal"] = eur(1000);
    assert_accepted(&ada.order("expected", expected).await);
    ada.order("any", things(1)).await.problem(Kind::Throttled);
    shop.fault_proxy().heal();
}

#[tokio::test(flavor = "multi_thread")]
async fn if_nobody_knows_the_length_of_the_queue_there_is_no_waiting_room() {
    let shop = stocked(Shop::open_with(with_waiting_room).await).await;
    shop.sqs("DeleteQueue", QUEUE, json!({})).await;
    shop.customer("ada").order("k", things(1)).await.expect(201);
}
