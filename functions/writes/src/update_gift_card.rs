//! `PATCH /gift-cards/{code}`: blocks a gift card, allows it again, or changes its end.

use http_api::{Answer, Example, IfMatch, IssuedGiftCardView, Json, Kind, Path, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::GiftCard;
use key_schema::value::{GiftCardCode, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Budget, Reader, Writer};
use utoipa::ToSchema;

use crate::optimistic::replace;

pub const ROUTE: Route = Route::patch("/gift-cards/{code}", Scope::Admin)
    .summary("Block a gift card, allow it again, or change its end.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<GiftCard>(), Access::update::<GiftCard>()])
    .example(
        Example::at("09:56:00").path("GIFT-50-7QKX-M2TD").header("if-match", r#""1""#).body(r#"{"blocked":true}"#),
    );

/// The fields to change. Absent fields keep their values.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GiftCardChanges {
    /// Whether orders that would spend the card are refused. Orders that have spent it keep its money.
    blocked: Option<bool>,
    /// The card can be spent before this moment. A moment of the past is allowed: the card is then expired.
    #[schema(schema_with = optional_moment, required = false)]
    valid_until: Option<Timestamp>,
}

impl GiftCardChanges {
    fn of(&self, card: &GiftCard) -> GiftCard {
        let blocked = self.blocked.unwrap_or(card.blocked);
        GiftCard { blocked, valid_until: self.valid_until.or(card.valid_until), ..card.clone() }
    }
}

/// After the answer, no order takes anything from a blocked card: the transaction of an order checks the card.
pub async fn handle(
    (table, writer): (Reader, Writer),
    Path(code): Path<GiftCardCode>,
    if_match: IfMatch,
    Json(changes): Json<GiftCardChanges>,
    budget: Budget,
) -> Answer<Versioned<IssuedGiftCardView>> {
    let change = |before: &GiftCard| {
        let after = changes.of(before);
        Ok((!if_match.is_done(before.version, after == *before)?).then_some(after))
    };
    let card = replace((&table, &writer), GiftCard::key_of(&code), change, budget).await?;
    Ok(Versioned::new(card.version, card.into()))
}
