//! `POST /shipments/{shipmentId}/delivery`: records that a shipment was delivered.

use http_api::{Answer, Example, Json, Kind, Path, Problem, Replayable, Route, Scope, ShipmentView};
use key_schema::value::ShipmentId;
use ordering::{Lifecycle, Transitioned};
use table::Budget;

use crate::units;

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
    match orders.deliver_shipment(&id, budget).await? {
        Transitioned::Done(whole) => Ok(Replayable::first(Json(units::shipment_of(whole, &id)?))),
        Transitioned::DoneBefore(whole) => Ok(Replayable::again(Json(units::shipment_of(whole, &id)?))),
        Transitioned::Refused(status) => Err(Problem::invalid_transition(status)),
        Transitioned::Denied(denial) => Err(units::denied(denial)),
        Transitioned::NotFound => Err(Problem::not_found("shipment")),
    }
}
