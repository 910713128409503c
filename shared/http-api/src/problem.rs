//! Problems: RFC 9457 documents, one kind for each thing a client can act upon.

use std::error::Error as StdError;

use lambda_http::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};

use key_schema::entity::OrderStatus;
use key_schema::value::Invalid;
use lambda::Outcome;

type Cause = Box<dyn StdError + Send + Sync>;

/// The details of a 503, by its outcome.
const NOTHING_WRITTEN: &str = "Nothing was written. Send the same request again after the time in Retry-After.";
const OUTCOME_UNKNOWN: &str = "The outcome is not known. Send the same request again after the time in Retry-After.";

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $slug:literal $status:ident $title:literal;)+) => {
        /// What went wrong, as far as a client can do something about it. `docs/problems.md` explains each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The last part of the problem's `type`.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$kind => $slug,)+ }
            }

            /// The status code.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$kind => StatusCode::$status,)+ }
            }

            /// The problem's `title`.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$kind => $title,)+ }
            }
        }
    };
}

kinds! {
    /// The request does not read.
    Validation = "validation" BAD_REQUEST "The request is not valid";
    /// An order needs an idempotency key.
    IdempotencyKeyMissing = "idempotency-key-missing" BAD_REQUEST "The Idempotency-Key header is missing";
    /// No valid token.
    Unauthorized = "unauthorized" UNAUTHORIZED "A valid token is needed";
    /// A token without the scope, or an act on another's behalf.
    Forbidden = "forbidden" FORBIDDEN "Not allowed";
    /// It does not exist, or is not the caller's.
    NotFound = "not-found" NOT_FOUND "Not found";
    /// Something with this id or code exists, and is different.
    AlreadyExists = "already-exists" CONFLICT "It exists already";
    /// Another customer has the username.
    UsernameTaken = "username-taken" CONFLICT "The username is taken";
    /// Another customer has the e-mail address.
    EmailTaken = "email-taken" CONFLICT "The e-mail address is taken";
    /// Not enough units.
    OutOfStock = "out-of-stock" CONFLICT "Not enough in stock";
    /// Another total than expected.
    PriceChanged = "price-changed" CONFLICT "The order comes to another total";
    /// No such code, or not now.
    DiscountInvalid = "discount-invalid" CONFLICT "The discount code is not valid";
    /// No uses left.
    DiscountExhausted = "discount-exhausted" CONFLICT "The discount code is used up";
    /// No such card.
    GiftCardInvalid = "gift-card-invalid" CONFLICT "The gift card is not valid";
    /// Not enough on the card.
    GiftCardBalance = "gift-card-balance" CONFLICT "The gift card does not hold enough";
    /// The key belongs to another request.
    IdempotencyKeyReused = "idempotency-key-reused" UNPROCESSABLE_ENTITY "The idempotency key was used for another request";
    /// The order cannot change so.
    InvalidTransition = "invalid-transition" CONFLICT "The order's status does not allow it";
    /// Somebody else was faster.
    VersionConflict = "version-conflict" PRECONDITION_FAILED "It has changed since it was read";
    /// A change needs to say what it changes.
    PreconditionRequired = "precondition-required" PRECONDITION_REQUIRED "The If-Match header is missing";
    /// More than one request can hold.
    TooLarge = "too-large" PAYLOAD_TOO_LARGE "The request is too large";
    /// Come back later.
    Throttled = "throttled" SERVICE_UNAVAILABLE "The shop is busy";
    /// Our fault.
    Internal = "internal" INTERNAL_SERVER_ERROR "Something went wrong";
}

/// A problem: what the client is told, and what only the log is told.
#[derive(Debug)]
pub struct Problem {
    kind: Kind,
    detail: String,
    members: Map<String, Value>,
    cause: Option<Cause>,
}

/// A problem as it is sent.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    #[serde(flatten)]
    members: &'a Map<String, Value>,
}

impl Problem {
    /// A problem of a kind. The detail is for whoever wrote the client: what is wrong, and what to do.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), members: Map::new(), cause: None }
    }

    /// There is no such thing, or not for this caller.
    pub fn not_found(what: &str) -> Self {
        Self::new(Kind::NotFound, format!("There is no such {what}."))
    }

    /// Something of that id or code exists and differs from what was asked for.
    pub fn already_exists(what: &str) -> Self {
        Self::new(Kind::AlreadyExists, format!("Another {what} with this id or code exists."))
    }

    /// A change that does not say which version it is meant for.
    pub fn precondition_required() -> Self {
        Self::new(Kind::PreconditionRequired, "Send If-Match with the ETag of what you have read.")
    }

    /// Somebody else was faster.
    pub fn version_conflict(version: u64) -> Self {
        Self::new(Kind::VersionConflict, "Read it again, and send the change with the ETag it has now.")
            .with("version", version)
    }

    /// An order of this status cannot change so.
    pub fn invalid_transition(status: OrderStatus) -> Self {
        Self::new(Kind::InvalidTransition, format!("The order is {status}.")).with("orderStatus", status)
    }

    /// It could not be done in time, for this reason: the same request again may succeed. Whether this one has written
    /// something is found out for every route alike, and told in `outcome`.
    pub fn throttled(cause: impl Into<Cause>) -> Self {
        Self::because(Kind::Throttled, OUTCOME_UNKNOWN, cause)
    }

    /// It is our fault, for this reason, which only the log is told.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::because(Kind::Internal, "The request failed and was logged.", cause)
    }

    /// Adds a member that a program can read.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // A value that is no JSON would leave the member out; all that are passed here are ids, numbers and money.
        if let Ok(value) = serde_json::to_value(value) {
            self.members.insert(name.to_owned(), value);
        }
        self
    }

    /// Tells what the request has written, if it failed for a reason that is not the client's.
    #[must_use]
    pub(crate) fn with_outcome(mut self, outcome: Outcome) -> Self {
        if !self.kind.status().is_server_error() {
            return self;
        }
        if (self.kind, outcome) == (Kind::Throttled, Outcome::None) {
            NOTHING_WRITTEN.clone_into(&mut self.detail);
        }
        self.with("outcome", outcome)
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the log is told.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

    /// The document.
    pub(crate) fn document(&self) -> Document<'_> {
        Document {
            kind: format!("/problems/{}", self.kind.slug()),
            title: self.kind.title(),
            status: self.kind.status().as_u16(),
            detail: &self.detail,
            members: &self.members,
        }
    }

    fn because(kind: Kind, detail: &str, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..Self::new(kind, detail) }
    }
}

impl From<Invalid> for Problem {
    fn from(invalid: Invalid) -> Self {
        Self::new(Kind::Validation, invalid.to_string())
    }
}

impl From<table::Error> for Problem {
    fn from(error: table::Error) -> Self {
        match error {
            table::Error::Cursor(invalid) => invalid.into(),
            table::Error::Throttled { .. } | table::Error::Unanswered(_) => Self::throttled(error),
            table::Error::Refused(_)
            | table::Error::Inconsistent(_)
            | table::Error::Denied(_)
            | table::Error::Item(_) => Self::internal(error),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error)
    }
}
