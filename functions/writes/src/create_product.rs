//! `POST /products`: adds a product with its initial stock to the catalogue.

use http_api::{
    Answer, Created, Example, Json, Kind, Once, Problem, ProductView, Replayable, Route, Scope, Serialized, Versioned,
};
use key_schema::access::Access;
use key_schema::entity::{IdempotencyRecord, Product, Stock, StockCell, WholeStock};
use key_schema::value::{Attributes, Category, Cells, Charge, Description as Text, Grams, Money, Name, ProductId};
use payments::Currencies;
use serde::Deserialize;
use table::{Budget, Cause, Commit, Condition, Error, Write, Writer, read_item, stored_answer};
use utoipa::ToSchema;

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

/// A new product.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProduct {
    /// A random id if absent. If the request names an id or has an Idempotency-Key, it can be repeated without creating
    /// a second product.
    product_id: Option<ProductId>,
    name: Name,
    description: Text,
    category: Category,
    price: Charge,
    /// The weight of one unit, for the price of shipping.
    weight_grams: Option<Grams>,
    /// What tells the variants of a product apart, such as `{"size": "M"}`.
    #[serde(default)]
    attributes: Attributes,
    /// The product of which this is a variant. A variant has its own price and its own stock.
    variant_of: Option<ProductId>,
    /// Whether lists, categories and the search have the product. If not, it can still be read by its id and ordered.
    #[serde(default = "listed")]
    #[schema(default = true)]
    listed: bool,
    /// The number of units that can be sold.
    #[serde(default)]
    #[schema(value_type = u64, maximum = 4_294_967_295u64)]
    stock: u32,
    /// The number of cells over which the units are spread. Orders that take units from the same cell are written one
    /// after the other, so a product that many customers order at the same moment needs several cells.
    #[serde(default)]
    cells: Cells,
}

const fn listed() -> bool {
    true
}

impl NewProduct {
    pub(crate) const fn named(&self) -> Option<&ProductId> {
        self.product_id.as_ref()
    }
}

/// The product, its long description, all cells of its stock and the number of its category are written in one
/// transaction, so that none exists without the others. With an `Idempotency-Key`, a product without an id in the request is created once, too.
pub async fn handle(
    (table, currencies): (Writer, Currencies),
    once: Option<Once>,
    Json(new): Json<NewProduct>,
    budget: Budget,
) -> Answer<Serialized<Created<Versioned<ProductView>>>> {
    currencies.check(Money::from(new.price).currency())?;
    let product_id = new.product_id.unwrap_or_else(ProductId::random);
    let mut product = Product {
        variant_of: new.variant_of.filter(|main| *main != product_id),
        attributes: new.attributes.into(),
        listed: new.listed,
        initial_stock: new.stock,
        weight_grams: new.weight_grams.filter(|weight| weight.get() > 0),
        ..Product::new(product_id, new.name.into(), new.category, new.price.into())
    };
    let long = product.describe(new.description.into());
    let stock = WholeStock::shared_out(product.product_id.clone(), product.price, new.stock.into(), new.cells);

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
    Ok(*product == read_item(existing)? && read_item::<Stock>(first)?.cells == stock.cells())
}

fn created(
    product: Product,
    stock: &WholeStock,
    answer: fn(Versioned<ProductView>) -> Replayable<Versioned<ProductView>>,
) -> Created<Versioned<ProductView>> {
    let location = format!("/products/{}", product.product_id);
    Created { location, answer: answer(Versioned::new(product.version, ProductView::new(product, stock, None))) }
}
