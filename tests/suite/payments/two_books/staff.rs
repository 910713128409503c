//! The work of staff: what neither the provider nor the customer does about a payment.

use local::pretend_provider::{Act, Answer, Call, DisputeStatus, Ledger, Status};
use shop::log::Log;

use super::super::{VISA, order, shop};
use super::{act, captured, card, lose, next, refunds, silence, sweep, work, write_off};
use crate::prelude::*;

/// The alarm `PaymentsNeedStaff` counts this metric.
// The log of a test is that of its thread, so everything runs in one thread.
#[tokio::test]
async fn staff_are_told_once_of_new_work() {
    let shop = shop().await;
    silence(&shop);
    let order = captured(&shop, "k").await;
    let (log, _logging) = Log::begin();
    let told = || log.take().contains("PaymentsForStaff");
    shop.tell(&order).await.expect(204);
    assert!(!told(), "nothing is to be done");
    act(&shop, Act::Dispute { intent: shop.intent(&order).id, amount: None, inquiry: false });
    shop.tell(&order).await.expect(204);
    assert!(told());
    shop.tell(&order).await.expect(204);
    assert!(!told(), "they know");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capture_that_the_provider_refuses_for_good_is_written_off() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.pay(&order, VISA).await;
    shop.await_payment(&order, "authorized").await;
    next(&shop, Call::CaptureIntent, Answer::Refused);
    shop.admin().capture(&order, None).await.expect(200);
    sweep(&shop).await;
    assert_eq!(work(&shop).await, ["missing"]);
    shop.admin().advance(&order, "SHIPPED").await.problem(Kind::InvalidTransition);
    let invoice = format!("/invoices/{}/write-offs", invoice_id(&order));
    let refused = shop.admin().post(&invoice, json!({ "amount": eur(100) })).await.problem(Kind::InvalidTransition);
    assert_eq!(refused["amount"], eur(2000));
    write_off(&shop, &order).await.expect(200);
    sweep(&shop).await;
    assert_eq!((work(&shop).await, shop.intent(&order).status), (Vec::<Value>::new(), Status::Canceled));
    invariants::hold(&shop).await;
}

/// An order that was delivered before its authorization lapsed.
#[tokio::test(flavor = "multi_thread")]
async fn a_lapsed_payment_of_a_delivered_order_is_paid_by_transfer_or_written_off() {
    let shop = Shop::open_paying_with(&[("CaptureWhen", "DEMAND")]).await;
    shop.product("thing", 1000, 10).await;
    for (key, by_transfer) in [("transfer", true), ("write-off", false)] {
        let order = order(&shop, key).await;
        shop.pay(&order, VISA).await;
        shop.await_payment(&order, "authorized").await;
        for status in ["SHIPPED", "DELIVERED"] {
            shop.admin().advance(&order, status).await.expect(200);
        }
        assert_eq!(work(&shop).await, ["capture"]);
        act(&shop, Act::Expire { intent: shop.intent(&order).id });
        until("staff are told", async || work(&shop).await == ["lapsed"]).await;
        if by_transfer {
            shop.admin().capture(&order, "bank-1").await.expect(200);
        } else {
            write_off(&shop, &order).await.expect(200);
        }
        assert_eq!(work(&shop).await, Vec::<Value>::new(), "{key}");
    }
    invariants::hold(&shop).await;
}

