//! The sample events.

use consumers::CONSUMERS;
use lambda::Function;
use local::functions;
use serde_json::{Value, json};

use crate::{Shop, basket, read};

/// The functions in the order of their events' times: the events form one scenario. The functions of a migration have
/// no part in it.
pub fn functions_by_event_time() -> Vec<String> {
    let of_a_migration = CONSUMERS.iter().filter(|consumer| consumer.condition == Some("IsMigrating"));
    let of_a_migration: Vec<_> = of_a_migration.map(|consumer| consumer.function.name()).collect();
    let mut all: Vec<_> = functions::all().map(Function::name).filter(|name| !of_a_migration.contains(name)).collect();
    all.sort_by_key(|name| time_of(&event(name)));
    all
}

pub fn event(function: &str) -> Value {
    serde_json::from_str(&read(&format!("events/{function}.json"))).expect("JSON")
}

/// The time of an event in milliseconds: of a request, or of the last message or record of a batch. Scheduled events
/// come last.
fn time_of(event: &Value) -> u64 {
    let last = event["Records"].as_array().and_then(|records| records.last());
    let Some(record) = last else { return event["requestContext"]["timeEpoch"].as_u64().unwrap_or(u64::MAX) };
    match record["dynamodb"]["ApproximateCreationDateTime"].as_f64() {
        Some(seconds) => format!("{:.0}", seconds * 1000.0).parse().expect("a time"),
        None => record["attributes"]["SentTimestamp"].as_str().expect("a time").parse().expect("a time"),
    }
}

impl Shop {
    /// Does what the scenario needs before the event of this function and what is no event of its own: an order is
    /// delivered after it was shipped, because each function has one event, and the search index is built before the first
    /// product is.
    pub async fn prepare_for(&self, function: &str) {
        if function == "request-return" {
            let order = event(function)["pathParameters"]["orderId"].as_str().expect("an id").to_owned();
            let delivered = json!({ "status": "DELIVERED" });
            self.admin().post(&format!("/orders/{order}/status"), delivered).await.expect(200);
        }
        if function == "request-guest-return" {
            let event = event(function);
            let secret = event["headers"]["guest-secret"].as_str().expect("a secret");
            let order = self.guest_order(secret, "guest-2", basket("espresso-cup", 1)).await.expect(201);
            assert_eq!(order["orderId"], event["pathParameters"]["orderId"]);
            self.admin().capture(&order, "bank-20261121-0007").await.expect(200);
            for status in ["SHIPPED", "DELIVERED"] {
                self.admin().advance(&order, status).await.expect(200);
            }
        }
        if function == "credit-order" {
            let order = event(function)["pathParameters"]["orderId"].as_str().expect("an id").to_owned();
            let refund = json!({ "reference": "back-20261121-0006" });
            self.admin().post(&format!("/invoices/inv-{order}/refunds"), refund).await.expect(200);
        }
        if function == "create-product" {
            self.reindex().await;
        }
    }
}
