//! `PATCH /products/{productId}`: changes a product or its price, recalls it, or changes the number of cells of its stock.

use http_api::{Answer, Example, IfMatch, Json, Kind, Path, Problem, ProductView, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::Product;
use key_schema::value::{Money, ProductId};
use payments::Currencies;
use stock::ReadMode;
use table::{Budget, Cause, Commit, Condition, Error, Reader, Throttle, Write, Writer};

use crate::optimistic::pause;
use crate::product_request::ProductChanges;

pub const ROUTE: Route = Route::patch("/products/{productId}", Scope::Admin)
    .summary("Change a product.")
    .refuses(&[Kind::NotFound])
    .access(stock::READ)
    .access(&[Access::batch_get::<Product>(), Access::update::<Product>(), Access::check::<Product>()])
    .access(stock::RESHAPE)
    .access(catalogue::CHANGE)
    .example(
        Example::at("09:53:20")
            .path("espresso-cup")
            .header("if-match", r#""2""#)
            .body(r#"{"description":"Stoneware, 80 ml, dishwasher-safe","price":{"amount":2199,"currency":"EUR"}}"#),
    );

/// A new price is written to the product and the first cell in one transaction, and then to each other cell by itself:
/// under load, one transaction over all cells would always conflict with orders. An order pays the price in the first
/// cell, and copies that price to its own cell. So the new price holds even if only the transaction is done.
///
/// A recall is written in the same way, as a new version of the price. It is answered when every cell has that version, so
/// from then on no order succeeds, not even one that read the product before.
///
/// A new number of cells is written in one transaction if that does not conflict with orders. Otherwise new cells are
/// added empty and then filled, and superfluous cells are removed one by one before the product is written.
///
/// If a change is done and its request is repeated, the repeated request finishes the cells and succeeds. It does not
/// compare how evenly the units are spread: the first request may have ended before it levelled the cells, and units
/// may have been sold since.
pub async fn handle(
    (table, writer, currencies): (Reader, Writer, Currencies),
    Path(id): Path<ProductId>,
    if_match: IfMatch,
    Json(changes): Json<ProductChanges>,
    budget: Budget,
) -> Answer<Versioned<ProductView>> {
    changes.price.map_or(Ok(()), |price| currencies.check(Money::from(price).currency()))?;
    let fails_fast = writer.clone().fail_fast_on_conflict();

    let (mut is_calm, mut gave_up_cells) = (true, false);
    let mut retries = budget.retries();
    loop {
        let found = stock::product(&table, &id, ReadMode::Strong, budget)
            .await?
            .ok_or_else(|| Problem::not_found("product"))?;
        let (product, stock) = found;
        let version = product.version;
        let may_be_repeated = !if_match.matches(version) && if_match.may_have_led_to(version);
        is_calm &= !may_be_repeated;
        let ((mut next, long), mut to) = (changes.of(&product), changes.of_stock(&stock, is_calm));
        if if_match.is_done(version, !gave_up_cells && next == product && to == stock)? {
            stock::reprice(&writer, &stock, budget).await?;
            if !is_calm && changes.cells.is_some() {
                _ = stock::level(&writer, &stock, budget).await;
            }
            return Ok(Versioned::new(version, ProductView::with_stock(product, &stock)));
        }
        next.version += 1;
        if (to.price, to.recalled) != (stock.price, stock.recalled) {
            to.price_version = next.version;
            to.behind = (1..to.cells().get()).collect();
        }

        let change = Write::change(&product, &next, Condition::version(version)?)?;
        let mut actions = [vec![change], stock::change(&stock, &to)?, catalogue::recount(&product, &next)?].concat();
        actions.extend(catalogue::describe(&product, &next, long.as_ref())?);
        // The last write: a product of which this becomes a variant exists.
        let main = next.variant_of.as_ref().filter(|_| next.variant_of != product.variant_of);
        actions.extend(main.map(|main| Write::check(Product::key_of(main), Condition::present())));
        match fails_fast.write_all(actions, budget).await {
            Ok(Commit::Done) => {
                stock::reprice(&writer, &to, budget).await?;
                if !is_calm && changes.cells.is_some() {
                    // The change is done, so an error while levelling the cells does not change the answer.
                    _ = stock::level(&writer, &to, budget).await;
                }
                return Ok(Versioned::new(version + 1, ProductView::with_stock(next, &to)));
            }
            Ok(Commit::Cancelled(causes)) => {
                if let Some(main) = main.filter(|_| matches!(causes.last(), Some(Cause::Condition(_)))) {
                    return Err(Problem::not_found("product").with("productId", main));
                }
            }
            Err(Error::Throttled { by: Throttle::Contention, .. }) => {
                is_calm = false;
                if to.units.len() < stock.units.len() {
                    gave_up_cells = true;
                    stock::give_up_cells(&writer, &stock, to.cells().get(), budget).await?;
                }
            }
            Err(error) => return Err(error.into()),
        }
        pause(&mut retries, "product").await?;
    }
}
