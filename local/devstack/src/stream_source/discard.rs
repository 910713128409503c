//! Messages to a source's on-failure queue about records that were given up.

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::record::Record;
use crate::resource::{ACCOUNT, REGION};

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

/// The message about these records, at least one, of one shard. It contains pointers to the records, not their content.
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
