//! `GET /discounts/{code}`: one discount code. Customers see it while it is valid, admins always.

use http_api::{Answer, Caller, DiscountView, Example, Kind, Path, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::DISCOUNT_BY_CODE;
use key_schema::value::{DiscountCode, Timestamp};
use table::Reader;

pub const ROUTE: Route = Route::get("/discounts/{code}", Scope::Shop)
    .summary("A discount code.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(DISCOUNT_BY_CODE)])
    .example(Example::at("09:44:00").path("WELCOME10"));

pub async fn handle(table: Reader, Path(code): Path<DiscountCode>, caller: Caller) -> Answer<Versioned<DiscountView>> {
    match table.one(&DISCOUNT_BY_CODE.ask(&code)).await? {
        Some(discount) if caller.is_admin || discount.is_valid(Timestamp::now()) => {
            Ok(Versioned::new(discount.version, discount.into()))
        }
        _ => Err(Problem::not_found("discount code")),
    }
}
