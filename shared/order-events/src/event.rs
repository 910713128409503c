//! All kinds of events, as one type.

use std::fmt;

use key_schema::value::{CustomerId, OrderId, ProductId};
use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema as _, ToSchema as _};

use crate::{
    AmountCredited, AvailabilityChanged, CustomerErased, EventId, ItemsShipped, OrderExpired, OrderPlaced,
    OrderRejected, OrderStatusChanged, PaymentAuthorized, PaymentCaptured, PaymentDisputed, PaymentDue, PaymentFailed,
    ProductChanged, ProductRemoved, RefundDue, RefundFailed, RefundMade, ReturnReceived, ReturnRequested,
    ShipmentDelivered, StockRanLow, UnitsCancelled,
};

/// The version of the events' layout. A new field needs no new version; another meaning of a field does.
pub const LAYOUT_VERSION: u32 = 1;

/// The subject of an event. The events of one subject are published in the order of its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject<'a> {
    /// An order, with its invoice and payments.
    Order(&'a OrderId),
    Product(&'a ProductId),
    Customer(&'a CustomerId),
}

impl Subject<'_> {
    /// The `source` of the subject's events on the bus.
    pub fn source(self) -> &'static str {
        match self {
            Self::Order(_) => Source::Order.name(),
            Self::Product(_) => Source::Product.name(),
            Self::Customer(_) => Source::Customer.name(),
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => order.fmt(f),
            Self::Product(product) => product.fmt(f),
            Self::Customer(customer) => customer.fmt(f),
        }
    }
}

/// The `source`s. The macro below finds them by the names of [`Subject`]'s variants.
enum Source {
    Order,
    Product,
    Customer,
}

impl Source {
    const fn name(&self) -> &'static str {
        match self {
            Self::Order => "till.orders",
            Self::Product => "till.products",
            Self::Customer => "till.customers",
        }
    }
}

/// A kind of event, by its names on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The `source` on the bus.
    pub source: &'static str,
    /// The `detail-type` on the bus.
    pub detail_type: &'static str,
}

macro_rules! events {
    ($($kind:ident of $subject:ident($id:ident))+) => {
        /// An event of an order, a product or a customer.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum Event {
            $($kind($kind)),+
        }

        /// All kinds of events.
        pub const KINDS: &[Kind] =
            &[$(Kind { source: Source::$subject.name(), detail_type: stringify!($kind) }),+];

        impl Event {
            /// Its `detail-type` on the bus.
            pub fn detail_type(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind)),+
                }
            }

            pub fn id(&self) -> &EventId {
                match self {
                    $(Self::$kind(event) => &event.id),+
                }
            }

            /// The event's order, product or customer.
            pub fn subject(&self) -> Subject<'_> {
                match self {
                    $(Self::$kind(event) => Subject::$subject(&event.$id)),+
                }
            }
        }

        $(impl From<$kind> for Event {
            fn from(event: $kind) -> Self {
                Self::$kind(event)
            }
        })+

        /// The schema of each kind, by its name, and the schemas that these refer to.
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

events! {
    OrderPlaced of Order(order_id)
    OrderStatusChanged of Order(order_id)
    UnitsCancelled of Order(order_id)
    AmountCredited of Order(order_id)
    PaymentAuthorized of Order(order_id)
    PaymentFailed of Order(order_id)
    PaymentCaptured of Order(order_id)
    PaymentDue of Order(order_id)
    RefundDue of Order(order_id)
    RefundMade of Order(order_id)
    RefundFailed of Order(order_id)
    PaymentDisputed of Order(order_id)
    ItemsShipped of Order(order_id)
    ShipmentDelivered of Order(order_id)
    ReturnRequested of Order(order_id)
    ReturnReceived of Order(order_id)
    OrderExpired of Order(order_id)
    OrderRejected of Order(order_id)
    ProductChanged of Product(product_id)
    ProductRemoved of Product(product_id)
    AvailabilityChanged of Product(product_id)
    StockRanLow of Product(product_id)
    CustomerErased of Customer(customer_id)
}

impl Event {
    /// The request that caused the event, if it is known.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::OrderPlaced(event) => event.request_id.as_deref(),
            Self::OrderStatusChanged(event) => event.request_id.as_deref(),
            Self::UnitsCancelled(event) => event.request_id.as_deref(),
            Self::AmountCredited(event) => event.request_id.as_deref(),
            Self::OrderRejected(event) => event.request_id.as_deref(),
            _ => None,
        }
    }

    /// The JSON to publish. Equal events have equal JSON, byte for byte.
    ///
    /// # Errors
    /// Serialization fails. Every field has a JSON form, so this does not happen.
    pub fn detail(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
