//! `POST /shipments/{shipmentId}/delivery`: records that a shipment was delivered.

use http_api::{Answer, Example, Json, Kind, Path, Replayable, Route, Scope, ShipmentView};
use key_schema::value::ShipmentId;
use ordering::steps::Transition;
use ordering::{Lifecycle, Target};
use table::Budget;

use crate::{changed, units};

pub const ROUTE: Route = Route::post("/shipments/{shipmentId}/delivery", Scope::Admin)
    .summary(
        "Record, once, that a shipment was delivered. The order is DELIVERED if all units that are left were delivered \
         in shipments.",
    )
    .refuses(&[Kind::NotFound, Kind::InvalidTransition])
    .access(ordering::DELIVER_SHIPMENT)
    .example(Example::at("09:51:21").path("shp-ccc44633-c523-5b35-9669-978f6b6bc252-582025531a2b23d2"));

pub async fn handle(
    orders: Lifecycle,
    Path(id): Path<ShipmentId>,
    budget: Budget,
) -> Answer<Replayable<Json<ShipmentView>>> {
    let delivered = orders.change(Target::Shipment(&id), Transition::DeliverShipment { id: &id }, budget).await?;
    changed::answer(delivered, "shipment", |whole| units::shipment_of(whole, &id))
}
