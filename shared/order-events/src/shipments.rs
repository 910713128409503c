//! The events of shipments.

use key_schema::entity::{LineUnits, Shipment};
use key_schema::value::Timestamp;

use crate::EventId;
use crate::event::LAYOUT_VERSION;

event! {
    /// Units of an order were shipped together. If the order's status changed with it, that has an event
    /// `OrderStatusChanged`.
    ItemsShipped of shipment {
        /// The units of the shipment.
        pub lines: Vec<LineUnits>,
        /// The carrier's name.
        pub carrier: String,
        /// The carrier's number of the shipment. Absent if there is none.
        #[schema(nullable = false)]
        pub tracking_number: Option<String>,
        /// The web page that tracks the shipment. Absent if there is none.
        #[schema(nullable = false)]
        pub tracking_url: Option<String>,
        /// The time of the shipment.
        pub shipped_at: Timestamp,
    }

    /// A shipment was delivered. If the order was delivered with it, that has an event `OrderStatusChanged`.
    ShipmentDelivered of shipment {
        /// The units of the shipment.
        pub lines: Vec<LineUnits>,
        /// The carrier's name.
        pub carrier: String,
        /// The carrier's number of the shipment. Absent if there is none.
        #[schema(nullable = false)]
        pub tracking_number: Option<String>,
        /// The time of the delivery.
        pub delivered_at: Timestamp,
    }
}

impl ItemsShipped {
    pub(crate) fn new(of: Shipment) -> Self {
        Self {
            id: EventId::of("ItemsShipped", &[&of.shipment_id]),
            layout_version: LAYOUT_VERSION,
            shipment_id: of.shipment_id,
            order_id: of.order_id,
            customer_id: of.customer_id,
            lines: of.lines,
            carrier: of.carrier,
            tracking_number: of.tracking_number,
            tracking_url: of.tracking_url,
            shipped_at: of.shipped_at,
        }
    }
}

impl ShipmentDelivered {
    /// The event of a change of a shipment; `None` if it does not deliver the shipment.
    pub(crate) fn new(before: &Shipment, after: Shipment) -> Option<Self> {
        let delivered_at = after.delivered_at.filter(|_| before.delivered_at.is_none())?;
        Some(Self {
            id: EventId::of("ShipmentDelivered", &[&after.shipment_id]),
            layout_version: LAYOUT_VERSION,
            shipment_id: after.shipment_id,
            order_id: after.order_id,
            customer_id: after.customer_id,
            lines: after.lines,
            carrier: after.carrier,
            tracking_number: after.tracking_number,
            delivered_at,
        })
    }
}