/// The bank may take back what the shop has refunded before.
#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_that_is_lost_after_a_refund_asks_for_no_second_refund() {
    let shop = shop().await;
    let order = captured(&shop, "k").await;
    shop.customer("ada").cancel(&order, json!({})).await.expect(200);
    until("it is refunded", async || refunds(&shop, &order) == [2000] && work(&shop).await.is_empty()).await;
    lose(&shop, &order, 2000);
    until("staff are told", async || work(&shop).await == ["missing"]).await;
    shop.admin()
        .post(&format!("/invoices/{}/refunds", invoice_id(&order)), json!({ "reference": "b" }))
        .await
        .expect(409);
    let due = shop.admin().get("/payments-due").await.expect(200)["items"][0].clone();
    assert_eq!((&due["amount"], &due["invoiceId"]), (&eur(2000), &json!(invoice_id(&order))));
    write_off(&shop, &order).await.expect(200);
    write_off(&shop, &order).await.expect(200);
    sweep(&shop).await;
    assert_eq!((work(&shop).await, refunds(&shop, &order)), (Vec::<Value>::new(), vec![2000]));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_off_while_nothing_is_missing() {
    let shop = shop().await;
    let order = captured(&shop, "k").await;
    let before = card(&shop, &order).await;
    write_off(&shop, &order).await.expect(200);
    assert_eq!(card(&shop, &order).await, before);
    let path = format!("/invoices/{}/write-offs", invoice_id(&order));
    let refused = shop.admin().post(&path, json!({ "amount": eur(2000) })).await.problem(Kind::InvalidTransition);
    assert_eq!(refused["amount"], eur(0));
    let dispute = act(&shop, Act::Dispute { intent: shop.intent(&order).id, amount: None, inquiry: false });
    until("staff are told", async || work(&shop).await == ["dispute"]).await;
    write_off(&shop, &order).await.problem(Kind::InvalidTransition);
    let refused = shop.admin().advance(&order, "SHIPPED").await.problem(Kind::InvalidTransition);
    assert_eq!(refused["work"], "dispute");
    let dispute = dispute["id"].as_str().expect("an id").to_owned();
    act(&shop, Act::UpdateDispute { dispute, status: DisputeStatus::Won });
    until("the dispute is over", async || work(&shop).await.is_empty()).await;
    shop.admin().advance(&order, "SHIPPED").await.expect(200);
}

/// The shop changed its account, or somebody else's intent has the order's place. Staff are told once of each order that
/// has money there. What they refund stays theirs when the provider knows the payment again; what it has reserved it
/// voids then, or counts as released once the bank must have released it.
#[tokio::test]
async fn what_the_provider_does_not_know_is_staffs_once_the_order_is_cancelled() {
    let shop = shop().await;
    let open = order(&shop, "open").await;
    shop.start_payment(&open).await.expect(200);
    let paid = captured(&shop, "paid").await;
    let [soon, never] = [order(&shop, "soon").await, order(&shop, "never").await];
    for order in [&soon, &never] {
        shop.pay(order, VISA).await;
        shop.await_payment(order, "authorized").await;
    }
    silence(&shop);
    let unknown = [&open, &never].map(|order| shop.intent(order).id);
    let mut known = shop.payments().provider.ledger();
    shop.payments().provider.restore(Ledger::default());
    let (log, _logging) = Log::begin();
    let told = || log.take().lines().filter(|line| line.contains("PaymentsForStaff")).count();
    for order in [&open, &paid, &soon, &never] {
        shop.customer("ada").cancel(order, json!({})).await.expect(200);
    }
    shop.settle_payments().await;
    assert_eq!(told(), 3);
    let works = work(&shop).await;
    assert_eq!(works.iter().filter(|work| **work == "provider").count(), 2, "{works:?}");
    for intent in &unknown {
        known.intents.remove(intent).expect("an intent");
    }
    shop.payments().provider.restore(known);
    sweep(&shop).await;
    assert_eq!((work(&shop).await, told()), (vec![json!("refund")], 0));
    assert_eq!((shop.intent(&soon).status, refunds(&shop, &paid)), (Status::Canceled, Vec::new()));
    let path = format!("/invoices/{}/refunds", invoice_id(&paid));
    shop.admin().post(&path, json!({ "reference": "back-1" })).await.expect(200);
    assert_eq!((sweep(&shop).await["failed"].clone(), work(&shop).await), (json!(0), Vec::new()));
    invariants::hold(&shop).await;
}
