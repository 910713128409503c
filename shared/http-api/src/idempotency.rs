//! `Idempotency-Key` on a POST that is not idempotent by itself.
//!
//! The answer is kept in the transaction that does what was asked. So either both are there or none is, and the same
//! request again, after whatever became of its answer, gets that answer and does nothing.

use key_schema::entity::IdempotencyRecord;
use key_schema::value::{IdempotencyKey, IdempotencyRecordId, RequestHash, Timestamp};
use lambda_http::http::StatusCode;
use serde_json::{Value, json};
use table::{Budget, Cause, Condition, Reader, Write, read_item};

use crate::{Answer, Description, FromRequest, Kind, Problem, Reply, Request};

/// A request that is done once, because its client named it with an `Idempotency-Key`.
#[derive(Clone, Debug)]
pub struct Once {
    id: IdempotencyRecordId,
    hash: RequestHash,
    now: Timestamp,
}

impl Request {
    /// The request as one that is done once; `None` without an `Idempotency-Key`.
    ///
    /// What the key stands for is the route, the parameters of its path, and the body, whatever its spaces and the order of
    /// its fields.
    ///
    /// # Errors
    /// `validation` if the key is not valid, or the body no JSON.
    fn once(&self) -> Result<Option<Once>, Problem> {
        let route = self.route();
        let Some(key) = self.header("Idempotency-Key")? else { return Ok(None) };
        let key: IdempotencyKey = key.parse()?;
        let body: Value = self.json()?;
        let canonical = json!([route.method.as_str(), route.path, self.path_parameters(), body]).to_string();
        let id = IdempotencyRecordId::of(&self.caller()?.id, &key);
        Ok(Some(Once { id, hash: RequestHash::of(canonical.as_bytes()), now: Timestamp::now() }))
    }
}

/// `Idempotency-Key`, of a route that does without.
impl FromRequest for Option<Once> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.once()
    }

    fn describe(description: Description) -> Description {
        description.once()
    }
}

/// `Idempotency-Key`, of a route that does not do without.
impl FromRequest for IdempotencyKey {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        let missing = || {
            Problem::new(Kind::IdempotencyKeyMissing, "Send an Idempotency-Key: the same for each try of one order.")
        };
        Ok(request.header("Idempotency-Key")?.ok_or_else(missing)?.parse()?)
    }

    fn describe(description: Description) -> Description {
        description.idempotency_key()
    }
}

impl Once {
    /// The write that keeps the answer, unless one is kept under this key. It must be the last of the transaction.
    pub fn keep(&self, reply: &Reply) -> Result<Write, Problem> {
        let record = IdempotencyRecord {
            record_id: self.id.clone(),
            request_hash: self.hash.clone(),
            status: reply.status().as_u16(),
            location: reply.location().map(str::to_owned),
            version: reply.version(),
            body: reply.body().unwrap_or_default().to_owned(),
            expires_at: IdempotencyRecord::expiry(self.now),
        };
        let is_free = Condition::new("attribute_not_exists(#PK) OR #expiresAt <= :now");
        Ok(Write::put_if(&record, is_free.value(":now", self.now.as_second())?)?)
    }

    /// What a cancelled transaction with [`keep`](Self::keep) says: the kept answer, if the request was done before.
    ///
    /// # Errors
    /// `idempotency-key-reused` if the key was used for another request.
    pub fn done_before(&self, causes: &mut Vec<Cause>) -> Result<Option<Reply>, Problem> {
        match causes.pop() {
            Some(Cause::Condition(Some(kept))) => self.replay(read_item(kept)?).map(Some),
            _ => Ok(None),
        }
    }

    /// The answer to give in place of this one. A refusal may have been caused by this very request: by a copy of it, or by
    /// its own earlier attempt. The record is read so that a transaction that is under way on it is waited for.
    ///
    /// # Errors
    /// The refusal, if no answer is kept.
    pub async fn unless_done_before(&self, answer: Answer, reader: &Reader, budget: Budget) -> Answer {
        match answer {
            Err(refusal) if refusal.kind().status().is_client_error() => {
                let keys = vec![IdempotencyRecord::key_of(&self.id)];
                let kept: Vec<IdempotencyRecord> = reader.transact_get(keys, budget).await?;
                match kept.into_iter().find(|kept| !kept.is_expired(self.now)) {
                    Some(kept) => self.replay(kept),
                    None => Err(refusal),
                }
            }
            answer => answer,
        }
    }

    fn replay(&self, kept: IdempotencyRecord) -> Answer {
        if kept.request_hash != self.hash {
            let detail = "The Idempotency-Key belongs to another request. Use a new key for a new request.";
            return Err(Problem::new(Kind::IdempotencyKeyReused, detail));
        }
        let status = StatusCode::from_u16(kept.status).map_err(Problem::internal)?;
        Ok(Reply::again(status, kept.location, kept.version, kept.body))
    }
}
