//! Messages that are not to be believed change nothing, and are told: to the sender, in the log, and as a metric.

use shop::log::Log;

use super::{VISA, order, shop};
use crate::prelude::*;

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn changed(mut message: Value, field: &str, value: Value) -> Value {
    message["data"]["object"][field] = value;
    message
}

/// Each case has a body, a signature's key and age in seconds, and the metric that counts the message.
fn cases(shop: &Shop, own: &Value, other: &Value) -> Vec<(&'static str, String, String, i64, &'static str)> {
    const FORGED: &str = "PaymentReportsNotGenuine";
    const WRONG: &str = "PaymentMismatches";
    let secret = || shop.webhook_secret().to_owned();
    let message = shop.message_of(own);
    let others_intent = changed(message.clone(), "id", json!(shop.intent(other).id));
    vec![
        ("another key", message.to_string(), "whsec_guessed".to_owned(), 0, FORGED),
        ("no key", message.to_string(), String::new(), 0, FORGED),
        ("an old time", message.to_string(), secret(), 301, FORGED),
        ("a time to come", message.to_string(), secret(), -310, FORGED),
        ("another order's payment", others_intent.to_string(), secret(), 0, WRONG),
        ("no JSON", "status=requires_capture".to_owned(), secret(), 0, FORGED),
        ("no event", "[1, 2]".to_owned(), secret(), 0, FORGED),
        ("nothing", String::new(), secret(), 0, FORGED),
    ]
}

// The log of a test is that of its thread, so everything runs in one thread.
#[tokio::test]
async fn a_message_that_is_not_to_be_believed_changes_nothing_and_is_told() {
    let shop = shop().await;
    let [own, other] = [order(&shop, "own").await, order(&shop, "other").await];
    shop.start_payment(&own).await.expect(200);
    shop.pay(&other, VISA).await;
    shop.await_payment(&other, "authorized").await;
    shop.settle_payments().await;
    let before = shop.dump().await;

    let (log, _logging) = Log::begin();
    for (case, body, key, age, metric) in cases(&shop, &own, &other) {
        log.take();
        shop.tell_text(&key, now() - age, body).await.problem(Kind::Validation);
        let said = log.take();
        assert!(said.contains("WARN") || said.contains("ERROR"), "{case}: {said}");
        assert!(said.contains(metric), "{case}: {said}");
        assert_eq!(shop.dump().await, before, "{case}");
    }

    // A signature over another body, and no signature at all.
    let message = shop.message_of(&own).to_string();
    let signature = payments::stripe::signature::sign(shop.webhook_secret(), b"{}", now());
    for headers in [vec![("stripe-signature", signature.as_str())], vec![]] {
        let reply = shop.nobody().send(Method::POST, "/payment-events", &headers, Some(message.clone())).await;
        reply.problem(Kind::Validation);
        assert_eq!(shop.dump().await, before);
    }
    // Somebody changes the amount at the provider.
    shop.change_amount_at_provider(&own, 1);
    shop.tell(&own).await.problem(Kind::Validation);
    assert_eq!(shop.dump().await, before);
}

/// A genuine message only says where to look. What else it says is not believed.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_message_says_of_a_payment_changes_nothing() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.start_payment(&order).await.expect(200);
    let before = shop.dump().await;
    let message = shop.message_of(&order);
    for (field, value) in [
        ("status", json!("requires_capture")),
        ("amount_received", json!(i64::MIN)),
        ("currency", json!("euros")),
        ("metadata", json!({ "orderId": "another" })),
        ("metadata", json!({})),
        ("object", json!("customer")),
    ] {
        let body = changed(message.clone(), field, value).to_string();
        shop.tell_text(shop.webhook_secret(), now(), body.clone()).await.expect(204);
        assert_eq!(shop.dump().await, before, "{body}");
    }
    let unknown = changed(message, "id", json!("pi_unknown")).to_string();
    shop.tell_text(shop.webhook_secret(), now(), unknown).await.problem(Kind::Validation);
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_is_too_large_is_refused() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.start_payment(&order).await.expect(200);
    let before = shop.dump().await;
    // The gateway refuses the first, and Till the second. The provider's own reports have some thousand bytes.
    let huge = async |bytes| {
        let huge = changed(shop.message_of(&order), "description", json!("x".repeat(bytes)));
        shop.tell_text(shop.webhook_secret(), now(), huge.to_string()).await
    };
    huge(10_000_000).await.of_gateway(413);
    huge(100_000).await.problem(Kind::TooLarge);
    assert_eq!(shop.dump().await, before);
    let large = changed(shop.message_of(&order), "description", json!("x".repeat(60_000)));
    shop.tell_text(shop.webhook_secret(), now(), large.to_string()).await.expect(204);
    assert_eq!(shop.dump().await, before);
}
