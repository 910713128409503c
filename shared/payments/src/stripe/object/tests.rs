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

fn read(object: &Value) -> Result<Option<Notice>, NotGenuine> {
    notice(json!({"id": "evt_1", "type": "any", "data": {"object": object}}).to_string().as_bytes())
}

fn payment(object: &Value) -> PaymentReport {
    match read(object).expect("a notice").expect("of an order") {
        Notice::Payment(payment) => payment,
        other @ Notice::RefundFailed(_) => panic!("{other:?}"),
    }
}

fn report(object: &Value) -> Report {
    payment(object).report
}

#[test]
fn the_status_of_an_intent_is_its_progress() {
    let cases = [
        (json!({"status": "requires_payment_method"}), Progress::Started, 0),
        (json!({"status": "requires_confirmation"}), Progress::Started, 0),
        (json!({"status": "requires_action"}), Progress::Started, 0),
        (json!({"status": "processing"}), Progress::Started, 0),
        (
            json!({"status": "requires_payment_method", "last_payment_error": {"code": "card_declined"}}),
            Progress::Declined,
            0,
        ),
        (json!({"status": "requires_capture"}), Progress::Authorized, 0),
        (json!({"status": "canceled"}), Progress::Ended, 0),
        (json!({"status": "succeeded", "amount_received": 1000}), Progress::Captured, 1000),
        (json!({"status": "succeeded", "amount_received": 600}), Progress::Captured, 600),
        (json!({"status": "succeeded"}), Progress::Captured, 1000),
    ];
    for (more, progress, captured) in cases {
        assert_eq!(report(&intent(&more)), Report { progress, captured, refunded: 0 }, "{more}");
    }
}

/// A capture of 600 out of 1,000 shows 400 as refunded, because they are not captured.
#[test]
fn what_was_not_captured_is_not_a_refund() {
    let of = |refunded: i64| {
        let charge = json!({
            "id": "ch_1", "object": "charge", "amount": 1000, "currency": "eur", "status": "succeeded",
            "captured": true, "amount_captured": 600, "amount_refunded": refunded, "payment_intent": "pi_1",
            "metadata": {"orderId": "o-1"},
        });
        let whole = intent(&json!({"status": "succeeded", "amount_received": 600, "latest_charge": charge.clone()}));
        assert_eq!(report(&whole), report(&charge));
        report(&charge)
    };
    assert_eq!(of(400), Report { progress: Progress::Captured, captured: 600, refunded: 0 });
    assert_eq!(of(500), Report { progress: Progress::Captured, captured: 600, refunded: 100 });
    assert_eq!(of(1000), Report { progress: Progress::Captured, captured: 600, refunded: 600 });
}

#[test]
fn a_notice_names_order_intent_and_amount() {
    let notice = payment(&intent(&json!({})));
    assert_eq!((notice.order.as_str(), notice.intent.as_str()), ("o-1", "pi_1"));
    assert_eq!(notice.amount, money(1000, "eur").expect("money"));
}

#[test]
fn events_about_other_things_are_none_of_tills() {
    assert_eq!(read(&json!({"object": "customer", "id": "cus_1"})), Ok(None));
    assert_eq!(read(&intent(&json!({"metadata": {}}))), Ok(None));
    assert_eq!(read(&json!({})), Ok(None));
}

/// Other reports of a refund need no notice: the charge's own report has the sum of its refunds.
#[test]
fn of_refunds_only_the_failed_ones_have_a_notice() {
    let refund = |status: &str, metadata: Value| {
        json!({
            "id": "re_1", "object": "refund", "amount": 600, "currency": "eur", "charge": "ch_1",
            "payment_intent": "pi_1", "status": status, "failure_reason": "expired_or_canceled_card",
            "metadata": metadata,
        })
    };
    for status in ["pending", "requires_action", "succeeded"] {
        assert_eq!(read(&refund(status, json!({ "orderId": "o-1" }))), Ok(None), "{status}");
    }
    for status in ["failed", "canceled"] {
        for (metadata, order) in [(json!({ "orderId": "o-1" }), Some("o-1")), (json!({}), None)] {
            let Ok(Some(Notice::RefundFailed(failed))) = read(&refund(status, metadata)) else { panic!("{status}") };
            assert_eq!(failed.order.as_ref().map(OrderId::as_str), order);
            assert_eq!((failed.intent.as_str(), failed.refund.as_str()), ("pi_1", "re_1"));
            assert_eq!(failed.amount, money(600, "eur").expect("money"));
        }
    }
    let mut other = refund("failed", json!({}));
    other["payment_intent"] = Value::Null;
    assert_eq!(read(&other), Ok(None), "a refund of something other than a payment intent");
}

#[test]
fn an_amount_that_is_too_small_is_told_from_other_refusals() {
    let body = |code: &str| json!({"error": {"code": code, "message": "No."}}).to_string();
    assert!(matches!(refusal(400, body("amount_too_small").as_bytes()), Error::TooSmall(_)));
    for body in [body("amount_too_large"), body(""), "{}".to_owned(), String::new()] {
        assert!(matches!(refusal(400, body.as_bytes()), Error::Refused { status: 400, .. }), "{body}");
    }
}

#[test]
fn a_body_of_another_form_is_refused() {
    for body in ["", "[]", "{}", r#"{"data":{}}"#, r#"{"data":{"object":{"object":"payment_intent"}}}"#] {
        assert_eq!(notice(body.as_bytes()), Err(NotGenuine::Unreadable), "{body}");
    }
    assert_eq!(read(&intent(&json!({"currency": "xx"}))), Err(NotGenuine::Unreadable));
    assert_eq!(read(&intent(&json!({"amount": -1}))), Err(NotGenuine::Unreadable));
}
