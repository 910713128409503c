//! Reports to a source's on-failure destination about records that were given up.

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::record::Record;
use crate::resource::{ACCOUNT, REGION};
use crate::s3::Store;
use crate::sqs::Sqs;
use crate::template::Destination;

/// Reports what was given up, with the rights of the function's role.
#[derive(Clone)]
pub(crate) struct Failures {
    pub(crate) sqs: Sqs,
    /// The buckets, if the template has any.
    pub(crate) store: Option<Store>,
}

impl Failures {
    /// The same, for this function.
    pub(crate) fn of(&self, function: &str) -> Self {
        Self { sqs: self.sqs.signed_by(function), store: self.store.clone() }
    }

    /// Sends the message to a queue; or puts it into a bucket, together with the event whose records were given up.
    pub(super) async fn report(
        &self,
        destination: &Destination,
        function: &str,
        shard: &str,
        mut message: Value,
        payload: impl FnOnce() -> Value,
    ) -> Result<()> {
        match destination {
            Destination::Queue(queue) => {
                self.sqs.send(queue, &message.to_string().into(), &Value::Null).await.map(drop)
            }
            Destination::Bucket(bucket) => {
                message["payload"] = json!(payload().to_string());
                let store = self.store.as_ref().context("the stack has no bucket")?;
                store.keep(function, bucket, &key(function, shard), message.to_string().into_bytes()).await
            }
        }
    }
}

/// The key of a new object, as Lambda makes it
/// ([source](https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html)). The laptop's event sources have
/// no UUID, so the function's name is in its place.
fn key(function: &str, shard: &str) -> String {
    let now = Timestamp::now();
    let (day, time) = (now.strftime("%Y/%m/%d"), now.strftime("%Y-%m-%dT%H.%M.%S"));
    // A part of a UUID: the embedded S3 makes file names of keys, and the longest file name has 255 bytes.
    let random: String = Uuid::new_v4().simple().to_string().chars().take(8).collect();
    format!("aws/lambda/{function}/{shard}/{day}/{time}-{random}")
}

/// Why records were given up.
pub(super) struct Reason {
    condition: &'static str,
    /// The number of invocations with the records.
    invocations: u64,
    function_failed: bool,
}

impl Reason {
    /// The records failed this many times: the function failed, or it reported them as failed.
    pub(super) fn retry_attempts_exhausted(invocations: u64, function_failed: bool) -> Self {
        Self { condition: "RetryAttemptsExhausted", invocations, function_failed }
    }

    /// The records became too old after this many failures.
    pub(super) fn record_age_exceeded(invocations: u64) -> Self {
        Self { condition: "RecordAgeExceeded", invocations, function_failed: invocations > 0 }
    }
}

/// The message about these records, at least one, of one shard. It says where the records are, and not what they contain.
pub(super) fn pointer(records: &[&Record], reason: &Reason, function: &str, stream: &str, shard: &str) -> Value {
    let (first, last) = (records.first(), records.last());
    let mut message = json!({
        "requestContext": {
            "requestId": Uuid::new_v4().to_string(),
            "functionArn": format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}"),
            "condition": reason.condition,
            "approximateInvokeCount": reason.invocations,
        },
        "version": "1.0",
        "timestamp": format!("{:.3}", Timestamp::now()),
        "DDBStreamBatchInfo": {
            "shardId": shard,
            "startSequenceNumber": first.map(|record| &record.sequence_number),
            "endSequenceNumber": last.map(|record| &record.sequence_number),
            "approximateArrivalOfFirstRecord": first.map(|record| record.created.to_string()),
            "approximateArrivalOfLastRecord": last.map(|record| record.created.to_string()),
            "batchSize": records.len(),
            "streamArn": stream,
        },
    });
    if reason.invocations > 0 {
        let mut response = json!({ "statusCode": 200, "executedVersion": "$LATEST" });
        if reason.function_failed {
            response["functionError"] = json!("Unhandled");
        }
        message["responseContext"] = response;
    }
    message
}
