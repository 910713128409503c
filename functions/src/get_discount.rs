//! `GET /discounts/{code}`: a discount code. Customers see it while it is valid; admins always do.

use http_api::{Answer, Description, DiscountView, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::layout::DiscountByCode;
use key_schema::value::Timestamp;
use table::Reader;

pub const ROUTE: Route = Route::get("/discounts/{code}", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let code = request.path("code")?;
    match table.one(&DiscountByCode { code: &code }).await? {
        Some(discount) if request.caller()?.is_admin || discount.is_in_window(Timestamp::now()) => {
            Reply::ok(&DiscountView::from(discount))
        }
        _ => Err(Problem::not_found("discount code")),
    }
}

pub fn describe() -> Description {
    ROUTE.describe("A discount code.").answers::<DiscountView>().refuses(&[Kind::NotFound])
}
