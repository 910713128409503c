//! Reports that are not to be believed change nothing, and are told: to the sender, in the log, and as a metric.

use shop::log::Log;

use super::reports::now;
use super::{VISA, order, shop};
use crate::prelude::*;

fn changed(mut report: Value, field: &str, value: Value) -> Value {
    report["data"]["object"][field] = value;
    report
}

/// Each case has a body, a signature's key and age in seconds, and the metric that counts the report.
fn cases(shop: &Shop, own: &Value, other: &Value) -> Vec<(&'static str, String, String, i64, &'static str)> {
    const FORGED: &str = "PaymentReportsNotGenuine";
    const WRONG: &str = "PaymentMismatches";
    let secret = || shop.webhook_secret().to_owned();
    let paid = shop.report_of(own, "requires_capture");
    let others_intent = changed(paid.clone(), "id", json!(shop.intent(other).id));
    vec![
        ("another key", paid.to_string(), "whsec_guessed".to_owned(), 0, FORGED),
        ("no key", paid.to_string(), String::new(), 0, FORGED),
        ("an old time", paid.to_string(), secret(), 301, FORGED),
        ("a time to come", paid.to_string(), secret(), -310, FORGED),
        ("another amount", changed(paid.clone(), "amount", json!(1)).to_string(), secret(), 0, WRONG),
        ("a greater amount", changed(paid.clone(), "amount", json!(200_000)).to_string(), secret(), 0, WRONG),
        ("a negative amount", changed(paid.clone(), "amount", json!(-2000)).to_string(), secret(), 0, FORGED),
        ("another currency", changed(paid.clone(), "currency", json!("usd")).to_string(), secret(), 0, WRONG),
        ("no currency", changed(paid.clone(), "currency", json!("euros")).to_string(), secret(), 0, FORGED),
        ("another order's payment", others_intent.to_string(), secret(), 0, WRONG),
        ("no JSON", "status=requires_capture".to_owned(), secret(), 0, FORGED),
        ("no event", "[1, 2]".to_owned(), secret(), 0, FORGED),
        ("nothing", String::new(), secret(), 0, FORGED),
    ]
}

// The log of a test is that of its thread, so everything runs in one thread.
#[tokio::test]
async fn a_report_that_is_not_to_be_believed_changes_nothing_and_is_told() {
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
        shop.report_text(&key, now() - age, body).await.problem(Kind::Validation);
        let said = log.take();
        assert!(said.contains("WARN") || said.contains("ERROR"), "{case}: {said}");
        assert!(said.contains(metric), "{case}: {said}");
        assert_eq!(shop.dump().await, before, "{case}");
    }

    // A signature over another body, and no signature at all.
    let paid = shop.report_of(&own, "requires_capture").to_string();
    let signature = payments::stripe::signature::sign(shop.webhook_secret(), b"{}", now());
    for headers in [vec![("stripe-signature", signature.as_str())], vec![]] {
        let reply = shop.nobody().send(Method::POST, "/payment-events", &headers, Some(paid.clone())).await;
        reply.problem(Kind::Validation);
        assert_eq!(shop.dump().await, before);
    }
    // The same report with a genuine signature is taken.
    shop.report_text(shop.webhook_secret(), now(), paid).await.expect(204);
    assert_ne!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_about_nothing_that_the_shop_knows_is_taken_and_changes_nothing() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.start_payment(&order).await.expect(200);
    let before = shop.dump().await;
    let paid = shop.report_of(&order, "requires_capture");
    for body in [
        changed(paid.clone(), "metadata", json!({ "orderId": "another" })),
        changed(paid.clone(), "metadata", json!({})),
        changed(paid, "object", json!("customer")),
    ] {
        shop.report_text(shop.webhook_secret(), now(), body.to_string()).await.expect(204);
        assert_eq!(shop.dump().await, before, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_is_too_large_is_refused() {
    let shop = shop().await;
    let order = order(&shop, "k").await;
    shop.start_payment(&order).await.expect(200);
    let before = shop.dump().await;
    // The gateway refuses the first, and Till the second. The provider's own reports have some thousand bytes.
    for bytes in [10_000_000, 100_000] {
        let huge = changed(shop.report_of(&order, "requires_capture"), "description", json!("x".repeat(bytes)));
        shop.report_text(shop.webhook_secret(), now(), huge.to_string()).await.problem(Kind::TooLarge);
        assert_eq!(shop.dump().await, before);
    }
    let large = changed(shop.report_of(&order, "requires_capture"), "description", json!("x".repeat(60_000)));
    shop.report_text(shop.webhook_secret(), now(), large.to_string()).await.expect(204);
    assert_eq!(shop.admin().read(&order).await["status"], "PAID");
}
