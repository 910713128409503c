#![allow(clippy::expect_used, reason = "tests")]

use serde_json::json;

use super::*;

fn intent(more: &Value) -> Value {
    let mut intent = json!({
        "id": "pi_1", "object": "payment_intent", "amount": 1000, "currency": "eur", "status": "requires_capture",
        "metadata": {"orderId": "o-1"}, "latest_charge": null,
    });
    for (name, value) in more.as_object().expect("an object") {
        intent[name] = value.clone();
    }
    intent
}

fn told(object: &Value) -> Result<Option<Notice>, NotGenuine> {
    notice(json!({"id": "evt_1", "type": "any", "data": {"object": object}}).to_string().as_bytes())
}

/// What Till reads of an intent with these disputes.
fn read(more: &Value, disputes: &Value) -> Result<Intent, Error> {
    let intent: PaymentIntent = serde_json::from_value(intent(more)).expect("an intent");
    let disputes: Vec<Dispute> = serde_json::from_value(disputes.clone()).expect("disputes");
    let refunds = intent.refunds().expect("all refunds");
    intent.read(&refunds, &disputes)
}

/// An intent of 1,000 of which this amount was captured, with these refunds.
fn captured(amount: i64, refunds: &Value) -> Value {
    let charge = json!({"id": "ch_1", "disputed": false, "refunds": {"data": refunds, "has_more": false}});
    json!({"status": "succeeded", "amount_received": amount, "latest_charge": charge})
}

#[test]
fn the_status_of_an_intent_is_its_progress() {
    let cases = [
        (json!({"status": "requires_payment_method"}), Progress::Started),
        (json!({"status": "requires_confirmation"}), Progress::Started),
        (json!({"status": "requires_action"}), Progress::Started),
        (json!({"status": "processing"}), Progress::Started),
        (json!({"status": "requires_payment_method", "last_payment_error": {"code": "declined"}}), Progress::Declined),
        (json!({"status": "requires_capture"}), Progress::Authorized),
        (json!({"status": "canceled"}), Progress::Ended),
    ];
    for (more, progress) in cases {
        assert_eq!(read(&more, &json!([])).expect("an intent").held, Held::of(progress), "{more}");
    }
    let whole = read(&captured(600, &json!([])), &json!([])).expect("an intent");
    assert_eq!((whole.held.progress, whole.held.captured), (Progress::Captured, 600));
    assert_eq!((whole.order.as_ref().map(OrderId::as_str), whole.amount.amount()), (Some("o-1"), 1000));
}

#[test]
fn refunds_are_read_one_by_one() {
    let refund = |id: u32, amount: i64, status: &str, reason: Option<&str>, number: Option<&str>| {
        json!({
            "id": format!("re_{id}"), "amount": amount, "status": status, "reason": reason,
            "metadata": number.map_or(json!({}), |number| json!({"orderId": "o-1", "refund": number})),
        })
    };
    let refunds = json!([
        refund(1, 1, "succeeded", None, Some("1")),
        refund(2, 2, "pending", None, Some("4")),
        refund(3, 4, "requires_action", None, None),
        refund(4, 8, "failed", None, Some("2")),
        refund(5, 16, "canceled", None, Some("3")),
        // What somebody refunded in the dashboard is not due again if it fails.
        refund(6, 32, "failed", None, None),
        // What was never captured is no refund.
        refund(7, 400, "succeeded", Some("partial_capture"), None),
        // A number that Till cannot have given.
        refund(8, 64, "succeeded", None, Some("4294967295")),
    ]);
    let seen = read(&captured(600, &refunds), &json!([])).expect("an intent");
    let held = Held { captured: 600, refunded: 71, failed: 24, ..Held::of(Progress::Captured) };
    assert_eq!((seen.held, seen.newest_refund), (held, 4));
    // One refund at most is the release of the rest: the one that says so, or else one that moved no money.
    let release = |id, status| refund(id, 400, status, None, None);
    for (refunds, refunded) in [
        (json!([release(1, "succeeded")]), 0),
        (json!([release(1, "pending")]), 400),
        (json!([release(1, "succeeded"), refund(2, 400, "succeeded", Some("partial_capture"), None)]), 400),
    ] {
        assert_eq!(read(&captured(600, &refunds), &json!([])).expect("an intent").held.refunded, refunded);
    }
    for (charge, progress) in [
        (json!("ch_1"), Progress::Ended),
        (json!({"status": "failed", "metadata": null}), Progress::Ended),
        (json!({"status": "succeeded"}), Progress::Released),
    ] {
        let ended = json!({"status": "canceled", "latest_charge": charge, "metadata": {"orderId": "no id: €"}});
        assert_eq!(read(&ended, &json!([])).expect("an intent").held, Held::of(progress));
    }
}

