//! `GET /guests/{guestId}`: the profile of a guest, for staff.

use http_api::{Answer, Example, GuestOfPath, GuestView, Json, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::{CUSTOMER_BY_ID, InCustomer};
use key_schema::value::Timestamp;
use table::Reader;

pub const ROUTE: Route = Route::get("/guests/{guestId}", Scope::Admin)
    .summary("A guest. Guests have no route to their own profile: their client has sent it.")
    .access(&[Access::query(CUSTOMER_BY_ID)])
    .example(Example::at("09:54:10").path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og"));

pub async fn handle(table: Reader, GuestOfPath(id): GuestOfPath) -> Answer<Json<GuestView>> {
    let items = table.collection(&CUSTOMER_BY_ID.ask(&id)).await?;
    let guest = InCustomer::guest(&items).filter(|guest| !guest.is_expired(Timestamp::now()));
    Ok(Json(guest.cloned().ok_or_else(|| Problem::not_found("guest"))?.into()))
}
