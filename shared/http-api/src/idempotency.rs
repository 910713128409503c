//! `Idempotency-Key` for POST routes that are not idempotent by themselves.
//!
//! The transaction that carries out the request also stores its answer, so both are written or neither is. If the
//! answer is lost and the client sends the same request again, it gets the stored answer, and nothing else happens.

use http::StatusCode;
use key_schema::entity::IdempotencyRecord;
use key_schema::value::{IdempotencyKey, IdempotencyRecordId, RequestHash, Timestamp};
use serde_json::{Value, json};

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
        let key: IdempotencyKey = key.parse().map_err(Problem::invalid)?;
        // The handler's own argument parses the body again, into its type. Parsing that type from this value instead
        // would save less than a second parser costs: only two routes for staff take keys, and their bodies are small.
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
            let detail = "Send an Idempotency-Key: a new one for each request, the same for its retries.";
            Problem::new(Kind::IdempotencyKeyMissing, detail)
        };
        request.header("Idempotency-Key")?.ok_or_else(missing)?.parse().map_err(Problem::invalid)
    }

    fn describe(description: Description) -> Description {
        description.idempotency_key()
    }
}

impl Once {
    /// The id of the record that stores the answer.
    pub const fn record_id(&self) -> &IdempotencyRecordId {
        &self.id
    }

    /// The time of the request.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// The record that stores the answer.
    pub fn record(&self, reply: &Reply) -> IdempotencyRecord {
        IdempotencyRecord {
            record_id: self.id.clone(),
            request_hash: self.hash.clone(),
            status: reply.status().as_u16(),
            location: reply.location().map(str::to_owned),
            version: reply.version(),
            body: reply.body().unwrap_or_default().to_owned(),
            expires_at: IdempotencyRecord::expiry(self.now),
        }
    }

    /// The stored answer: an earlier request with this key was carried out.
    ///
    /// # Errors
    /// `idempotency-key-reused` if the key was used for another request.
    pub fn replay(&self, stored: IdempotencyRecord) -> Answer {
        if stored.request_hash != self.hash {
            let detail = "The Idempotency-Key belongs to another request. Use a new key for a new request.";
            return Err(Problem::new(Kind::IdempotencyKeyReused, detail));
        }
        let status = StatusCode::from_u16(stored.status).map_err(Problem::internal)?;
        Ok(Reply::again(status, stored.location, stored.version, stored.body))
    }
}
