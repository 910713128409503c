//! AWS's authorisation of calls of SQS, EventBridge and Secrets Manager.

use serde_json::Value;

use super::ask::{Ask, DETAIL_TYPE, SOURCE};
use crate::bus::Entry;
use crate::resource::{bus_arn, queue_arn};

/// A batch is authorised as the action that it is a batch of
/// ([source](https://github.com/aws/serverless-application-model/issues/3633)).
pub(super) fn queue_ask(action: &str, request: &Value) -> Ask {
    let single = action.strip_suffix("Batch").unwrap_or(action);
    let named = request["QueueUrl"].as_str().and_then(|url| url.rsplit('/').next());
    let moved = request["SourceArn"].as_str().and_then(|arn| arn.rsplit(':').next());
    let queue = named.or(moved).or(request["QueueName"].as_str()).unwrap_or("*");
    Ask::new("sqs", single, queue_arn(queue))
}

/// The authorisation request for a secret's value.
pub(super) fn secret_ask(arn: &str) -> Ask {
    Ask::new("secretsmanager", "GetSecretValue", arn.to_owned())
}

/// The authorisation request of one entry. Each entry is authorised separately, so each has one source and one type.
pub(super) fn event_ask(entry: &Entry) -> Ask {
    let bus = &entry.event_bus_name;
    let bus = if bus.starts_with("arn:") { bus.clone() } else { bus_arn(bus) };
    Ask::new("events", "PutEvents", bus)
        .with(SOURCE, [entry.source.clone()])
        .with(DETAIL_TYPE, [entry.detail_type.clone()])
}
