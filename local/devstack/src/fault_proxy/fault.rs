//! Faults between a function and DynamoDB.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// The Region and account in the embedded engine's own ARNs.
const LOCAL: &str = "dynoxide:000000000000";

/// A fault that a call suffers.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The call is throttled for one reason, for example `TableWriteProvisionedThroughputExceeded`. The reason
    /// determines which of its three throttling exceptions DynamoDB returns.
    Throttle {
        /// The reason, as in `ThrottlingReasons`.
        reason: &'static str,
        /// The ARN of the table or index.
        resource: String,
    },
    /// The transaction is cancelled because of one of its items.
    Cancel {
        /// The position of the item at fault, from 0. In a transaction with fewer items, it is the last item.
        item: usize,
        /// As in `CancellationReasons`.
        code: &'static str,
        /// As in `CancellationReasons`.
        message: &'static str,
    },
    /// Another transaction holds the first item, and its writes already fail the conditions of all other items.
    HalfSeen,
    /// A write outside a transaction is refused, because a transaction holds its item.
    Conflict,
    /// A transaction is refused, because an earlier attempt with its token is still in progress.
    InProgress,
    /// DynamoDB fails with 500. The call has no effect.
    InternalError,
    /// A `BatchGetItem` leaves this many keys of each table unprocessed: the last ones.
    Unprocessed(usize),
    /// The call is delayed by this time.
    Delay(Duration),
    /// The call is delayed until the gate opens.
    Held(Gate),
    /// The connection is cut before the call reaches DynamoDB. The call has no effect.
    CutBefore,
    /// The connection is cut after DynamoDB answered. The call took effect, and the client does not know.
    CutAfter,
    /// The connection is cut at once, and the call takes effect after this time: for example after the client's retry.
    Late(Duration),
    /// The service refuses the call with this status and this exception. The call has no effect.
    Refused {
        /// The status, 400 or above.
        status: u16,
        /// The exception, as in `__type`.
        exception: &'static str,
    },
    /// Every entry of a batch fails. The call has no effect.
    FailedEntries,
}

