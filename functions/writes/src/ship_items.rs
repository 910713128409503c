//! `POST /orders/{orderId}/shipments`: ships units of an order.

use http_api::{Answer, Created, Example, Json, Kind, Path, Route, Scope, ShipmentView};
use key_schema::value::{IdempotencyKey, Name, OrderId, ShipmentId, WebPage};
use ordering::steps::{ShipmentRequest, Transition};
use ordering::{CaptureWhen, Lifecycle, RequestedLine, Target};
use serde::Deserialize;
use table::Budget;
use utoipa::ToSchema;

use crate::{changed, units};

pub const ROUTE: Route = Route::post("/orders/{orderId}/shipments", Scope::Admin)
    .summary(
        "Ship units of a paid order, or all that are left. The order is PACKING until all units that are left are in \
         shipments, and SHIPPED then. The first shipment asks for the capture of the whole payment.",
    )
    .refuses(&[Kind::NotFound, Kind::NotPlaced, Kind::InvalidTransition, Kind::TooFewUnits])
    .access(ordering::SHIP_ITEMS)
    .example(
        Example::at("09:51:18")
            .path("ccc44633-c523-5b35-9669-978f6b6bc252")
            .header("idempotency-key", "shipment-1")
            .body(
                r#"{"lines":[{"productId":"espresso-cup","quantity":1}],"carrier":"Parcel Post","trackingNumber":"PP123456789"}"#,
            ),
    );

/// The units to ship.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NewShipment {
    /// The units of each product. At most 40 products, each of them once. If absent, all units that are left.
    #[schema(min_items = 1, max_items = 40)]
    lines: Option<Vec<RequestedLine>>,
    /// The carrier's name.
    carrier: Name,
    /// The carrier's number of the shipment.
    tracking_number: Option<Name>,
    /// The web page that tracks the shipment. It begins with https://.
    tracking_url: Option<WebPage>,
}

pub async fn handle(
    (orders, capture): (Lifecycle, CaptureWhen),
    Path(order): Path<OrderId>,
    key: IdempotencyKey,
    Json(NewShipment { lines, carrier, tracking_number, tracking_url }): Json<NewShipment>,
    budget: Budget,
) -> Answer<Created<Json<ShipmentView>>> {
    let lines = lines.map(units::of).transpose()?;
    let (carrier, tracking_number) = (String::from(carrier), tracking_number.map(String::from));
    let tracking_url = tracking_url.map(String::from);
    let id = ShipmentId::of(&order, &key);

    let request = ShipmentRequest {
        id: &id,
        lines: lines.as_deref(),
        carrier: &carrier,
        tracking_number: tracking_number.as_deref(),
        tracking_url: tracking_url.as_deref(),
        captures: capture == CaptureWhen::Shipped,
    };
    let shipped = orders.change(Target::Order(&order), Transition::ShipItems(request), budget).await?;
    let answer = changed::answer(shipped, "order", |whole| units::shipment_of(whole, &id))?;
    Ok(Created { location: format!("/orders/{order}/shipments"), answer })
}
