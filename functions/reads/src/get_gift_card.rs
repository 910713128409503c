//! `GET /gift-cards/{code}`: one gift card with its entries.

use http_api::{Answer, Caller, Example, GiftCardView, Kind, Path, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::{GIFT_CARD_BY_CODE, InGiftCard};
use key_schema::value::GiftCardCode;
use table::Reader;

pub const ROUTE: Route = Route::get("/gift-cards/{code}", Scope::Shop)
    .summary("A gift card with its entries.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(GIFT_CARD_BY_CODE)])
    .example(Example::at("09:44:40").path("GIFT-50-7QKX-M2TD"));

/// Anyone who knows the code may spend the card, and so may see it. Only admins see on which orders it was spent.
pub async fn handle(table: Reader, Path(code): Path<GiftCardCode>, caller: Caller) -> Answer<Versioned<GiftCardView>> {
    let items = table.collection(&GIFT_CARD_BY_CODE.ask(&code)).await?;

    let (card, entries) = InGiftCard::assemble(items).ok_or_else(|| Problem::not_found("gift card"))?;
    Ok(Versioned::new(card.version, GiftCardView::new(card, entries, &caller)))
}
