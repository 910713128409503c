//! Why DynamoDB throttles a request, and what to do about each.
//!
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-diagnosing.html>

use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::retries::classifiers::{
    ClassifyRetry, RetryAction, RetryClassifierPriority as Priority,
};
use serde::Deserialize;

/// The code of a cancelled transaction for an item that another write was under way on.
pub(crate) const CONFLICT: &str = "TransactionConflict";

/// Why a request was not served now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Throttle {
    /// The table, or an index, has no capacity left this second: provisioned, or up to the ceiling of an on-demand
    /// table. Work that can wait belongs in a queue.
    Capacity,
    /// A transaction was cancelled for being throttled, which has no reasons: it may be either of these two.
    CapacityOrHotKey,
    /// Others are writing the same items. Try again in a moment.
    Contention,
    /// One partition takes more than a partition can: a hot key. Back off; a queue would only be hot as well.
    HotKey,
    /// The account's quota. Only AWS can raise it.
    Account,
}

/// A refusal's body, as far as it says why. DynamoDB spells the field differently from one exception to another.
#[derive(Deserialize)]
struct Refusal {
    #[serde(rename = "ThrottlingReasons", alias = "throttlingReasons", default)]
    reasons: Vec<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(default)]
    reason: String,
}

impl Throttle {
    /// Why a request was refused with this code and this response; `None` if it was not throttled.
    ///
    /// Of several reasons the one counts that is the hardest to do something about. Capacity where DynamoDB does
    /// not say.
    pub(crate) fn of(code: Option<&str>, response: &HttpResponse) -> Option<Self> {
        let unless_told = match code? {
            "RequestLimitExceeded" => Self::Account,
            "ProvisionedThroughputExceededException" | "ThrottlingException" => Self::Capacity,
            _ => return None,
        };
        let refusal: Option<Refusal> = response.body().bytes().and_then(|body| serde_json::from_slice(body).ok());
        let reasons = refusal.map(|refusal| refusal.reasons).unwrap_or_default();
        Some(reasons.iter().map(|reason| Self::named(&reason.reason)).max().unwrap_or(unless_told))
    }

    /// Why a transaction was cancelled with this code for one of its items; `None` if not for being throttled.
    pub(crate) fn of_cancellation(code: &str) -> Option<Self> {
        matches!(code, "ProvisionedThroughputExceeded" | "ThrottlingError").then_some(Self::CapacityOrHotKey)
    }

    fn named(reason: &str) -> Self {
        match reason {
            _ if reason.ends_with("AccountLimitExceeded") => Self::Account,
            _ if reason.ends_with("KeyRangeThroughputExceeded") => Self::HotKey,
            _ => Self::Capacity,
        }
    }
}

/// Keeps the client from repeating a call for which there is no capacity: its caller has something better to do.
#[derive(Debug)]
pub(crate) struct NotForWantOfCapacity;

impl ClassifyRetry for NotForWantOfCapacity {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let code = |body: &[u8]| serde_json::from_slice::<Code>(body).ok();
        let code = context.response().and_then(|response| code(response.body().bytes()?));
        match (code, context.response()) {
            (Some(code), Some(response)) if Throttle::of(code.name(), response) == Some(Throttle::Capacity) => {
                RetryAction::RetryForbidden
            }
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "not for want of capacity"
    }

    /// After all others, so that this one has the last word.
    fn priority(&self) -> Priority {
        Priority::run_after(Priority::transient_error_classifier())
    }
}

/// Keeps the client from repeating a call that may have been done: one that DynamoDB has not refused.
#[derive(Debug)]
pub(crate) struct UnlessRefused;

impl ClassifyRetry for UnlessRefused {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let was_refused = context.response().is_some_and(|response| response.status().is_client_error());
        if was_refused { RetryAction::NoActionIndicated } else { RetryAction::RetryForbidden }
    }

    fn name(&self) -> &'static str {
        "unless refused"
    }

    /// After all others, so that this one has the last word.
    fn priority(&self) -> Priority {
        Priority::run_after(Priority::transient_error_classifier())
    }
}

/// A refusal's body, as far as it says what.
#[derive(Deserialize)]
struct Code {
    #[serde(rename = "__type", default)]
    kind: String,
}

impl Code {
    /// `com.amazonaws.dynamodb.v20120810#ThrottlingException` is `ThrottlingException`.
    fn name(&self) -> Option<&str> {
        self.kind.rsplit('#').next()
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
    fn each_reason_says_what_to_do() {
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
    fn of_several_reasons_the_hardest_counts() {
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
    fn the_field_is_known_in_both_spellings() {
        let body = r#"{"throttlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded"}]}"#;
        assert_eq!(throttle("ThrottlingException", body), Some(Throttle::HotKey));
    }
}
