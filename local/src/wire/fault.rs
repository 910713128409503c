//! What can go wrong between a function and DynamoDB, and to which calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

type Predicate = Arc<dyn Fn(&Value) -> bool + Send + Sync>;

/// Which calls a fault is for.
#[derive(Clone)]
pub struct Match {
    action: Option<&'static str>,
    predicate: Option<Predicate>,
}

impl Match {
    /// Every call.
    pub fn any() -> Self {
        Self { action: None, predicate: None }
    }

    /// Calls of one action: `TransactWriteItems`.
    pub fn action(action: &'static str) -> Self {
        Self { action: Some(action), predicate: None }
    }

    /// Only those whose request satisfies this, too.
    #[must_use]
    pub fn when(self, predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        Self { predicate: Some(Arc::new(predicate)), ..self }
    }

    pub(super) fn matches(&self, action: &str, request: &Value) -> bool {
        self.action.is_none_or(|wanted| wanted == action)
            && self.predicate.as_ref().is_none_or(|predicate| predicate(request))
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Match").field("action", &self.action).finish_non_exhaustive()
    }
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Refused for want of capacity, for one reason: `TableWriteProvisionedThroughputExceeded`, say.
    Throttle {
        /// As in `ThrottlingReasons`.
        reason: &'static str,
        /// The ARN of the table or index.
        resource: String,
    },
    /// The transaction is cancelled because of one of its items.
    Cancel {
        /// The position of the item at fault, from 0.
        item: usize,
        /// As in `CancellationReasons`.
        code: &'static str,
        /// As in `CancellationReasons`.
        message: &'static str,
    },
    /// Another transaction holds the first item, and what it has written already fails the conditions of all others.
    HalfSeen,
    /// DynamoDB fails: 500, nothing done.
    InternalError,
    /// A `BatchGetItem` leaves the last so many keys of each table unprocessed.
    Unprocessed(usize),
    /// The call takes this much longer, and then goes as always.
    Delay(Duration),
    /// The connection is cut before DynamoDB hears of the call: nothing is done.
    CutBefore,
    /// The connection is cut after DynamoDB answered: it is done, and the client does not know.
    CutAfter,
}

impl Fault {
    /// Another transaction holds the item at this position of the transaction.
    pub fn conflict(item: usize) -> Self {
        Self::Cancel { item, code: "TransactionConflict", message: "Transaction is ongoing for the item" }
    }

    /// The answer that DynamoDB would give instead of doing the call, if this fault makes it refuse.
    pub(super) fn refusal(&self, request: &Value) -> Option<(u16, Value)> {
        match self {
            Self::Throttle { reason, resource } => Some((
                400,
                json!({
                    "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
                    "message": "The level of configured provisioned throughput for the table was exceeded.",
                    "ThrottlingReasons": [{ "reason": reason, "resource": resource }],
                }),
            )),
            Self::Cancel { item, code, message } => {
                Some((400, cancelled(request, |at| (at == *item).then_some((*code, *message)))))
            }
            Self::HalfSeen => Some((
                400,
                cancelled(request, |at| match at {
                    0 => Some(("TransactionConflict", "Transaction is ongoing for the item")),
                    _ => Some(("ConditionalCheckFailed", "The conditional request failed")),
                }),
            )),
            Self::InternalError => Some((
                500,
                json!({
                    "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
                    "message": "The request processing has failed because of an unknown error.",
                }),
            )),
            Self::Unprocessed(_) | Self::Delay(_) | Self::CutBefore | Self::CutAfter => None,
        }
    }
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

/// Takes the last `count` keys of each table out of a `BatchGetItem`. Answers them as its `UnprocessedKeys`. The first
/// key stays, for DynamoDB refuses a batch of which it can read nothing.
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

/// A fault that waits for its calls.
pub(super) struct Rule {
    pub(super) matching: Match,
    pub(super) fault: Fault,
    pub(super) times: usize,
}

/// The fault for this call, if one waits for it; it is then used up by one.
pub(super) fn next(rules: &mut Vec<Rule>, action: &str, request: &Value) -> Option<Fault> {
    let rule = rules.iter_mut().find(|rule| rule.times > 0 && rule.matching.matches(action, request))?;
    rule.times -= 1;
    let fault = rule.fault.clone();
    rules.retain(|rule| rule.times > 0);
    Some(fault)
}
