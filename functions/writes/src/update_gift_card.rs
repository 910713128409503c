//! `PATCH /gift-cards/{code}`: blocks a gift card, allows it again, or changes its end.

use http_api::{Answer, Example, IfMatch, IssuedGiftCardView, Json, Kind, Path, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::GiftCard;
use key_schema::layout::Consistency;
use key_schema::value::{GiftCardCode, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Budget, Condition, Error, Reader, Write, Writer, Written};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::patch("/gift-cards/{code}", Scope::Admin)
    .summary("Block a gift card, allow it again, or change its end.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<GiftCard>(), Access::update::<GiftCard>()])
    .example(
        Example::at("09:56:00").path("GIFT-50-7QKX-M2TD").header("if-match", r#""0""#).body(r#"{"blocked":true}"#),
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

/// After the answer, no order takes anything from a blocked card: the transaction of an order checks the card. Orders that
/// spend the card meanwhile do not disturb the change: they change the balance, and not the version. If a change is done
/// and its request is repeated, the answer is success.
pub async fn handle(
    (table, writer): (Reader, Writer),
    Path(code): Path<GiftCardCode>,
    if_match: IfMatch,
    Json(changes): Json<GiftCardChanges>,
    budget: Budget,
) -> Answer<Versioned<IssuedGiftCardView>> {
    let mut retries = budget.retries();
    loop {
        let found = table.batch::<GiftCard>(vec![GiftCard::key_of(&code)], Consistency::Strong, budget).await?;
        let card = found.into_iter().next().ok_or_else(|| Problem::not_found("gift card"))?;
        let version = card.version;
        let mut next = changes.of(&card);
        if next == card && (if_match.matches(version) || if_match.may_have_led_to(version)) {
            return Ok(Versioned::new(version, card.into()));
        }
        if !if_match.matches(version) {
            return Err(Problem::version_conflict(version));
        }
        next.version += 1;

        let change = Write::change(&card, &next, Condition::versions(Some(&[version]))?)?;
        if let Written::Done = writer.write(change, budget).await? {
            return Ok(Versioned::new(next.version, next.into()));
        }
        if !retries.pause().await {
            return Err(Error::contention("other requests were changing the gift card for too long").into());
        }
    }
}
