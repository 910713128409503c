//! Shipments. They are items of their order's collection, and `OrderById` reads them.

use crate::entity::Shipment;
use crate::value::{OrderId, ShipmentId};

use super::{Key, Place, PlaceText, Stored, Template, order};

const SHIPMENT: Place<(OrderId,), (ShipmentId,)> = Place::table(order::COLLECTION, Template::new("sh#{shipmentId}"));

impl Stored for Shipment {
    const PLACES: &'static [PlaceText] = &[SHIPMENT.text()];

    fn key(&self) -> Key {
        SHIPMENT.key((&self.order_id,), (&self.shipment_id,))
    }

    fn index_keys(&self) -> Vec<Key> {
        Vec::new()
    }
}
