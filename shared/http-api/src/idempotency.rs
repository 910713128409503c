//! `Idempotency-Key` for POST routes that are not idempotent by themselves.
//!
//! The transaction that carries out the request also stores its answer, so both are written or neither is. If the
//! answer is lost and the client sends the same request again, it gets the stored answer, and nothing else happens.

use key_schema::entity::IdempotencyRecord;
use key_schema::value::{IdempotencyKey, IdempotencyRecordId, RequestHash, Timestamp};
use lambda_http::http::StatusCode;
use serde_json::{Value, json};
use table::{Budget, Cause, Condition, Reader, Write, read_item};

use crate::{Answer, Description, FromRequest, Kind, Problem, Reply, Request};

/// A request with an `Idempotency-Key`, which is carried out only once.
#[derive(Clone, Debug)]
pub struct Once {
    id: IdempotencyRecordId,
    hash: RequestHash,
    now: Timestamp,
}

impl Request {
    /// Reads the `Idempotency-Key`; `None` without one.
    ///
    /// The key belongs to the route, the path parameters and the body. Whitespace in the body and the order of its
    /// fields do not matter.
    ///
    /// # Errors
    /// `validation` if the key is invalid or the body is not JSON.
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

/// An optional `Idempotency-Key`.
impl FromRequest for Option<Once> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.once()
    }

    fn describe(description: Description) -> Description {
        description.once()
    }
}

/// A required `Idempotency-Key`.
impl FromRequest for IdempotencyKey {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        let missing = || {
            let detail = "Send an Idempotency-Key: a new one for each order, the same for its retries.";
            Problem::new(Kind::IdempotencyKeyMissing, detail)
        };
        Ok(request.header("Idempotency-Key")?.ok_or_else(missing)?.parse()?)
    }

    fn describe(description: Description) -> Description {
        description.idempotency_key()
    }
}

impl Once {
    /// The write that stores the answer, if the key has no stored answer yet or an expired one. It must be the last
    /// write of the transaction.
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

    /// The stored answer, if it is the reason why a transaction with [`keep`](Self::keep) was cancelled: then an
    /// earlier request with this key was carried out. Takes the last of `causes`, which is the one of that write.
    ///
    /// # Errors
    /// `idempotency-key-reused` if the key was used for another request.
    pub fn done_before(&self, causes: &mut Vec<Cause>) -> Result<Option<Reply>, Problem> {
        match causes.pop() {
            Some(Cause::Condition(Some(kept))) => self.replay(read_item(kept)?).map(Some),
            _ => Ok(None),
        }
    }

    /// The stored answer in place of a refusal, if there is one. A copy or an earlier attempt of this request may have
    /// caused the refusal, and may still be writing the record. So this is a snapshot read, which is retried while a
    /// transaction writes the record.
    ///
    /// # Errors
    /// The refusal, if no answer is stored. `idempotency-key-reused` if the key was used for another request.
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
