//! `POST /products/{productId}/stock`: units arrive, or are taken out.

use std::time::Duration;

use edge::{Answer, Description, IfMatch, Kind, Once, Problem, ProductView, Reply, Request, Route, Scope};
use key_schema::entity::{Product, WholeStock};
use key_schema::value::ProductId;
use serde::Deserialize;
use stock::Look;
use table::{Condition, Error, Reader, Throttle, Write, Writer};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

pub const ROUTE: Route = Route::post("/products/{productId}/stock", Scope::Admin);

/// How long units that have arrived are moved on to other cells before the request is answered.
const SHARING_OUT: Duration = Duration::from_secs(4);

/// How many units more, or fewer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjustment {
    /// -1,000,000 to 1,000,000, and not 0.
    #[schema(schema_with = not_zero, required)]
    delta: i64,
}

fn not_zero() -> RefOr<Schema> {
    let within = |least, most| ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(most));
    OneOfBuilder::new().item(within(-1_000_000, -1)).item(within(1, 1_000_000)).into()
}

/// An adjustment moves the product's version, which its `If-Match` names: sent twice, it is made once. Sales do not
/// move the version, so they are not in its way.
///
/// A stock in several cells is shared out anew, all cells in one transaction. Under load they are never all free at once,
/// so each conflict halves the number of cells that the next attempt writes, down to one. Units that came into few cells
/// are then moved to the others one move at a time.
///
/// Under an `Idempotency-Key` an adjustment is made once, whatever the version: `If-Match` may be left out then. Without a
/// key, a client whose answer was lost cannot tell its own adjustment from somebody else's.
pub async fn handle((table, writer): (Reader, Writer), request: Request) -> Answer {
    let id: ProductId = request.path("productId")?;
    let Some(once) = request.once(&ROUTE)? else {
        let if_match = request.if_match()?;
        return adjust((&table, &writer), &id, &request, &if_match, None).await;
    };
    let if_match = request.if_match_if_any()?.unwrap_or(IfMatch::Any);
    let answer = adjust((&table, &writer), &id, &request, &if_match, Some(&once)).await;
    once.unless_done_before(answer, &table, request.budget()).await
}

async fn adjust(
    (table, writer): (&Reader, &Writer),
    id: &ProductId,
    request: &Request,
    if_match: &IfMatch,
    once: Option<&Once>,
) -> Answer {
    let Adjustment { delta } = request.json()?;
    if delta == 0 || !(-1_000_000..=1_000_000).contains(&delta) {
        return Err(Problem::new(Kind::Validation, "delta: must be -1000000 to 1000000, and not 0"));
    }
    let budget = request.budget();
    let hasty = writer.clone().fail_fast_on_conflict();
    let (mut look, mut most_cells) = (Look::Close, usize::MAX);
    for attempt in 1.. {
        let found = stock::product(table, id, look, budget).await?.ok_or_else(|| Problem::not_found("product"))?;
        let (product, stock) = found;
        let version = product.version;
        if !if_match.matches(version) {
            return Err(Problem::version_conflict(version));
        }
        let available = stock.available();
        let Some(units) = stock.adjusted(delta, most_cells) else {
            // That there is not enough must be certain.
            if look == Look::Close && !stock.cells().is_one() {
                look = Look::AtOnce;
                continue;
            }
            return Err(Problem::new(Kind::OutOfStock, format!("Only {available} are there."))
                .with("productId", id)
                .with("available", available));
        };
        look = Look::Close;

        let next = Product { version: version + 1, ..product.clone() };
        let adjusted = WholeStock { units, ..stock.clone() };
        let mut transaction = vec![Write::change(&product, &next, Condition::version(version)?)?];
        transaction.extend(stock::adjust(&stock, &adjusted.units)?);
        let cells = transaction.len() - 1;
        let reply = Reply::ok(&ProductView::with_stock(next, &adjusted))?.etag(version + 1);
        transaction.extend(once.map(|once| once.keep(&reply)).transpose()?);
        match hasty.commit(transaction, budget).await {
            Ok(Ok(())) => {
                // The units are there. How far they are shared out changes no answer.
                if most_cells < stock.units.len() {
                    _ = stock::level(writer, &adjusted, budget.at_most(SHARING_OUT)).await;
                }
                return Ok(reply);
            }
            Ok(Err(mut causes)) => {
                if let Some(reply) = once.map(|once| once.done_before(&mut causes)).transpose()?.flatten() {
                    return Ok(reply);
                }
            }
            Err(Error::Throttled { by: Throttle::Contention, .. }) => {
                most_cells = (most_cells.min(cells) / 2).max(1);
                // Units that are taken out must first lie in few cells.
                let wanted = delta.min(0).unsigned_abs();
                if wanted > 0 && cells > 1 {
                    stock::gather(writer, &stock, wanted, budget).await?;
                }
            }
            Err(error) => return Err(error.into()),
        }
        if !budget.wait(attempt).await {
            break;
        }
    }
    Err(Error::contention("others were changing the product for too long").into())
}

pub fn describe() -> Description {
    ROUTE
        .describe("Add units to a product's stock, or take some out.")
        .if_match_if_any("an Idempotency-Key")
        .once()
        .accepts::<Adjustment>()
        .versioned()
        .answers::<ProductView>()
        .refuses(&[Kind::PreconditionRequired, Kind::NotFound, Kind::OutOfStock])
}
