//! The reasons for which DynamoDB throttles a request, and which of them are retried.
//!
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-diagnosing.html>

use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::retries::classifiers::{
    ClassifyRetry, RetryAction, RetryClassifierPriority as Priority,
};
use serde::Deserialize;

/// The limit for which DynamoDB throttled a request. If there are several, the greatest counts: the hardest to remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Throttle {
    /// The capacity of the table or of an index for this second: provisioned, or the maximum of an on-demand table.
    /// Work that can wait belongs in a queue.
    Capacity,
    /// [`Capacity`](Self::Capacity) or [`HotKey`](Self::HotKey): a transaction was cancelled because it was throttled,
    /// and DynamoDB does not report the reason then.
    CapacityOrHotKey,
    /// Other requests are writing the same items. Try again in a moment.
    Contention,
    /// A migration between two tables is at the point at which both must stay equal, and this write cannot be done in
    /// both. It can be done a minute later. Work that can wait belongs in a queue.
    Handover,
    /// The throughput of one partition: a hot key. Back off; messages in a queue would hit the same partition.
    HotKey,
    /// The account's quota. Only AWS can raise it.
    Account,
}

/// The throttling reasons in an error's body. DynamoDB's exceptions differ in how they spell the field.
#[derive(Deserialize)]
struct ThrottlingBody {
    #[serde(rename = "ThrottlingReasons", alias = "throttlingReasons", default)]
    reasons: Vec<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(default)]
    reason: String,
}

impl Throttle {
    /// Whether there was no capacity, or may have been none: work that can wait belongs in a queue.
    pub const fn is_of_capacity(self) -> bool {
        matches!(self, Self::Capacity | Self::CapacityOrHotKey | Self::Handover)
    }

    /// Whether too many requests want the same items or the same partition.
    pub const fn is_of_a_crowd(self) -> bool {
        matches!(self, Self::Contention | Self::HotKey)
    }

    /// The throttle behind an error with this code and this response; `None` if the request was not throttled.
    ///
    /// If DynamoDB gives several reasons, the greatest counts. If it gives none, the code decides.
    pub(crate) fn of(code: Option<&str>, response: &HttpResponse) -> Option<Self> {
        let without_reasons = match code? {
            "RequestLimitExceeded" => Self::Account,
            "ProvisionedThroughputExceededException" | "ThrottlingException" => Self::Capacity,
            _ => return None,
        };
        let body: Option<ThrottlingBody> = response.body().bytes().and_then(|body| serde_json::from_slice(body).ok());
        let reasons = body.map(|body| body.reasons).unwrap_or_default();
        Some(reasons.iter().map(|reason| Self::of_reason(&reason.reason)).max().unwrap_or(without_reasons))
    }

    /// The throttle behind a cancellation code of a transaction's item; `None` if the item was not throttled.
    pub(crate) fn of_cancellation(code: &str) -> Option<Self> {
        matches!(code, "ProvisionedThroughputExceeded" | "ThrottlingError").then_some(Self::CapacityOrHotKey)
    }

    fn of_reason(reason: &str) -> Self {
        match reason {
            _ if reason.ends_with("AccountLimitExceeded") => Self::Account,
            _ if reason.ends_with("KeyRangeThroughputExceeded") => Self::HotKey,
            _ => Self::Capacity,
        }
    }
}

/// Stops the client's own retries when the table has no capacity left: the caller queues the work instead.
#[derive(Debug)]
pub(crate) struct NoRetryOnCapacity;

impl ClassifyRetry for NoRetryOnCapacity {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let throttle = context.response().and_then(|response| {
            let error: ErrorBody = serde_json::from_slice(response.body().bytes()?).ok()?;
            Throttle::of(error.code(), response)
        });
        match throttle {
            Some(Throttle::Capacity) => RetryAction::RetryForbidden,
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "no retry on capacity"
    }

    /// Runs after all other classifiers, because the last one decides.
    fn priority(&self) -> Priority {
        Priority::run_after(Priority::transient_error_classifier())
    }
}

/// Stops the client's own retries of a call that may have taken effect: any call that DynamoDB did not refuse.
#[derive(Debug)]
pub(crate) struct RetryOnlyIfRefused;

impl ClassifyRetry for RetryOnlyIfRefused {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let was_refused = context.response().is_some_and(|response| response.status().is_client_error());
        if was_refused { RetryAction::NoActionIndicated } else { RetryAction::RetryForbidden }
    }

    fn name(&self) -> &'static str {
        "retry only if refused"
    }

    /// Runs after all other classifiers, because the last one decides.
    fn priority(&self) -> Priority {
        Priority::run_after(Priority::transient_error_classifier())
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "__type", default)]
    qualified_code: String,
}

impl ErrorBody {
    /// `ThrottlingException` of `com.amazonaws.dynamodb.v20120810#ThrottlingException`.
    fn code(&self) -> Option<&str> {
        self.qualified_code.rsplit('#').next()
    }
}

#[cfg(test)]
mod tests {
    use aws_smithy_runtime_api::http::StatusCode;
    use aws_smithy_types::body::SdkBody;

    use super::*;

    fn throttle(code: &str, body: &str) -> Option<Throttle> {
        let status = StatusCode::try_from(400).expect("a status");
        Throttle::of(Some(code), &HttpResponse::new(status, SdkBody::from(body)))
    }

    fn for_reasons(reasons: &[&str]) -> Option<Throttle> {
        let reasons: Vec<_> =
            reasons.iter().map(|reason| format!(r#"{{"reason":"{reason}","resource":"r"}}"#)).collect();
        let reasons = reasons.join(",");
        throttle("ProvisionedThroughputExceededException", &format!(r#"{{"ThrottlingReasons":[{reasons}]}}"#))
    }

    #[test]
    fn each_reason_is_a_throttle_of_its_own() {
        for resource in ["Table", "Index"] {
            for direction in ["Read", "Write"] {
                let of = |reason: &str| for_reasons(&[&format!("{resource}{direction}{reason}")]);
                assert_eq!(of("ProvisionedThroughputExceeded"), Some(Throttle::Capacity));
                assert_eq!(of("MaxOnDemandThroughputExceeded"), Some(Throttle::Capacity));
                assert_eq!(of("KeyRangeThroughputExceeded"), Some(Throttle::HotKey));
                assert_eq!(of("AccountLimitExceeded"), Some(Throttle::Account));
            }
        }
    }

    #[test]
    fn of_several_reasons_the_greatest_counts() {
        let reasons = ["TableWriteProvisionedThroughputExceeded", "IndexWriteKeyRangeThroughputExceeded"];
        assert_eq!(for_reasons(&reasons), Some(Throttle::HotKey));
    }

    #[test]
    fn without_a_reason_the_code_decides() {
        assert_eq!(for_reasons(&[]), Some(Throttle::Capacity));
        assert_eq!(throttle("ThrottlingException", "not JSON"), Some(Throttle::Capacity));
        assert_eq!(throttle("RequestLimitExceeded", "{}"), Some(Throttle::Account));
        assert_eq!(throttle("ValidationException", "{}"), None);
    }

    #[test]
    fn both_spellings_of_the_field_are_read() {
        let body = r#"{"throttlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded"}]}"#;
        assert_eq!(throttle("ThrottlingException", body), Some(Throttle::HotKey));
    }
}