/// Holds calls until it opens.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    /// A gate that is closed.
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets all calls pass, now and later.
    pub fn open(&self) {
        self.0.close();
    }

    pub(super) async fn passed(&self) {
        // There are no permits: waiting for one ends when the semaphore is closed.
        _ = self.0.acquire().await;
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Fault {
    /// A conflict: another transaction holds the item at this position.
    pub fn conflict(item: usize) -> Self {
        Self::Cancel { item, code: "TransactionConflict", message: "Transaction is ongoing for the item" }
    }

    /// A throttle: the provisioned write units of the table, or of this index, are used up.
    pub(super) fn beyond_provisioned(table: &str, index: Option<&str>) -> Self {
        let table = format!("arn:aws:dynamodb:{LOCAL}:table/{table}");
        match index {
            None => Self::Throttle { reason: "TableWriteProvisionedThroughputExceeded", resource: table },
            Some(index) => Self::Throttle {
                reason: "IndexWriteProvisionedThroughputExceeded",
                resource: format!("{table}/index/{index}"),
            },
        }
    }

    /// The same as a cancellation: the item at this position finds no capacity.
    pub(super) fn exhausted(item: usize, index: bool) -> Self {
        let message = if index {
            "The level of configured provisioned throughput for one or more global secondary indexes of the table was \
             exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes \
             with the UpdateTable API."
        } else {
            "The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
             provisioning level with the UpdateTable API."
        };
        Self::Cancel { item, code: "ProvisionedThroughputExceeded", message }
    }

    /// DynamoDB's refusal of the call, if this fault is one.
    pub(super) fn refusal(&self, request: &Value) -> Option<(u16, Value)> {
        match self {
            Self::Throttle { reason, resource } => Some((400, throttled(reason, resource))),
            Self::Cancel { item, code, message } => {
                let last = request["TransactItems"].as_array().map_or(0, |items| items.len().saturating_sub(1));
                Some((400, cancelled(request, |at| (at == *item.min(&last)).then_some((*code, *message)))))
            }
            Self::HalfSeen => Some((
                400,
                cancelled(request, |at| match at {
                    0 => Some(("TransactionConflict", "Transaction is ongoing for the item")),
                    _ => Some(("ConditionalCheckFailed", "The conditional request failed")),
                }),
            )),
            Self::Conflict => Some((
                400,
                json!({
                    "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
                    "message": "Transaction is ongoing for the item",
                }),
            )),
            Self::InProgress => Some((
                400,
                json!({
                    "__type": "com.amazonaws.dynamodb.v20120810#TransactionInProgressException",
                    "Message": "The transaction with the given request token is already in progress",
                }),
            )),
            Self::InternalError => Some((
                500,
                json!({
                    "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
                    "message": "The request processing has failed because of an unknown error.",
                }),
            )),
            Self::Refused { status, exception } => {
                Some((*status, json!({ "__type": exception, "message": "The service was told to refuse." })))
            }
            Self::FailedEntries => Some((200, failed_entries(request))),
            Self::Unprocessed(_)
            | Self::Delay(_)
            | Self::Held(_)
            | Self::CutBefore
            | Self::CutAfter
            | Self::Late(_) => None,
        }
    }
}

/// The exception for this reason. `ThrottlingException` comes from another service model, and spells its list with a
/// lower-case letter.
fn throttled(reason: &str, resource: &str) -> Value {
    let (exception, list, message) = if reason.ends_with("MaxOnDemandThroughputExceeded") {
        (
            "com.amazon.coral.availability#ThrottlingException",
            "throttlingReasons",
            "Throughput exceeds the maximum OnDemandThroughput configured on table or index",
        )
    } else if reason.ends_with("AccountLimitExceeded") {
        (
            "com.amazonaws.dynamodb.v20120810#RequestLimitExceeded",
            "ThrottlingReasons",
            "Throughput exceeds the current throughput limit for your account.",
        )
    } else {
        (
            "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
            "ThrottlingReasons",
            "The level of configured provisioned throughput for the table was exceeded.",
        )
    };
    json!({ "__type": exception, "message": message, list: [{ "reason": reason, "resource": resource }] })
}

fn cancelled(request: &Value, reason: impl Fn(usize) -> Option<(&'static str, &'static str)>) -> Value {
    let items = request["TransactItems"].as_array().map_or(0, Vec::len);
    let reasons: Vec<Value> = (0..items)
        .map(|at| match reason(at) {
            Some((code, message)) => json!({ "Code": code, "Message": message }),
            None => json!({ "Code": "None" }),
        })
        .collect();
    let codes: Vec<&str> = reasons.iter().filter_map(|reason| reason["Code"].as_str()).collect();
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
            codes.join(", ")
        ),
        "CancellationReasons": reasons,
    })
}

/// The response of SQS to a batch, or of EventBridge, whose requests name no queue.
fn failed_entries(request: &Value) -> Value {
    let entries = request["Entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    if request["QueueUrl"].is_null() {
        let failed = json!({ "ErrorCode": "InternalFailure", "ErrorMessage": "It was told to fail." });
        return json!({ "FailedEntryCount": entries.len(), "Entries": vec![failed; entries.len()] });
    }
    let failed =
        entries.iter().map(|entry| json!({ "Id": entry["Id"], "Code": "InternalError", "SenderFault": false }));
    json!({ "Successful": [], "Failed": failed.collect::<Vec<_>>() })
}

/// Removes the last `count` keys of each table from a `BatchGetItem`, and returns them as its `UnprocessedKeys`. The
/// first key stays, because DynamoDB refuses a batch without keys.
pub(super) fn hold_back(request: &mut Value, count: usize) -> Value {
    let mut unprocessed = json!({});
    for (table, wanted) in request["RequestItems"].as_object_mut().into_iter().flatten() {
        let mut rest = wanted.clone();
        let Some(keys) = wanted["Keys"].as_array_mut() else { continue };
        let held = keys.split_off(keys.len().saturating_sub(count).max(1).min(keys.len()));
        if !held.is_empty() {
            rest["Keys"] = Value::Array(held);
            unprocessed[table.as_str()] = rest;
        }
    }
    unprocessed
}