#[test]
fn a_dispute_takes_money_while_it_is_open_and_if_it_is_lost() {
    use entity::Dispute::{Lost, Open, Won};
    for (statuses, disputed, state) in [
        (vec!["needs_response"], 300, Some(Open)),
        (vec!["under_review"], 300, Some(Open)),
        (vec!["warning_needs_response"], 0, Some(Open)),
        (vec!["warning_closed"], 0, Some(Won)),
        (vec!["prevented"], 0, Some(Won)),
        (vec!["won"], 0, Some(Won)),
        (vec!["lost"], 300, Some(Lost)),
        (vec!["won", "lost"], 300, Some(Lost)),
        (vec!["lost", "needs_response"], 600, Some(Open)),
        (vec![], 0, None),
    ] {
        let disputes = statuses.iter().map(|status| json!({"id": "dp_1", "amount": 300, "status": status}));
        let seen = read(&captured(1000, &json!([])), &disputes.collect()).expect("an intent");
        assert_eq!((seen.held.disputed, seen.held.dispute), (disputed, state), "{statuses:?}");
    }
}

/// A sum that no amount of money has is unreadable, and does not panic.
#[test]
fn any_amount_is_read_or_is_an_error() {
    for amount in [i64::MIN, -1, i64::MAX] {
        let refunds = json!([{"id": "re_1", "amount": amount}, {"id": "re_2", "amount": amount}]);
        assert!(read(&captured(1000, &refunds), &json!([])).is_err());
        assert!(read(&json!({"amount": amount}), &json!([])).is_err());
    }
}

#[test]
fn a_notice_names_the_payment_and_its_order_if_it_knows_it() {
    let of = |object: Value| told(&object).expect("a notice").map(|it| (it.intent, it.order));
    let (pi, order) = (|| "pi_1".parse().expect("an id"), || Some("o-1".parse().expect("an id")));
    assert_eq!(of(intent(&json!({}))), Some((pi(), order())));
    assert_eq!(of(intent(&json!({"metadata": {}}))), Some((pi(), None)));
    for kind in ["charge", "refund", "dispute"] {
        let object = json!({"id": "any/id", "object": kind, "payment_intent": "pi_1"});
        assert_eq!(of(object), Some((pi(), None)), "{kind}");
        assert_eq!(of(json!({"id": "x", "object": kind, "payment_intent": null})), None, "{kind}");
    }
    assert_eq!(of(json!({"object": "customer", "id": "cus_1"})), None);
    assert_eq!(of(json!({})), None);
    for body in ["", "[]", "{}", r#"{"data":{}}"#, r#"{"data":{"object":{"object":"payment_intent"}}}"#] {
        assert_eq!(notice(body.as_bytes()), Err(NotGenuine::Unreadable), "{body}");
    }
}

#[test]
fn an_error_says_whether_another_try_may_succeed() {
    let body = |code: &str| json!({"error": {"code": code, "message": "No."}}).to_string();
    let of = |status, code| refusal(status, body(code).as_bytes());
    for status in [302, 400, 403, 404] {
        assert!(matches!(refusal(status, b"<html>"), Error::Failed { .. }), "{status}");
    }
    assert!(matches!(of(400, "amount_too_small"), Error::TooSmall(_)));
    assert!(
        matches!(of(400, "charge_disputed"), Error::Refused { status: 400, code, .. } if code == "charge_disputed")
    );
    for (status, code) in [(500, ""), (503, "api_error"), (400, "balance_insufficient")] {
        assert!(matches!(of(status, code), Error::Failed { .. }), "{status} {code}");
    }
    assert!(matches!(of(409, "idempotency_key_in_use"), Error::Busy(409)));
    assert!(matches!(of(429, "rate_limit"), Error::Busy(429)));
    assert!(matches!(of(401, ""), Error::Unauthorized(_)));
}
