use key_schema::entity::{LineUnits, Shipment};
use key_schema::value::{CustomerId, OrderId, ShipmentId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A shipment of units of an order.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Shipment)]
pub struct ShipmentView {
    shipment_id: ShipmentId,
    order_id: OrderId,
    customer_id: CustomerId,
    /// The units, in the order of the order's lines.
    lines: Vec<LineUnits>,
    /// The carrier's name.
    carrier: String,
    /// The carrier's number of the shipment, if there is one.
    #[schema(nullable = false)]
    tracking_number: Option<String>,
    /// The web page that tracks the shipment, if there is one.
    #[schema(nullable = false)]
    tracking_url: Option<String>,
    /// The time of the shipment.
    shipped_at: Timestamp,
    /// The time at which the shipment was delivered. Absent before that.
    #[schema(nullable = false)]
    delivered_at: Option<Timestamp>,
}

impl From<Shipment> for ShipmentView {
    fn from(of: Shipment) -> Self {
        Self {
            shipment_id: of.shipment_id,
            order_id: of.order_id,
            customer_id: of.customer_id,
            lines: of.lines,
            carrier: of.carrier,
            tracking_number: of.tracking_number,
            tracking_url: of.tracking_url,
            shipped_at: of.shipped_at,
            delivered_at: of.delivered_at,
        }
    }
}
