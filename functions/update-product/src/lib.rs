//! `PATCH /products/{productId}`: changes what a product is called, where it stands, what it costs, or in how many
//! cells its stock lies.

use edge::{Answer, Description, Kind, Problem, ProductView, Reply, Request, Route, Scope};
use key_schema::entity::{Product, WholeStock};
use key_schema::value::{Category, Cells, Description as Text, Money, Name};
use serde::Deserialize;
use stock::Look;
use table::{Condition, Error, Reader, Write, Writer};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::patch("/products/{productId}", Scope::Admin);

/// What is to be different. The rest stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProductChanges {
    name: Option<Name>,
    description: Option<Text>,
    category: Option<Category>,
    price: Option<Money>,
    /// In how many cells the stock lies. As many as there are: it is shared out anew.
    cells: Option<Cells>,
}

impl ProductChanges {
    fn of(&self, product: &Product, stock: &WholeStock) -> (Product, WholeStock) {
        let mut changed = product.clone();
        if let Some(name) = &self.name {
            changed.name = name.clone().into();
        }
        if let Some(description) = &self.description {
            changed.description = description.clone().into();
        }
        changed.category.clone_from(self.category.as_ref().unwrap_or(&product.category));
        changed.price = self.price.unwrap_or(product.price);
        let mut to = WholeStock { price: changed.price, ..stock.clone() };
        if let Some(cells) = self.cells.filter(|cells| *cells != stock.cells() || !stock.is_even()) {
            to = WholeStock::shared_out(to.product_id, to.price, stock.available(), cells);
        }
        (changed, to)
    }
}

/// A new price is written to the product and to its copies in the stock, in one transaction, and so are new cells. A
/// change whose answer was lost is answered as done when it is sent again; unless it shared units out, and some were
/// sold meanwhile.
pub async fn handle((table, writer): (Reader, Writer), request: Request) -> Answer {
    let id = request.path("productId")?;
    let if_match = request.if_match()?;
    let changes: ProductChanges = request.json()?;
    let budget = request.budget();

    for attempt in 1.. {
        let found =
            stock::product(&table, &id, Look::Close, budget).await?.ok_or_else(|| Problem::not_found("product"))?;
        let (product, stock) = found;
        let version = product.version;
        let (mut next, to) = changes.of(&product, &stock);
        if next == product && to == stock && (if_match.matches(version) || if_match.may_have_led_to(version)) {
            return Ok(Reply::ok(&ProductView::with_stock(product, &stock))?.etag(version));
        }
        if !if_match.matches(version) {
            return Err(Problem::version_conflict(version));
        }
        next.version += 1;

        let change = Write::change(&product, &next, Condition::version(version)?)?;
        let rest = stock::change(&stock, &to)?;
        let written = if rest.is_empty() {
            writer.write(change, budget).await?.is_ok()
        } else {
            writer.commit([vec![change], rest].concat(), budget).await?.is_ok()
        };
        if written {
            return Ok(Reply::ok(&ProductView::with_stock(next, &to))?.etag(version + 1));
        }
        if !budget.wait(attempt).await {
            break;
        }
    }
    Err(Error::contention("others were changing the product for too long").into())
}

pub fn describe() -> Description {
    ROUTE
        .describe("Change a product.")
        .if_match()
        .accepts::<ProductChanges>()
        .versioned()
        .answers::<ProductView>()
        .refuses(&[Kind::NotFound])
}
