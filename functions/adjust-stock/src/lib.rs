//! `POST /products/{productId}/stock`: units arrive, or are taken out.

use edge::{Answer, Description, Kind, Problem, ProductView, Reply, Request, Route, Scope};
use key_schema::entity::{Product, Stock};
use serde::Deserialize;
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
/// move the version, so they are not in its way.
pub async fn handle((table, writer): (Reader, Writer), request: Request) -> Answer {
    let id = request.path("productId")?;
    let if_match = request.if_match()?;
    let Adjustment { delta } = request.json()?;
    if delta == 0 || !(-1_000_000..=1_000_000).contains(&delta) {
        return Err(Problem::new(Kind::Validation, "delta: must be -1000000 to 1000000, and not 0"));
    }
    let budget = request.budget();

    for attempt in 1.. {
        let found = table.product(&id, budget).await?.ok_or_else(|| Problem::not_found("product"))?;
        let (product, stock) = found;
        let version = product.version;
        if !if_match.matches(version) {
            return Err(Problem::version_conflict(version));
        }
        let Some(available) = stock.available.checked_add_signed(delta) else {
            return Err(Problem::new(Kind::OutOfStock, format!("Only {} are there.", stock.available))
                .with("productId", id)
                .with("available", stock.available));
        };

        let next = Product { version: version + 1, ..product };
        // What is taken out must be there when it is taken; what arrives needs no room.
        let enough = Condition::new("#available >= :least").value(":least", (-delta).max(0))?.value(":delta", delta)?;
        let adjust = Write::update(Stock::key_of(&id), "SET #available = #available + :delta", enough);
        let put = Write::put_if(&next, Condition::version(version)?)?;
        if writer.commit(vec![put, adjust], budget).await?.is_ok() {
            let stock = Stock { available, ..stock };
            return Ok(Reply::ok(&ProductView::with_stock(next, &stock))?.etag(version + 1));
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
        .if_match()
        .accepts::<Adjustment>()
        .versioned()
        .answers::<ProductView>()
        .refuses(&[Kind::NotFound, Kind::OutOfStock])
}
