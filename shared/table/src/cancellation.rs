//! The reasons for which DynamoDB cancels a transaction.

use aws_sdk_dynamodb::types::CancellationReason;

use crate::Throttle;

pub(crate) const CONDITION_FAILED: &str = "ConditionalCheckFailed";

/// The code of an item that another request was writing at the same time.
const CONFLICT: &str = "TransactionConflict";

/// The reason that decides what happens after a cancelled transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancellation {
    /// An item was throttled.
    Throttled(Throttle),
    /// Another request was writing one of the items.
    Conflict,
    /// A condition failed.
    ConditionFailed,
    /// DynamoDB refused one of the actions as invalid.
    Invalid,
}

impl Cancellation {
    /// The reason that decides among those of all items.
    ///
    /// A conflict takes precedence over a failed condition: if there was a conflict, the condition may have failed
    /// because of a part of another transaction that is still in progress.
    pub(crate) fn of(reasons: &[CancellationReason]) -> Self {
        let has = |code: &str| reasons.iter().any(|reason| reason.code() == Some(code));
        if let Some(by) = reasons.iter().find_map(|reason| Throttle::of_cancellation(reason.code()?)) {
            Self::Throttled(by)
        } else if has(CONFLICT) {
            Self::Conflict
        } else if has(CONDITION_FAILED) {
            Self::ConditionFailed
        } else {
            Self::Invalid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throttle_comes_before_a_conflict_and_a_conflict_before_a_failed_condition() {
        let of = |codes: &[&str]| {
            let reasons = codes.iter().map(|code| CancellationReason::builder().code(*code).build());
            Cancellation::of(&reasons.collect::<Vec<_>>())
        };
        let throttled = Cancellation::Throttled(Throttle::CapacityOrHotKey);
        assert_eq!(of(&["None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError"]), throttled);
        assert_eq!(of(&["ConditionalCheckFailed", "TransactionConflict", "None"]), Cancellation::Conflict);
        assert_eq!(of(&["None", "ConditionalCheckFailed"]), Cancellation::ConditionFailed);
        assert_eq!(of(&["None", "ValidationError"]), Cancellation::Invalid);
    }
}
