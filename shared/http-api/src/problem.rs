//! Problems: RFC 9457 documents, with one kind for each error that a client may handle in its own way.

use std::error::Error as StdError;
use std::fmt::Display;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};

use key_schema::entity::{OrderStatus, QueuedOrder};
use key_schema::value::ProductId;
use lambda::{Failure, Outcome, Remedy};

use crate::view::QueueStatus;

type Cause = Box<dyn StdError + Send + Sync>;

/// The details of a 503, for each outcome.
const NOTHING_WRITTEN: &str = "Nothing was written. Send the same request again after the time in Retry-After.";
const OUTCOME_UNKNOWN: &str = "The outcome is unknown. Send the same request again after the time in Retry-After.";

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $slug:literal $status:ident $title:literal;)+) => {
        /// The kind of a problem. `docs/problems.md` explains each kind to the authors of clients.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The last part of the problem's `type`.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$kind => $slug,)+ }
            }

            pub const fn status(self) -> StatusCode {
                match self { $(Self::$kind => StatusCode::$status,)+ }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$kind => $title,)+ }
            }
        }
    };
}

kinds! {
    /// The request is malformed or invalid.
    Validation = "validation" BAD_REQUEST "The request is not valid";
    /// A part of the request contains a payment card number.
    CardNumber = "card-number" UNPROCESSABLE_ENTITY "The request contains a payment card number";
    IdempotencyKeyMissing = "idempotency-key-missing" BAD_REQUEST "The Idempotency-Key header is missing";
    Unauthorized = "unauthorized" UNAUTHORIZED "A valid token is needed";
    /// The token lacks the route's scope, or the request is about another customer.
    Forbidden = "forbidden" FORBIDDEN "Not allowed";
    /// The resource does not exist, or does not belong to the caller.
    NotFound = "not-found" NOT_FOUND "Not found";
    /// The shop has no search index.
    SearchOff = "search-off" NOT_FOUND "The shop has no search";
    /// A resource with this id or code exists, and differs from the request.
    AlreadyExists = "already-exists" CONFLICT "It exists already";
    /// The customer was erased.
    CustomerErased = "customer-erased" CONFLICT "The customer was erased";
    /// Orders of the customer are not finished.
    OpenOrders = "open-orders" CONFLICT "Orders of the customer are not finished";
    UsernameTaken = "username-taken" CONFLICT "The username is taken";
    EmailTaken = "email-taken" CONFLICT "The e-mail address is taken";
    /// With the order, too many units of the customer's orders would wait for payment.
    OpenUnits = "open-units" CONFLICT "Too many units wait for payment";
    OutOfStock = "out-of-stock" CONFLICT "Not enough in stock";
    /// The order would cost another amount than the client expects or allows.
    PriceChanged = "price-changed" CONFLICT "The order comes to another total";
    /// The product has as many images as a product may have.
    TooManyImages = "too-many-images" CONFLICT "The product has too many images";
    /// The customer has claimed as many guests as a customer may claim.
    TooManyGuests = "too-many-guests" CONFLICT "The customer has too many guests";
    /// The country is in no zone of the shipping rates, or the order is beyond every band of its zone.
    ProductRecalled = "product-recalled" CONFLICT "A product is recalled";
    NotShipped = "not-shipped" CONFLICT "The shop does not ship there";
    /// The customer's cart is not the one that the order names.
    CartChanged = "cart-changed" CONFLICT "The cart has changed";
    /// The discount code does not exist, or is not valid now.
    DiscountInvalid = "discount-invalid" CONFLICT "The discount code is not valid";
    DiscountExhausted = "discount-exhausted" CONFLICT "The discount code is used up";
    /// A gift card does not exist, is blocked, has expired, or has another currency than the order.
    GiftCardInvalid = "gift-card-invalid" CONFLICT "The gift card is not valid";
    GiftCardBalance = "gift-card-balance" CONFLICT "The gift card does not hold enough";
    /// The payment provider takes no card payment of so small an amount.
    AmountTooSmall = "amount-too-small" CONFLICT "The amount is too small for a card";
    IdempotencyKeyReused = "idempotency-key-reused" UNPROCESSABLE_ENTITY "The idempotency key was used for another request";
    /// The order was accepted to be placed later: it waits, or was rejected.
    NotPlaced = "not-placed" CONFLICT "The order is not placed";
    InvalidTransition = "invalid-transition" CONFLICT "The order's status does not allow it";
    /// The order has fewer units left than the request names.
    TooFewUnits = "too-few-units" CONFLICT "The order has fewer units left";
    /// The customer's period for withdrawal is over.
    WithdrawalOver = "withdrawal-over" CONFLICT "The period for withdrawal is over";
    /// The resource no longer has the version that the request names.
    VersionConflict = "version-conflict" PRECONDITION_FAILED "It has changed since it was read";
    PreconditionRequired = "precondition-required" PRECONDITION_REQUIRED "The If-Match header is missing";
    TooLarge = "too-large" PAYLOAD_TOO_LARGE "The request is too large";
    /// The request was not carried out in time. A retry may succeed.
    Throttled = "throttled" SERVICE_UNAVAILABLE "The shop is busy";
    /// The search index does not answer. Everything else of the shop works.
    SearchUnavailable = "search-unavailable" SERVICE_UNAVAILABLE "The search is not available";
    /// A defect, or an incomplete deployment.
    Internal = "internal" INTERNAL_SERVER_ERROR "Something went wrong";
}

