//! `GET /gift-cards/{code}`: a gift card with its entries. Who knows the code may spend it, and so may see it; which
//! orders it was spent on, only admins see.

use http_api::{Answer, Description, GiftCardView, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::layout::GiftCardByCode;
use table::Reader;

pub const ROUTE: Route = Route::get("/gift-cards/{code}", Scope::Shop);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let code = request.path("code")?;
    let items = table.collection(&GiftCardByCode { code: &code }).await?;

    let (card, entries) = GiftCardByCode::assemble(items).ok_or_else(|| Problem::not_found("gift card"))?;
    Reply::ok(&GiftCardView::new(card, entries, request.caller()?))
}

pub fn describe() -> Description {
    ROUTE.describe("A gift card with its entries.").answers::<GiftCardView>().refuses(&[Kind::NotFound])
}
