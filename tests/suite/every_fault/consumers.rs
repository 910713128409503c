//! Cases of the functions that consume events.

use serde_json::{Value, json};
use shop::reconcile::ask;
use shop::stream::batch;

use super::cases::Case;
use super::world::Seed;

pub fn cases(seed: &Seed) -> Vec<Case> {
    let mut unreadable = seed.placeable.clone();
    unreadable[0]["body"] = json!("no order");
    let drain = |name, records: &[Value]| Case::event(name, "drain-writes", json!({ "Records": records }));
    let due = json!({ "detail": { "orderId": seed.due["orderId"] } });
    let due = json!({ "Records": [{ "messageId": "m", "body": due.to_string() }] });
    let few = json!({ "detail": { "productId": "few" } });
    let few = json!({ "Records": [{ "messageId": "m", "body": few.to_string() }] });
    vec![
        Case::event("settle a payment", "settle-payments", due),
        drain("drain an order", &seed.placeable),
        drain("drain an order that cannot be placed", &seed.refusable),
        drain("drain what is no order", &unreadable),
        Case::event("count", "count-orders", batch("shardId-0", &seed.records, &json!({}))),
        Case::event("expire", "expire-orders", json!({})),
        Case::event("number invoices", "number-invoices", json!({})),
        // The objects are in a bucket of their own for each world. Those that products name are read each time.
        Case::event("tidy images", "tidy-images", json!({})),
        Case::event("mark that few are left", "mark-availability", few),
        Case::event("publish", "publish-order-events", json!({ "Records": seed.records })),
        Case::event("reconcile", "reconcile-counts", ask(true)).with_steps(),
    ]
}
