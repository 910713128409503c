//! `GET /guests/{guestId}/orders/{orderId}/invoice/page`: the invoice of a guest's order, as a page to print.

use http_api::{Answer, Example, Html, Kind, OwnGuest, Path, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::ORDER_BY_ID;
use key_schema::value::OrderId;
use table::{Budget, Reader};

use crate::get_invoice_page::{self, Seller};

pub const ROUTE: Route = Route::get("/guests/{guestId}/orders/{orderId}/invoice/page", Scope::Public)
    .summary("The invoice of a guest's order, as a page to print, like that of a customer's order.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound, Kind::NotPlaced])
    .access(&[Access::query(ORDER_BY_ID)])
    .example(
        Example::at("09:54:50")
            .path("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og/960502a1-88a2-584d-9abe-8ca3e7b0cb4e")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A"),
    );

pub async fn handle(deps: (Reader, Seller), guest: OwnGuest, order: Path<OrderId>, budget: Budget) -> Answer<Html> {
    get_invoice_page::handle(deps, order, guest.caller()?, budget).await
}
