//! `PATCH /discounts/{code}`: revokes a discount code, or changes its end.

use http_api::{Answer, DiscountView, Example, IfMatch, Json, Kind, Path, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::Discount;
use key_schema::value::{DiscountCode, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Budget, Reader, Writer};
use utoipa::ToSchema;

use crate::optimistic::replace;

pub const ROUTE: Route = Route::patch("/discounts/{code}", Scope::Admin)
    .summary("Revoke a discount code, or change its end.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<Discount>(), Access::update::<Discount>()])
    .example(Example::at("09:54:20").path("WELCOME10").header("if-match", r#""1""#).body(r#"{"revoked":true}"#));

/// The fields to change. Absent fields keep their values.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscountChanges {
    /// Whether orders with the code are refused. Orders that have the code already keep it.
    revoked: Option<bool>,
    /// The code is valid before this moment, which must be after `from`.
    #[schema(schema_with = optional_moment, required = false)]
    to: Option<Timestamp>,
}

impl DiscountChanges {
    fn of(&self, discount: &Discount) -> Answer<Discount> {
        let (revoked, to) = (self.revoked.unwrap_or(discount.revoked), self.to.or(discount.to));
        if discount.from.zip(to).is_some_and(|(from, to)| from >= to) {
            return Err(Problem::new(Kind::Validation, "to: must be after from"));
        }
        Ok(Discount { revoked, to, ..discount.clone() })
    }
}

/// An order that is read after the answer sees the change.
pub async fn handle(
    (table, writer): (Reader, Writer),
    Path(code): Path<DiscountCode>,
    if_match: IfMatch,
    Json(changes): Json<DiscountChanges>,
    budget: Budget,
) -> Answer<Versioned<DiscountView>> {
    let change = |before: &Discount| {
        let after = changes.of(before)?;
        Ok((!if_match.is_done(before.version, after == *before)?).then_some(after))
    };
    let code = replace((&table, &writer), Discount::key_of(&code), change, budget).await?;
    Ok(Versioned::new(code.version, code.into()))
}
