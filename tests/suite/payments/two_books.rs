//! The provider's book and the table's agree, and what the provider holds decides: whatever message is late, lost or
//! forged, and whatever answer is an error that the provider keeps.

mod staff;

use local::pretend_provider::{Act, Answer, Call, DisputeStatus, RefundStatus, Status, Switches, Webhooks};

use super::{VISA, cancel, order, shop};
use crate::prelude::*;

fn act(shop: &Shop, act: Act) -> Value {
    shop.payments().provider.act(act).expect("it is possible")
}

/// The provider says nothing by itself from now on.
fn silence(shop: &Shop) {
    act(shop, Act::Switch(Switches { webhooks: Webhooks::Off, ..Switches::default() }));
}

fn next(shop: &Shop, call: Call, answer: Answer) {
    act(shop, Act::Next { call: Some(call), answer });
}

/// An order of two units whose payment of 2,000 is captured.
async fn captured(shop: &Shop, key: &str) -> Value {
    let order = order(shop, key).await;
    shop.pay(&order, VISA).await;
    // The customer's browser comes back, also if the provider is silent.
    assert_eq!(shop.start_payment(&order).await.expect(200)["status"], "authorized");
    shop.admin().capture(&order, None).await.expect(200);
    shop.settle_payments().await;
    assert_eq!(card(shop, &order).await["status"], "captured");
    order
}

async fn cancel_unit(shop: &Shop, order: &Value, units: u64) {
    let lines = json!({ "lines": [{ "productId": "thing", "quantity": units }] });
    shop.customer("ada").cancel(order, lines).await.expect(200);
}

/// The work that is open for staff or the provider.
async fn work(shop: &Shop) -> Vec<Value> {
    let due = shop.admin().get("/payments-due").await.expect(200);
    due["items"].as_array().expect("items").iter().map(|mark| mark["work"].clone()).collect()
}

async fn card(shop: &Shop, order: &Value) -> Value {
    shop.admin().read(order).await["invoice"]["payments"][0].clone()
}

async fn write_off(shop: &Shop, order: &Value) -> Reply {
    shop.admin().post(&format!("/invoices/{}/write-offs", invoice_id(order)), json!({})).await
}

/// The customer's bank takes this amount of the order's payment back for good.
fn lose(shop: &Shop, order: &Value, amount: i64) {
    let intent = shop.intent(order).id;
    let dispute = act(shop, Act::Dispute { intent, amount: Some(amount), inquiry: false });
    let dispute = dispute["id"].as_str().expect("an id").to_owned();
    act(shop, Act::UpdateDispute { dispute, status: DisputeStatus::Lost });
}

/// An order whose payment the customer's bank took back for good, and that staff wrote off.
pub async fn written_off(shop: &Shop) -> Value {
    let order = captured(shop, "disputed").await;
    lose(shop, &order, 2000);
    until("staff are told", async || work(shop).await == ["missing"]).await;
    write_off(shop, &order).await.expect(200);
    order
}

/// Looks again until nothing is due, as the schedule does.
async fn sweep(shop: &Shop) -> Value {
    shop.settle_payments().await;
    shop.age_payments_due().await;
    shop.sweep_payments().await
}

