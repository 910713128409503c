//! AWS's authorisation of calls of SQS, EventBridge, Secrets Manager and S3.

use serde_json::Value;

use super::ask::{Ask, DETAIL_TYPE, SOURCE};
use crate::bus::Entry;
use crate::resource::{bucket_arn, bus_arn, queue_arn};

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

/// The authorisation request of a call of S3. Some operations need the permission of another one ([source][s3]).
///
/// On AWS, whoever may not list a bucket gets 403 for an object that does not exist. Here it is 404.
///
/// [s3]: https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
pub(super) fn object_ask(operation: &str, bucket: &str, key: Option<&str>) -> Ask {
    let action = match operation {
        "HeadObject" => "GetObject",
        "HeadBucket" | "ListObjects" | "ListObjectsV2" => "ListBucket",
        other => other,
    };
    let bucket = bucket_arn(bucket);
    Ask::new("s3", action, key.map_or(bucket.clone(), |key| format!("{bucket}/{key}")))
}

/// The authorisation request of one entry. Each entry is authorised separately, so each has one source and one type.
pub(super) fn event_ask(entry: &Entry) -> Ask {
    let bus = &entry.event_bus_name;
    let bus = if bus.starts_with("arn:") { bus.clone() } else { bus_arn(bus) };
    Ask::new("events", "PutEvents", bus)
        .with(SOURCE, [entry.source.clone()])
        .with(DETAIL_TYPE, [entry.detail_type.clone()])
}
