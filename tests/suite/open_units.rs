//! The cap of open units: a customer cannot reserve more stock than the shop allows without paying for it.

use shop::queue::drain_source;
use shop::set_everywhere;

use crate::prelude::*;
use crate::queue::settled;

const MOST: u64 = 5;

/// A shop with this cap that counts, and whose queued orders are placed.
async fn capped(most: u64) -> Shop {
    let shop = Shop::open_with(|template| {
        let count = template.stream_sources.iter_mut().find(|source| source.function == "CountOrders");
        count.expect("count-orders").enabled = true;
        drain_source(template).enabled = true;
        set_everywhere(template, "MAX_OPEN_UNITS", &most.to_string());
    })
    .await;
    for customer in ["ada", "bob"] {
        shop.sign_up(customer).await;
    }
    shop.product("thing", 1000, 1000).await;
    shop
}

/// The number of open units of ada, as it is counted.
async fn open_units(shop: &Shop) -> Value {
    shop.settle().await;
    shop.item("c#ada", "stats").await["openUnits"]["N"].clone()
}

fn paid(order: &Value) -> (String, Value) {
    let id = invoice_id(order);
    (format!("/invoices/{id}/payments"), json!({ "reference": "bank-1" }))
}

fn cancelled(order: &Value) -> (String, Value) {
    (format!("/orders/{}/cancellation", order_id(order)), json!({}))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_beyond_the_cap_is_refused_until_units_are_paid_or_cancelled() {
    let shop = capped(MOST).await;
    let (ada, bob, admin) = (shop.customer("ada"), shop.customer("bob"), shop.admin());
    let first = ada.order("first", things(3)).await.expect(201);
    assert_eq!(open_units(&shop).await, "3");
    let second = ada.order("second", things(2)).await.expect(201);
    assert_eq!(open_units(&shop).await, "5", "as many as allowed");

    let before = shop.dump().await;
    let problem = ada.order("third", things(1)).await.problem(Kind::OpenUnits);
    assert_eq!((&problem["open"], &problem["allowed"]), (&json!(5), &json!(MOST)));
    assert_eq!(shop.dump().await, before, "a refused order wrote something");
    let replayed = ada.order("first", things(3)).await;
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"), "a replay is not refused");
    assert_eq!(replayed.expect(201)["orderId"], first["orderId"]);
    bob.order("first", things(MOST)).await.expect(201);

    // Each order gives its units back once, when it is paid or cancelled.
    for (order, (client, (path, body)), left) in
        [(&first, (&admin, paid(&first)), "2"), (&second, (&ada, cancelled(&second)), "0")]
    {
        for _ in 0..2 {
            client.post(&path, body.clone()).await.expect(200);
            assert_eq!(open_units(&shop).await, left, "{order}");
        }
    }
    admin.cancel(&first, json!({})).await.expect(200);
    assert_eq!(open_units(&shop).await, "0", "a paid order has no open units to give back");
    ada.order("third", things(MOST)).await.expect(201);
    assert_eq!(open_units(&shop).await, "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn units_that_are_cancelled_alone_are_not_open_any_more() {
    let shop = capped(MOST).await;
    let ada = shop.customer("ada");
    let order = ada.order("first", things(MOST)).await.expect(201);
    assert_eq!(open_units(&shop).await, "5");
    // All units that are cancelled in the end, so the second request cancels one more.
    for (cancelled, left) in [(3, "2"), (3, "2"), (4, "1")] {
        ada.cancel(&order, things(cancelled)).await.expect(200);
        assert_eq!(open_units(&shop).await, left);
    }
    ada.order("second", things(MOST)).await.problem(Kind::OpenUnits);
    shop.admin().post(&paid(&order).0, paid(&order).1).await.expect(200);
    assert_eq!(open_units(&shop).await, "0", "the units that were left");
    ada.order("second", things(MOST)).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_gift_cards_pay_has_no_open_units_and_passes() {
    let shop = capped(MOST).await;
    let ada = shop.customer("ada");
    shop.gift_card("RICH", 50_000).await;
    ada.order("first", things(MOST)).await.expect(201);
    shop.settle().await;
    let by_gift_card = json!({ "lines": things(10)["lines"], "giftCards": ["RICH"] });
    assert_eq!(ada.order("second", by_gift_card).await.expect(201)["status"], "PAID");
    assert_eq!(open_units(&shop).await, "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_order_beyond_the_cap_is_refused_with_the_same_problem() {
    let shop = capped(MOST).await;
    let ada = shop.customer("ada");
    ada.order("first", things(MOST)).await.expect(201);
    shop.settle().await;
    let refused = settled(&ada, &order_later(&ada, "second", things(1)).await).await;
    assert_eq!(refused["status"], "REJECTED", "{refused}");
    let problem = &refused["problem"];
    assert_eq!(problem["type"], "/problems/open-units", "{refused}");
    assert_eq!((&problem["open"], &problem["allowed"]), (&json!(5), &json!(MOST)));
}

/// The transaction was committed, its answer was lost, and by the time of the next read its own units are counted.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_not_refused_because_of_its_own_units() {
    let shop = capped(MOST).await;
    let ada = shop.customer("ada");
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 3);
    let answer = ada.order("first", things(MOST)).await;
    assert!([201, 503].contains(&answer.status), "{}", answer.body);
    assert_eq!(open_units(&shop).await, "5");
    assert_eq!(ada.order("first", things(MOST)).await.expect(201)["total"], eur(5000));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cap_nothing_is_refused_and_no_stats_are_read() {
    for (most, reads) in [(0, false), (MOST, true)] {
        let shop = capped(most).await;
        let ada = shop.customer("ada");
        shop.settle().await;
        shop.fault_proxy().take_calls();
        let placed = ada.order("first", things(MOST + 1)).await;
        assert_eq!(placed.status, if reads { Kind::OpenUnits.status().as_u16() } else { 201 }, "{}", placed.body);
        let calls = shop.fault_proxy().take_calls();
        let read = calls.iter().find(|call| call.action == "BatchGetItem").expect("a read");
        assert_eq!(read.request.to_string().contains("\"stats\""), reads, "{}", read.request);
    }
}
