//! All kinds of events, as one type.

use std::fmt;

use key_schema::value::{OrderId, ProductId};
use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema as _, ToSchema as _};

use crate::{
    EventId, OrderPlaced, OrderRejected, OrderStatusChanged, PaymentCaptured, ProductChanged, ProductRemoved,
    RefundDue, RefundMade,
};

/// The version of the events' layout. A new field needs no new version; another meaning of a field does.
pub const LAYOUT_VERSION: u32 = 1;

/// What an event is about. The events of one subject are published in the order of its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject<'a> {
    /// An order, with its invoice and payments.
    Order(&'a OrderId),
    /// A product.
    Product(&'a ProductId),
}

impl Subject<'_> {
    /// The `source` of its events on the bus.
    pub fn source(self) -> &'static str {
        match self {
            Self::Order(_) => Source::Order.name(),
            Self::Product(_) => Source::Product.name(),
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => order.fmt(f),
            Self::Product(product) => product.fmt(f),
        }
    }
}

/// Named as the subjects of its events are.
enum Source {
    Order,
    Product,
}

impl Source {
    const fn name(&self) -> &'static str {
        match self {
            Self::Order => "till.orders",
            Self::Product => "till.products",
        }
    }
}

/// A kind of event, by its names on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its `source`.
    pub source: &'static str,
    /// Its `detail-type`.
    pub detail_type: &'static str,
}

macro_rules! events {
    ($($kind:ident of $subject:ident($id:ident))+) => {
        /// Something that happened to an order or a product.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "each holds the struct of its name")]
        pub enum Event {
            $($kind($kind)),+
        }

        /// The kinds of events.
        pub const KINDS: &[Kind] =
            &[$(Kind { source: Source::$subject.name(), detail_type: stringify!($kind) }),+];

        impl Event {
            /// Its kind: the `detail-type` on the bus.
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

            /// The order or product that it is about.
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

events! {
    OrderPlaced of Order(order_id)
    OrderStatusChanged of Order(order_id)
    PaymentCaptured of Order(order_id)
    RefundDue of Order(order_id)
    RefundMade of Order(order_id)
    OrderRejected of Order(order_id)
    ProductChanged of Product(product_id)
    ProductRemoved of Product(product_id)
}

impl Event {
    /// The JSON that is published. Of equal events it is equal, byte for byte.
    ///
    /// # Errors
    /// None in practice: every field has a JSON form.
    pub fn detail(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
