//! The stored answers to requests with an idempotency key.

use key_schema::entity::IdempotencyRecord;
use key_schema::value::{IdempotencyRecordId, Timestamp};

use crate::{Budget, Cause, Condition, Error, Reader, Write, item};

impl Write {
    /// Stores an answer, if its key has no stored answer yet or an expired one. It must be the last write of the
    /// transaction, so that [`stored_answer`] finds its cause.
    pub fn answer(record: &IdempotencyRecord, now: Timestamp) -> Result<Self, Error> {
        let is_free = Condition::new("attribute_not_exists(#PK) OR #expiresAt <= :now");
        Self::put_if(record, is_free.value(":now", now.as_second())?)
    }
}

/// The stored answer, if it is the reason why a transaction with [`Write::answer`] was cancelled. Takes the last of
/// `causes`, which is the one of that write.
pub fn stored_answer(causes: &mut Vec<Cause>) -> Result<Option<IdempotencyRecord>, Error> {
    match causes.pop() {
        Some(Cause::Condition(Some(stored))) => item::read(stored).map(Some),
        _ => Ok(None),
    }
}

impl Reader {
    /// The stored answer, unless it has expired. A snapshot read, which is retried while a transaction writes the
    /// record.
    pub async fn answer(
        &self,
        id: &IdempotencyRecordId,
        now: Timestamp,
        budget: Budget,
    ) -> Result<Option<IdempotencyRecord>, Error> {
        let stored: Vec<IdempotencyRecord> = self.transact_get(vec![IdempotencyRecord::key_of(id)], budget).await?;
        Ok(stored.into_iter().find(|record| !record.is_expired(now)))
    }
}
