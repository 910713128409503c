//! Shipments: units of an order that leave the shop together.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LineUnits;
use crate::value::{CustomerId, OrderId, ShipmentId, Timestamp};

/// A shipment of some units of an order.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipment {
    pub shipment_id: ShipmentId,
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    /// The units, at most one entry for each line of the order.
    pub lines: Vec<LineUnits>,
    /// Whether the request named no lines, and so meant all units that were left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_left: bool,
    /// The carrier's name.
    pub carrier: String,
    /// The carrier's number of the shipment, if there is one.
    pub tracking_number: Option<String>,
    /// The web page that tracks the shipment, if there is one.
    pub tracking_url: Option<String>,
    pub shipped_at: Timestamp,
    /// The time at which the shipment was delivered. Absent before that.
    pub delivered_at: Option<Timestamp>,
}

impl Shipment {
    /// The status, which follows from the times.
    pub fn status(&self) -> ShipmentStatus {
        if self.delivered_at.is_some() { ShipmentStatus::Delivered } else { ShipmentStatus::Shipped }
    }
}

/// The status of a shipment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ShipmentStatus {
    /// The shipment has left the shop.
    Shipped,
    /// The shipment has arrived.
    Delivered,
}
