//! `PATCH /discounts/{code}`: revokes a discount code, or changes its end.

use http_api::{Answer, DiscountView, Example, IfMatch, Json, Kind, Path, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::Discount;
use key_schema::layout::Consistency;
use key_schema::value::{DiscountCode, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Budget, Condition, Error, Reader, Write, Writer, Written};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::patch("/discounts/{code}", Scope::Admin)
    .summary("Revoke a discount code, or change its end.")
    .limit(20, 40)
    .refuses(&[Kind::NotFound])
    .access(&[Access::batch_get::<Discount>(), Access::update::<Discount>()])
    .example(Example::at("09:54:20").path("WELCOME10").header("if-match", r#""0""#).body(r#"{"revoked":true}"#));

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
    fn of(&self, discount: &Discount) -> Discount {
        let revoked = self.revoked.unwrap_or(discount.revoked);
        Discount { revoked, to: self.to.or(discount.to), ..discount.clone() }
    }
}

/// An order that is read after the answer sees the change. If a change is done and its request is repeated, the answer is
/// success. Orders that use up the code meanwhile do not disturb the change: uses have no part in the version.
pub async fn handle(
    (table, writer): (Reader, Writer),
    Path(code): Path<DiscountCode>,
    if_match: IfMatch,
    Json(changes): Json<DiscountChanges>,
    budget: Budget,
) -> Answer<Versioned<DiscountView>> {
    let mut retries = budget.retries();
    loop {
        let found = table.batch::<Discount>(vec![Discount::key_of(&code)], Consistency::Strong, budget).await?;
        let discount = found.into_iter().next().ok_or_else(|| Problem::not_found("discount code"))?;
        let version = discount.version;
        let mut next = changes.of(&discount);
        if next == discount && (if_match.matches(version) || if_match.may_have_led_to(version)) {
            return Ok(Versioned::new(version, discount.into()));
        }
        if !if_match.matches(version) {
            return Err(Problem::version_conflict(version));
        }
        if next.from.zip(next.to).is_some_and(|(from, to)| from >= to) {
            return Err(Problem::new(Kind::Validation, "to: must be after from"));
        }
        next.version += 1;

        let change = Write::change(&discount, &next, Condition::versions(Some(&[version]))?)?;
        if let Written::Done = writer.write(change, budget).await? {
            return Ok(Versioned::new(next.version, next.into()));
        }
        if !retries.pause().await {
            return Err(Error::contention("other requests were changing the code for too long").into());
        }
    }
}
