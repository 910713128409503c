//! `POST /products/{productId}/stock`: units arrive, or are taken out.

mod adjusting;

use http_api::{Answer, Description, IfMatch, Kind, ProductView, Request, Route, Scope};
use serde::Deserialize;
use table::{Reader, Writer};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

use crate::adjust_stock::adjusting::Adjusting;

pub const ROUTE: Route = Route::post("/products/{productId}/stock", Scope::Admin);

/// How many units more, or fewer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjustment {
    /// -1,000,000 to 1,000,000, and not 0.
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

/// An adjustment moves the product's version, which its `If-Match` names: sent twice, it is made once. Sales do not
/// move the version, so they are not in its way.
///
/// Under an `Idempotency-Key` an adjustment is made once, whatever the version: `If-Match` may be left out then. Without a
/// key, a client whose answer was lost cannot tell its own adjustment from somebody else's.
pub async fn handle((table, writer): (Reader, Writer), request: Request) -> Answer {
    let product = request.path("productId")?;
    let once = request.once(&ROUTE)?;
    let if_match = match &once {
        None => request.if_match()?,
        Some(_) => request.if_match_if_any()?.unwrap_or(IfMatch::Any),
    };
    let Adjustment { delta: Delta(delta) } = request.json()?;
    let budget = request.budget();

    let adjusting = Adjusting { table: &table, writer: &writer, product, delta, if_match, once: once.as_ref(), budget };
    let answer = adjusting.run().await;
    match &once {
        None => answer,
        Some(once) => once.unless_done_before(answer, &table, budget).await,
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Add units to a product's stock, or take some out.")
        .if_match_if_any("an Idempotency-Key is needed, or the answer is 428")
        .once()
        .accepts::<Adjustment>()
        .versioned()
        .answers::<ProductView>()
        .refuses(&[Kind::PreconditionRequired, Kind::NotFound, Kind::OutOfStock])
}
