//! `POST /products/{productId}/stock`: adds units to a product's stock, or takes some out.

mod adjusting;

use http_api::{
    Answer, Example, IfMatch, Json, Kind, Once, Path, Problem, ProductView, Replayable, Route, Scope, Serialized,
    Versioned,
};
use key_schema::access::Access;
use key_schema::entity::{IdempotencyRecord, Product};
use key_schema::value::ProductId;
use serde::Deserialize;
use table::{Budget, Reader, Writer};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

use crate::adjust_stock::adjusting::Adjusting;

pub const ROUTE: Route = Route::post("/products/{productId}/stock", Scope::Admin)
    .summary("Add units to a product's stock, or take some out.")
    .refuses(&[Kind::PreconditionRequired, Kind::NotFound, Kind::OutOfStock])
    .access(stock::READ)
    .access(stock::SNAPSHOT)
    .access(&[
        Access::batch_get::<Product>(),
        Access::update::<Product>().in_transactions(),
        Access::put::<IdempotencyRecord>().in_transactions(),
        Access::transact_get::<IdempotencyRecord>(),
    ])
    .access(stock::ADJUST)
    .example(Example::at("09:52:40").path("espresso-cup").header("if-match", r#""1""#).body(r#"{"delta":20}"#));

/// An adjustment of a stock.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjustment {
    /// The units to add, or to take out if negative: -1,000,000 to 1,000,000, but not 0.
    #[schema(schema_with = not_zero, required)]
    delta: Delta,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "i64")]
struct Delta(i64);

impl TryFrom<i64> for Delta {
    type Error = &'static str;

    fn try_from(units: i64) -> Result<Self, Self::Error> {
        let is_valid = units != 0 && (-1_000_000..=1_000_000).contains(&units);
        is_valid.then_some(Self(units)).ok_or("must be -1000000 to 1000000, and not 0")
    }
}

fn not_zero() -> RefOr<Schema> {
    let within = |least, most| ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(most));
    OneOfBuilder::new().item(within(-1_000_000, -1)).item(within(1, 1_000_000)).into()
}

/// An adjustment increments the product's version. So if its `If-Match` names a version, a repeated request is not done
/// twice. Sales leave the version alone, so they do not make an adjustment fail. A long description that an earlier
/// release wrote into the product's item leaves that item, so that the next adjustment costs less.
///
/// With an `Idempotency-Key`, an adjustment is done once whatever the version, and `If-Match` is optional. Without a
/// key, a client that lost the answer cannot distinguish its own adjustment from somebody else's.
pub async fn handle(
    (table, writer): (Reader, Writer),
    Path(product): Path<ProductId>,
    once: Option<Once>,
    if_match: Option<IfMatch>,
    Json(Adjustment { delta: Delta(delta) }): Json<Adjustment>,
    budget: Budget,
) -> Answer<Serialized<Replayable<Versioned<ProductView>>>> {
    let if_match = match (&once, if_match) {
        (None, None) => return Err(Problem::precondition_required()),
        (_, if_match) => if_match.unwrap_or(IfMatch::Any),
    };

    let adjusting = Adjusting { table: &table, writer: &writer, product, delta, if_match, once: once.as_ref(), budget };
    let answer = adjusting.run().await;
    let reply = match &once {
        None => answer?,
        Some(once) => unless_done_before(once, answer, &table, budget).await?,
    };
    Ok(reply.into())
}

/// The stored answer in place of a refusal, if there is one: a copy or an earlier attempt of this request may have
/// caused the refusal, and may still be writing the record.
async fn unless_done_before(once: &Once, answer: Answer, table: &Reader, budget: Budget) -> Answer {
    match answer {
        Err(refusal) if refusal.kind().status().is_client_error() => {
            match table.answer(once.record_id(), once.now(), budget).await? {
                Some(stored) => once.replay(stored),
                None => Err(refusal),
            }
        }
        answer => answer,
    }
}
