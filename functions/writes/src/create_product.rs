//! `POST /products`: adds a product with its initial stock to the catalogue.

use http_api::{
    Answer, Created, Example, Json, Kind, Once, Problem, ProductView, Replayable, Route, Scope, Serialized, Versioned,
};
use key_schema::access::Access;
use key_schema::entity::{IdempotencyRecord, Product, Stock, StockCell, WholeStock};
use payments::Currencies;
use table::{Budget, Cause, Commit, Condition, Error, Write, Writer, read_item, stored_answer};

use crate::product_request::NewProduct;

pub const ROUTE: Route = Route::post("/products", Scope::Admin)
    .summary("Add a product to the catalogue.")
    .refuses(&[Kind::AlreadyExists, Kind::NotFound])
    .access(&[
        Access::put::<Product>().in_transactions(),
        Access::put::<Stock>().in_transactions(),
        Access::put::<StockCell>().in_transactions(),
        Access::put::<IdempotencyRecord>().in_transactions(),
        Access::check::<Product>(),
    ])
    .access(catalogue::CREATE)
    .example(Example::at("09:30:00").body(
        r#"{
            "productId": "espresso-cup",
            "name": "Espresso cup",
            "description": "Stoneware, 80 ml",
            "category": "kitchen",
            "price": {"amount": 1999, "currency": "EUR"},
            "stock": 10
        }"#,
    ));

/// The product, its long description, all cells of its stock and the number of its category are written in one
/// transaction, so that none exists without the others. With an `Idempotency-Key`, a product without an id in the request is created once, too.
pub async fn handle(
    (table, currencies): (Writer, Currencies),
    once: Option<Once>,
    Json(new): Json<NewProduct>,
    budget: Budget,
) -> Answer<Serialized<Created<Versioned<ProductView>>>> {
    let (product, long, stock) = new.entities();
    currencies.check(product.price.currency())?;

    let mut writes = vec![Write::put_new(&product)?];
    writes.extend(stock::begin(&stock)?);
    writes.extend(catalogue::enter(&product)?);
    let (main, check) = (product.variant_of.as_ref(), writes.len());
    writes.extend(main.map(|main| Write::check(Product::key_of(main), Condition::present())));
    // Nothing is there, unless somebody removed an earlier product of this id by hand.
    writes.extend(long.as_ref().map(Write::put).transpose()?);
    if let Some(once) = &once {
        let answer = Serialized::of(created(product.clone(), &stock, Replayable::first))?;
        writes.push(Write::answer(&once.record(answer.reply()), once.now())?);
    }
    match table.commit(writes, budget).await? {
        Commit::Done => Serialized::of(created(product, &stock, Replayable::first)),
        Commit::Cancelled(mut causes) => {
            if let Some(once) = once
                && let Some(stored) = stored_answer(&mut causes)?
            {
                return Ok(once.replay(stored)?.into());
            }
            if let Some(main) = main.filter(|_| matches!(causes.get(check), Some(Cause::Condition(_)))) {
                return Err(Problem::not_found("product").with("productId", main));
            }
            if !is_the_same(causes, &product, &stock)? {
                return Err(Problem::already_exists("product"));
            }
            Serialized::of(created(product, &stock, Replayable::again))
        }
    }
}

/// Whether the existing product is the requested one. Some of its units may have been sold.
fn is_the_same(causes: Vec<Cause>, product: &Product, stock: &WholeStock) -> Result<bool, Error> {
    let mut causes = causes.into_iter();
    let (Some(Cause::Condition(Some(existing))), Some(Cause::Condition(Some(first)))) = (causes.next(), causes.next())
    else {
        return Ok(false);
    };
    Ok(product.is_like(&read_item(existing)?) && read_item::<Stock>(first)?.cells == stock.cells())
}

fn created(
    product: Product,
    stock: &WholeStock,
    answer: fn(Versioned<ProductView>) -> Replayable<Versioned<ProductView>>,
) -> Created<Versioned<ProductView>> {
    let location = format!("/products/{}", product.product_id);
    Created { location, answer: answer(Versioned::new(product.version, ProductView::new(product, stock, None))) }
}