/// The amounts of the refunds that reached the customer.
fn refunds(shop: &Shop, order: &Value) -> Vec<i64> {
    let made = shop.intent(order).refunds.into_iter().filter(|it| !it.is_release());
    made.filter(|it| it.status == RefundStatus::Succeeded).map(|it| it.amount).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_its_customer_has_paid_does_not_expire_although_nobody_told() {
    let shop = shop().await;
    silence(&shop);
    let [paid, open] = [order(&shop, "paid").await, order(&shop, "open").await];
    shop.pay(&paid, VISA).await;
    let payment = shop.start_payment(&open).await.expect(200);
    // The customer paid in the moment in which the intent was voided.
    let released = order(&shop, "released").await;
    shop.pay(&released, VISA).await;
    act(&shop, Act::Cancel { intent: shop.intent(&released).id });
    for order in [&paid, &open] {
        shop.age(order).await;
    }
    // Without the provider, nothing is decided.
    next(&shop, Call::ReadIntent, Answer::ServerError);
    next(&shop, Call::ReadIntent, Answer::ServerError);
    assert_eq!(shop.expire().await, json!({ "expired": 0, "settled": 0, "failed": 2, "done": true }));
    shop.age(&released).await;
    assert_eq!(shop.expire().await, json!({ "expired": 1, "settled": 2, "failed": 0, "done": true }));
    assert_eq!(
        (shop.admin().status(&paid).await, shop.admin().status(&open).await),
        (json!("PAID"), json!("CANCELLED"))
    );
    assert_eq!(shop.intent(&open).status, Status::Canceled);
    assert_eq!(shop.confirm(&payment, VISA).await.0, 400, "the customer can pay no more");
    let is_lapsed = async || {
        assert_eq!((shop.admin().status(&released).await, work(&shop).await), (json!("PAID"), vec![json!("lapsed")]));
    };
    is_lapsed().await;
    // The same happens to the payment in its place.
    shop.pay(&released, VISA).await;
    act(&shop, Act::Cancel { intent: shop.intent(&released).id });
    shop.age(&released).await;
    shop.age_payments_due_by(90).await;
    assert_eq!(shop.expire().await["expired"], 0);
    is_lapsed().await;
    shop.age_payments_due_by(90).await;
    assert_eq!(shop.expire().await["expired"], 1);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_the_provider_keeps_is_overcome_and_nothing_is_refunded_twice() {
    let first = shop().await;
    silence(&first);
    let unpaid = order(&first, "unpaid").await;
    next(&first, Call::CreateIntent, Answer::ServerError);
    assert_eq!(first.start_payment(&unpaid).await.status, 503);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    first.start_payment(&unpaid).await.expect(200);
    for (key, answer) in [
        ("kept", Answer::ServerError),
        ("done", Answer::ServerErrorAfterwards),
        ("cut", Answer::Cut),
        ("busy", Answer::RateLimit),
        ("locked", Answer::LockTimeout),
    ] {
        // A message of a payment that was not settled stays in its queue for minutes.
        let shop = shop().await;
        silence(&shop);
        let order = captured(&shop, key).await;
        next(&shop, Call::CreateRefund, answer);
        cancel(&shop, &order).await;
        until("the order is refunded", async || {
            shop.age_payments_due().await;
            shop.sweep_payments().await;
            refunds(&shop, &order) == [2000] && work(&shop).await.is_empty()
        })
        .await;
        assert_eq!(refunds(&shop, &order), [2000], "{key}");
        assert_eq!(card(&shop, &order).await["status"], "refunded", "{key}");
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_fails_is_paid_by_staff_and_never_again_by_the_provider() {
    let shop = shop().await;
    let order = captured(&shop, "k").await;
    cancel_unit(&shop, &order, 1).await;
    sweep(&shop).await;
    let refund = shop.intent(&order).refunds[0].id.clone();
    act(&shop, Act::FailRefund { refund });
    shop.await_payment(&order, "refundDue").await;
    assert_eq!((sweep(&shop).await["failed"].clone(), work(&shop).await), (json!(0), vec![json!("refund")]));
    let invoice = format!("/invoices/{}/refunds", invoice_id(&order));
    let record =
        async |amount: Value| shop.admin().post(&invoice, json!({ "reference": "back-1", "amount": amount })).await;
    let refused = record(eur(2000)).await.problem(Kind::InvalidTransition);
    assert_eq!(refused["amount"], eur(1000), "what staff paid is not what is due");
    record(eur(1000)).await.expect(200);
    record(eur(1000)).await.expect(200);
    record(eur(2000)).await.problem(Kind::InvalidTransition);
    assert_eq!((work(&shop).await, refunds(&shop, &order)), (Vec::new(), Vec::new()));
    // The next credit is refunded by the provider again.
    cancel(&shop, &order).await;
    sweep(&shop).await;
    assert_eq!(refunds(&shop, &order), [1000]);
    assert_eq!(card(&shop, &order).await["returned"], eur(2000));
    let failed = shop.bus().events().into_iter().filter(|event| event["detail-type"] == "RefundFailed").count();
    assert_eq!(failed, 1);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_refunds_in_the_dashboard_is_missing_until_staff_decide() {
    let shop = shop().await;
    let send = async |order: &Value| shop.admin().advance(order, "SHIPPED").await;
    let [all, part] = [captured(&shop, "all").await, captured(&shop, "part").await];
    for (order, amount) in [(&all, None), (&part, Some(500))] {
        let intent = shop.intent(order).id;
        act(&shop, Act::Refund { intent, amount });
        until("staff are told", async || !work(&shop).await.is_empty()).await;
        assert_eq!(work(&shop).await, ["missing"]);
        send(order).await.problem(Kind::InvalidTransition);
        write_off(&shop, order).await.expect(200);
        write_off(&shop, order).await.expect(200);
        send(order).await.expect(200);
        assert_eq!(work(&shop).await, Vec::<Value>::new());
    }
    write_off(&shop, &order(&shop, "unpaid").await).await.problem(Kind::InvalidTransition);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_the_provider_refuses_for_good_is_closed_by_one_request_of_staff() {
    let shop = shop().await;
    let order = captured(&shop, "k").await;
    let intent = shop.intent(&order).id;
    let dispute = act(&shop, Act::Dispute { intent, amount: Some(500), inquiry: false });
    let dispute = dispute["id"].as_str().expect("an id").to_owned();
    until("staff are told", async || work(&shop).await == ["dispute"]).await;
    shop.admin().advance(&order, "SHIPPED").await.problem(Kind::InvalidTransition);
    act(&shop, Act::UpdateDispute { dispute, status: DisputeStatus::Lost });
    until("the dispute is lost", async || work(&shop).await == ["missing"]).await;
    cancel(&shop, &order).await;
    sweep(&shop).await;
    // The provider refunds no charge that was disputed.
    assert_eq!((work(&shop).await, refunds(&shop, &order)), (vec![json!("refund")], Vec::new()));
    assert_eq!(card(&shop, &order).await["due"], eur(1500));
    let invoice = format!("/invoices/{}/refunds", invoice_id(&order));
    shop.admin().post(&invoice, json!({ "reference": "back-1" })).await.expect(200);
    assert_eq!(work(&shop).await, Vec::<Value>::new());
    assert_eq!(shop.sweep_payments().await["failed"], 0);
    let told = shop.bus().events().into_iter().filter(|event| event["detail-type"] == "PaymentDisputed");
    assert_eq!(told.map(|event| event["detail"]["state"].clone()).collect::<Vec<_>>(), ["open", "lost"]);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_that_the_shop_wins_leaves_nothing_to_do() {
    let shop = shop().await;
    let order = captured(&shop, "k").await;
    let intent = shop.intent(&order).id;
    let dispute = act(&shop, Act::Dispute { intent, amount: None, inquiry: false });
    until("staff are told", async || work(&shop).await == ["dispute"]).await;
    let dispute = dispute["id"].as_str().expect("an id").to_owned();
    act(&shop, Act::UpdateDispute { dispute, status: DisputeStatus::Won });
    until("it is won", async || work(&shop).await.is_empty()).await;
    shop.admin().advance(&order, "SHIPPED").await.expect(200);
    assert_eq!(card(&shop, &order).await["dispute"], "won");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_sees_what_no_message_told_of_work_that_staff_have() {
    let shop = shop().await;
    let order = captured(&shop, "k").await;
    let dispute = act(&shop, Act::Dispute { intent: shop.intent(&order).id, amount: None, inquiry: false });
    let dispute = dispute["id"].as_str().expect("an id").to_owned();
    until("staff are told", async || work(&shop).await == ["dispute"]).await;
    silence(&shop);
    act(&shop, Act::UpdateDispute { dispute: dispute.clone(), status: DisputeStatus::Lost });
    sweep(&shop).await;
    assert_eq!(work(&shop).await, ["missing"]);
    // What a lost dispute took may come back, also after staff wrote it off. It is the shop's.
    write_off(&shop, &order).await.expect(200);
    act(&shop, Act::UpdateDispute { dispute, status: DisputeStatus::Won });
    shop.start_payment(&order).await;
    assert_eq!((work(&shop).await, refunds(&shop, &order)), (Vec::<Value>::new(), Vec::new()));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_sees_what_no_message_told_of_a_settled_payment() {
    for (case, expected) in [
        ("disputed", "dispute"),
        ("refund failed", "refund"),
        ("refunded in the dashboard", "missing"),
        ("lapsed", "lapsed"),
    ] {
        let shop = shop().await;
        let order = if case == "lapsed" { order(&shop, "k").await } else { captured(&shop, "k").await };
        if case == "lapsed" {
            shop.pay(&order, VISA).await;
            shop.await_payment(&order, "authorized").await;
        }
        if case == "refund failed" {
            cancel_unit(&shop, &order, 1).await;
            sweep(&shop).await;
            until("the refund is told", async || shop.payments().provider.webhooks_waiting() == 0).await;
        }
        assert_eq!(work(&shop).await, Vec::<Value>::new(), "{case}");
        silence(&shop);
        let intent = shop.intent(&order);
        act(
            &shop,
            match case {
                "disputed" => Act::Dispute { intent: intent.id, amount: None, inquiry: false },
                "refund failed" => Act::FailRefund { refund: intent.refunds[0].id.clone() },
                "lapsed" => Act::Expire { intent: intent.id },
                _ => Act::Refund { intent: intent.id, amount: None },
            },
        );
        // A key without the permission to list events costs only this.
        next(&shop, Call::ListEvents, Answer::Refused);
        assert_eq!(sweep(&shop).await, json!({ "settled": 0, "failed": 0, "done": true }), "{case}");
        assert_eq!(work(&shop).await, Vec::<Value>::new(), "{case}");
        assert_eq!(sweep(&shop).await, json!({ "settled": 0, "failed": 0, "done": true }), "{case}");
        assert_eq!(work(&shop).await, [expected], "{case}");
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_leaves_payments_of_others_alone() {
    let shop = shop().await;
    let orders = [captured(&shop, "a").await, captured(&shop, "b").await];
    shop.settle_payments().await;
    silence(&shop);
    let before = shop.dump().await;
    let provider = &shop.payments().provider;
    let ours = provider.ledger();
    // One is of another program, and one of an order that is not here.
    for (order, owner) in orders.iter().zip([None, Some("elsewhere".to_owned())]) {
        let (id, mut ledger) = (shop.intent(order).id, provider.ledger());
        ledger.intents.get_mut(&id).expect("an intent").order = owner;
        provider.restore(ledger);
        act(&shop, Act::Dispute { intent: id, amount: None, inquiry: false });
    }
    assert_eq!(sweep(&shop).await, json!({ "settled": 0, "failed": 0, "done": true }));
    assert_eq!(shop.dump().await, before);
    provider.restore(ours);
    invariants::hold(&shop).await;
}

/// docs/payments.md names the events to which operators subscribe. Stripe lists up to twenty types at once.
#[test]
fn the_documentation_subscribes_to_the_events_that_the_schedule_asks_for() {
    let page = shop::read("docs/payments.md");
    let named: Vec<_> = page.split("enabled_events[]=").skip(1).filter_map(|rest| rest.split('\'').next()).collect();
    assert_eq!(named, payments::stripe::EVENTS);
    assert!(named.len() <= 20);
}
