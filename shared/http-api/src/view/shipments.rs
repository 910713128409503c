use key_schema::entity::{LineUnits, OrderLine, Shipment, ShipmentStatus};
use key_schema::value::{CustomerId, OrderId, ProductId, Quantity, ShipmentId, Timestamp};
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
    lines: Vec<UnitsView>,
    status: ShipmentStatus,
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

/// Units of a line of an order.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NamedUnits)]
pub(crate) struct UnitsView {
    product_id: ProductId,
    /// The product's name, as the line has it. Absent in the list of open returns, which reads no lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    quantity: Quantity,
}

impl UnitsView {
    /// These units of an order with these lines.
    pub(super) fn of(units: Vec<LineUnits>, lines: &[OrderLine]) -> Vec<Self> {
        let view = |LineUnits { product_id, quantity }: LineUnits| {
            let name = lines.iter().find(|line| line.product_id == product_id).map(|line| line.name.clone());
            Self { product_id, name, quantity }
        };
        units.into_iter().map(view).collect()
    }
}

impl ShipmentView {
    /// A shipment of an order with these lines.
    pub fn new(of: Shipment, lines: &[OrderLine]) -> Self {
        Self {
            status: of.status(),
            shipment_id: of.shipment_id,
            order_id: of.order_id,
            customer_id: of.customer_id,
            lines: UnitsView::of(of.lines, lines),
            carrier: of.carrier,
            tracking_number: of.tracking_number,
            tracking_url: of.tracking_url,
            shipped_at: of.shipped_at,
            delivered_at: of.delivered_at,
        }
    }
}
