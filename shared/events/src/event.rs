//! The events, and what makes each of them that event and no other.

use key_schema::entity::OrderStatus;
use key_schema::value::{CustomerId, InvoiceId, Money, OrderId, Timestamp};
use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema as _, ToSchema};
use uuid::Uuid;

/// The namespace of the events' ids (UUIDv5, RFC 9562). Changing it makes every event that is published again look new.
const NAMESPACE: Uuid = Uuid::from_u128(0x1b0e_7c64_52fd_4a0a_8c3b_2d96_4f1e_a7d8);

/// An event's own id: the same for every copy of the event, and for no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = "uuid", example = "9ea45d61-8e1e-597f-8ec9-0932f86e9492")]
pub struct EventId(String);

/// An order was placed. It is the order's version 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderPlaced {
    /// The event's own id.
    pub id: EventId,
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// When.
    pub placed_at: Timestamp,
    /// Pending while the card is to be charged, or paid.
    pub status: OrderStatus,
    /// What is to be paid.
    pub total: Money,
    /// How many lines the order has.
    pub line_count: u8,
}

/// An order went from one status to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderStatusChanged {
    /// The event's own id.
    pub id: EventId,
    /// Which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// The status before.
    pub from: OrderStatus,
    /// The status from then on.
    pub to: OrderStatus,
    /// The order's version from then on: a change with a greater one came later.
    pub version: u64,
}

/// The bank has taken the card's part of an invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentCaptured {
    /// The event's own id.
    pub id: EventId,
    /// Of which invoice.
    pub invoice_id: InvoiceId,
    /// Of which order.
    pub order_id: OrderId,
    /// Whose.
    pub customer_id: CustomerId,
    /// How much.
    pub amount: Money,
    /// What the bank calls the payment, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reference: Option<String>,
}

macro_rules! events {
    ($($kind:ident)+) => {
        /// Something that happened to an order.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "each holds the struct of its name")]
        pub enum Event {
            $($kind($kind)),+
        }

        /// The kinds of events: their `detail-type` on the bus.
        pub const DETAIL_TYPES: &[&str] = &[$(stringify!($kind)),+];

        impl Event {
            /// Which kind it is.
            pub fn detail_type(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind)),+
                }
            }

            /// Its id.
            pub fn id(&self) -> &EventId {
                match self {
                    $(Self::$kind(event) => &event.id),+
                }
            }

            /// The order it happened to.
            pub fn order_id(&self) -> &OrderId {
                match self {
                    $(Self::$kind(event) => &event.order_id),+
                }
            }
        }

        $(impl From<$kind> for Event {
            fn from(event: $kind) -> Self {
                Self::$kind(event)
            }
        })+

        /// The schema of each kind's detail, by name, with those that it refers to.
        pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
            let mut schemas = Vec::new();
            $(
                schemas.push(($kind::name().into_owned(), $kind::schema()));
                $kind::schemas(&mut schemas);
            )+
            schemas
        }
    };
}

events! { OrderPlaced OrderStatusChanged PaymentCaptured }

impl Event {
    /// The JSON that is published. Of equal events it is equal, byte for byte.
    ///
    /// # Errors
    /// None in practice: every field has a JSON form.
    pub fn detail(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

impl EventId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of an order's being placed, which happens once.
    pub(crate) fn of_placing(order: &OrderId) -> Self {
        Self::named(&format!("OrderPlaced#{order}"))
    }

    /// The id of an order's change to this version.
    pub(crate) fn of_change(order: &OrderId, version: u64) -> Self {
        Self::named(&format!("OrderStatusChanged#{order}#{version}"))
    }

    /// The id of an invoice's being paid by card, which happens once.
    pub(crate) fn of_capture(invoice: &InvoiceId) -> Self {
        Self::named(&format!("PaymentCaptured#{invoice}"))
    }

    /// No id holds a `#`, so no two changes read alike.
    fn named(change: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, change.as_bytes()).to_string())
    }
}
