//! A retry after a lost answer or an inconsistent read is distinguished from another client's change.

use devstack::fault_proxy::Gate;

use super::Change::{Cancel, Capture, Ship};
use super::{ask, shop_with_order};
use crate::prelude::*;

/// Waits until a function has made this call.
async fn until_asked(shop: &Shop, action: &str) {
    let is_asked = async || shop.fault_proxy().calls().iter().any(|call| call.action == action);
    until(format!("{action} is asked"), is_asked).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shipment_is_not_refused_because_of_an_inconsistent_read() {
    let (shop, order) = shop_with_order().await;
    ask(&shop.admin(), &order, Capture).await.expect(200);
    let (order_id, invoice_id) = (order_id(&order), invoice_id(&order));
    let captured = shop.item(&format!("o#{order_id}"), &format!("i#{invoice_id}")).await;
    // Like a Query that reads the header after the transaction and the invoice before it.
    let mut stale = captured.clone();
    stale["payments"]["L"][1]["M"].as_object_mut().expect("a map").remove("transfer");
    let put = async |item: &Value| shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": item })).await;
    put(&stale).await;
    shop.fault_proxy().take_calls();
    let (admin, look) = (shop.admin(), Match::action("TransactGetItems"));
    let (reply, ()) = shop.held(look, ask(&admin, &order, Ship), async || drop(put(&captured).await)).await;
    assert_eq!(reply.expect(200)["status"], "SHIPPED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_does_not_make_the_only_shipment_look_like_a_replay() {
    let (shop, order) = shop_with_order().await;
    ask(&shop.admin(), &order, Capture).await.expect(200);
    shop.fault_proxy().take_calls();
    shop.fault_proxy().inject(Match::action("UpdateItem"), Fault::CutAfter, 1);
    // The order is read again after the answer was lost.
    let gate = Gate::closed();
    shop.fault_proxy().inject_after(1, Match::action("Query"), Fault::Held(gate.clone()), 1);
    let (admin, shipped) = (shop.admin(), order.clone());
    let asking = tokio::spawn(async move { ask(&admin, &shipped, Ship).await });
    until_asked(&shop, "UpdateItem").await;
    let order_id = order_id(&order);
    let set =
        "SET EntityType = :kind, orderId = :order, reason = :kind, flaggedAt = :at, GSI1PK = :gsi, GSI1SK = :sort";
    let at = "2026-11-22T00:00:00.000Z";
    shop.update(
        &format!("o#{order_id}"),
        "flag",
        set,
        &json!({
            ":kind": { "S": "orderFlag" }, ":order": { "S": order_id }, ":at": { "S": at },
            ":gsi": { "S": "flagged" }, ":sort": { "S": format!("{at}#{order_id}") },
        }),
    )
    .await;
    gate.open();
    let reply = asking.await.expect("a reply");
    assert_eq!(reply.header("idempotent-replayed"), None);
    let order = reply.expect(200);
    assert_eq!((&order["status"], order["flag"].is_object()), (&json!("SHIPPED"), true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_whose_answer_was_lost_is_applied_once() {
    let all = [
        (Capture, "TransactWriteItems", "PAID"),
        (Cancel, "TransactWriteItems", "CANCELLED"),
        (Ship, "UpdateItem", "SHIPPED"),
    ];
    for (change, action, becomes) in all {
        for (fault, times) in [(Fault::CutAfter, 1), (Fault::CutAfter, 3), (Fault::CutBefore, 3)] {
            let (shop, order) = shop_with_order().await;
            if change == Ship {
                ask(&shop.admin(), &order, Capture).await.expect(200);
            }
            shop.fault_proxy().inject(Match::action(action), fault.clone(), times);
            let reply = ask(&shop.admin(), &order, change).await;
            // It is not a replay: the caller who informs the customer must know that the change was its own.
            assert_eq!(reply.header("idempotent-replayed"), None, "{change:?}, {fault:?} x {times}");
            reply.expect(200);
            shop.fault_proxy().heal();
            invariants::hold(&shop).await;
            assert_eq!(shop.admin().status(&order).await, becomes);
        }
    }
}
