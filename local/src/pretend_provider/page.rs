//! The page at `/`, which says what the provider is and how to pay.

use std::fmt::Write as _;

use super::Ledger;

/// The page, with the newest intents.
pub(super) fn of(url: &str, ledger: &Ledger) -> String {
    let mut rows = String::new();
    for entry in ledger.intents.values().rev().take(20) {
        let order = entry.order.as_deref().unwrap_or("-");
        _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{} {}</td><td>{:?}</td><td>{}</td><td>{}</td></tr>",
            escaped(&entry.id),
            escaped(order),
            entry.amount,
            escaped(&entry.currency),
            entry.status,
            entry.captured,
            entry.refunded,
        );
    }
    let waiting = ledger.unsent().count();
    format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Pretend payment provider</title>
<h1>Pretend payment provider</h1>
<p>No money moves here. It speaks the part of Stripe's protocol that Till uses. Amounts are in minor units.</p>
<p>To pay, start the payment of an order, and confirm it with a test card: <code>pm_card_visa</code> pays,
<code>pm_card_chargeDeclined</code> is declined.</p>
<pre>curl {url}/v1/payment_intents/INTENT_ID/confirm -d client_secret=CLIENT_SECRET -d payment_method=pm_card_visa</pre>
<p>Webhooks that the API has not taken yet: {waiting}.</p>
<table><tr><th>intent</th><th>order</th><th>amount</th><th>status</th><th>captured</th><th>refunded</th></tr>{rows}</table>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
