//! `POST /products/{productId}/stock`: units arrive, or are taken out.

use edge::{Answer, Description, Kind, Problem, ProductView, Reply, Request, Route, Scope};
use key_schema::entity::{Product, WholeStock};
use serde::Deserialize;
use stock::Look;
use table::{Condition, Error, Reader, Write, Writer};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/products/{productId}/stock", Scope::Admin);

/// How many units more, or fewer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjustment {
    /// Not 0.
    #[schema(minimum = -1_000_000, maximum = 1_000_000)]
    delta: i64,
}

/// An adjustment moves the product's version, which its `If-Match` names: sent twice, it is made once. Sales do not
/// move the version, so they are not in its way. A stock in several cells is shared out anew.
pub async fn handle((table, writer): (Reader, Writer), request: Request) -> Answer {
    let id = request.path("productId")?;
    let if_match = request.if_match()?;
    let Adjustment { delta } = request.json()?;
    if delta == 0 || !(-1_000_000..=1_000_000).contains(&delta) {
        return Err(Problem::new(Kind::Validation, "delta: must be -1000000 to 1000000, and not 0"));
    }
    let budget = request.budget();
    let mut look = Look::Close;
    for attempt in 1.. {
        let found = stock::product(&table, &id, look, budget).await?.ok_or_else(|| Problem::not_found("product"))?;
        let (product, stock) = found;
        let version = product.version;
        if !if_match.matches(version) {
            return Err(Problem::version_conflict(version));
        }
        let available = stock.available();
        let Some(adjusted) = available.checked_add_signed(delta) else {
            // That there is not enough must be certain.
            if look == Look::Close && !stock.cells().is_one() {
                look = Look::AtOnce;
                continue;
            }
            return Err(Problem::new(Kind::OutOfStock, format!("Only {available} are there."))
                .with("productId", id)
                .with("available", available));
        };

        let next = Product { version: version + 1, ..product.clone() };
        let shared_out = WholeStock::shared_out(id.clone(), stock.price, adjusted, stock.cells());
        let change = Write::change(&product, &next, Condition::version(version)?)?;
        let adjust = stock::change(&stock, &shared_out)?;
        if writer.commit([vec![change], adjust].concat(), budget).await?.is_ok() {
            return Ok(Reply::ok(&ProductView::with_stock(next, &shared_out))?.etag(version + 1));
        }
        look = Look::Close;
        if !budget.wait(attempt).await {
            break;
        }
    }
    Err(Error::contention("others were changing the product for too long").into())
}

pub fn describe() -> Description {
    ROUTE
        .describe("Add units to a product's stock, or take some out.")
        .if_match()
        .accepts::<Adjustment>()
        .versioned()
        .answers::<ProductView>()
        .refuses(&[Kind::NotFound, Kind::OutOfStock])
}