/// A problem. The client gets its kind, detail and members; only the log gets its cause.
#[derive(Debug)]
pub struct Problem {
    kind: Kind,
    detail: String,
    members: Map<String, Value>,
    cause: Option<Cause>,
    /// Whether the same request may succeed soon.
    may_pass: bool,
}

/// The document that the client gets.
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
    /// A problem of this kind. The detail tells the author of the client what is wrong and what to do.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let may_pass = matches!(kind, Kind::Throttled | Kind::SearchUnavailable);
        Self { kind, detail: detail.into(), members: Map::new(), cause: None, may_pass }
    }

    /// The request is malformed or invalid, for this reason.
    pub fn invalid(why: impl Display) -> Self {
        Self::new(Kind::Validation, why.to_string())
    }

    pub(crate) fn card_number(place: &str) -> Self {
        let advice = "Give card numbers to the payment provider only. The shop has not stored or logged this one.";
        Self::new(Kind::CardNumber, format!("{place} contains a payment card number. {advice}"))
    }

    /// The resource does not exist, or does not belong to the caller.
    pub fn not_found(what: &str) -> Self {
        Self::new(Kind::NotFound, format!("There is no such {what}."))
    }

    /// A resource with this id or code exists, and differs from the request.
    pub fn already_exists(what: &str) -> Self {
        Self::new(Kind::AlreadyExists, format!("Another {what} with this id or code exists."))
    }

    /// The request wants more units than the stock has.
    pub fn out_of_stock(product: &ProductId, available: u64) -> Self {
        Self::new(Kind::OutOfStock, format!("Only {available} left in stock."))
            .with("productId", product)
            .with("available", available)
    }

    /// The request does not name the version that it changes.
    pub fn precondition_required() -> Self {
        Self::new(Kind::PreconditionRequired, "Send If-Match with the ETag that you have read.")
    }

    /// The resource no longer has the version that the request names. `version` is its current version.
    pub fn version_conflict(version: u64) -> Self {
        Self::new(Kind::VersionConflict, "Read the resource again, and send the change with its ETag.")
            .with("version", version)
    }

    /// The order's status does not allow the change.
    pub fn invalid_transition(status: OrderStatus) -> Self {
        Self::new(Kind::InvalidTransition, format!("The order is {status}.")).with("orderStatus", status)
    }

    /// The order was accepted to be placed later, and is not placed.
    pub fn not_placed(order: &QueuedOrder) -> Self {
        let status = QueueStatus::of(order);
        let detail = match status {
            QueueStatus::Queued => {
                "The order waits to be placed. Send the request again after the time in Retry-After."
            }
            QueueStatus::Delayed => "The order waits for the shop's staff. Send the request again when it is placed.",
            QueueStatus::Rejected => "The order was rejected, and will not be placed.",
        };
        let may_pass = matches!(status, QueueStatus::Queued);
        Self { may_pass, ..Self::new(Kind::NotPlaced, detail) }.with("orderStatus", status)
    }

    /// The request was not carried out in time, for this reason. A retry may succeed. The handler's caller adds
    /// `outcome`, which says whether the request may have written something.
    pub fn throttled(cause: impl Into<Cause>) -> Self {
        Self::because(Kind::Throttled, OUTCOME_UNKNOWN, cause)
    }

    /// The search index does not answer, for this reason. Only the log gets the reason.
    pub fn search_unavailable(cause: impl Into<Cause>) -> Self {
        let detail = "The search does not answer now. The lists of products and categories do.";
        Self::because(Kind::SearchUnavailable, detail, cause)
    }

    /// A defect or an incomplete deployment. Only the log gets the cause.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::because(Kind::Internal, "The request failed and was logged.", cause)
    }

    /// Adds a member to the document, for programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // All values are ids, numbers and money, so serializing them cannot fail.
        if let Ok(value) = serde_json::to_value(value) {
            self.members.insert(name.to_owned(), value);
        }
        self
    }

    /// Adds to a 500 or 503 whether the request may have written something.
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

    /// Whether the same request may succeed soon.
    pub(crate) fn may_pass(&self) -> bool {
        self.may_pass
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// A member of the document.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// The cause, for the log.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

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

/// An error of a service that the function calls.
impl<E: Failure> From<E> for Problem {
    fn from(error: E) -> Self {
        match error.remedy() {
            Remedy::Correct => Self::invalid(error),
            Remedy::Retry => Self::throttled(error),
            Remedy::None => Self::internal(error),
        }
    }
}
