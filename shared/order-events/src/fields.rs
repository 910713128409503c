//! The fields that all events of one subject have in common.

/// Structs of events: `Name of subject { fields }`. Each has the event's id, the version of its layout, and the ids of its
/// subject, before its own fields.
macro_rules! event {
    ($($(#[$doc:meta])* $name:ident of $subject:ident { $($fields:tt)* })+) => {
        $(event! { @$subject [$(#[$doc])* $name] $($fields)* })+
    };
    (@invoice $event:tt $($fields:tt)*) => {
        event! { @struct $event
            /// The invoice.
            pub invoice_id: key_schema::value::InvoiceId,
            /// The invoice's order.
            pub order_id: key_schema::value::OrderId,
            /// The customer.
            pub customer_id: key_schema::value::CustomerId,
            $($fields)*
        }
    };
    (@return $event:tt $($fields:tt)*) => {
        event! { @struct $event
            /// The return.
            pub return_id: key_schema::value::ReturnId,
            /// The order.
            pub order_id: key_schema::value::OrderId,
            /// The customer.
            pub customer_id: key_schema::value::CustomerId,
            $($fields)*
        }
    };
    (@shipment $event:tt $($fields:tt)*) => {
        event! { @struct $event
            /// The shipment.
            pub shipment_id: key_schema::value::ShipmentId,
            /// The order.
            pub order_id: key_schema::value::OrderId,
            /// The customer.
            pub customer_id: key_schema::value::CustomerId,
            $($fields)*
        }
    };
    (@order $event:tt $($fields:tt)*) => {
        event! { @struct $event
            /// The order.
            pub order_id: key_schema::value::OrderId,
            /// The customer.
            pub customer_id: key_schema::value::CustomerId,
            $($fields)*
        }
    };
    (@product $event:tt $($fields:tt)*) => {
        event! { @struct $event
            /// The product.
            pub product_id: key_schema::value::ProductId,
            $($fields)*
        }
    };
    (@struct [$(#[$doc:meta])* $name:ident] $($fields:tt)*) => {
        $(#[$doc])*
        #[serde_with::skip_serializing_none]
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// The event's own id.
            pub id: crate::EventId,
            /// The version of this event's layout.
            pub layout_version: u32,
            $($fields)*
        }
    };
}
