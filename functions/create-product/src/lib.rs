//! `POST /products`: puts a product into the catalogue, with its first stock.

use edge::{Answer, Description, Kind, Problem, ProductView, Reply, Request, Route, Scope};
use key_schema::entity::{Product, Stock};
use key_schema::value::{Category, Description as Text, Money, Name, ProductId};
use serde::Deserialize;
use table::{Cause, Write, Writer, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/products", Scope::Admin);

/// A new product.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProduct {
    /// A new id if absent. Name one, and the request can be sent again without making a second product.
    product_id: Option<ProductId>,
    name: Name,
    description: Text,
    category: Category,
    price: Money,
    /// How many can be sold.
    #[serde(default)]
    #[schema(value_type = u64, maximum = 4_294_967_295u64)]
    stock: u32,
}

/// Product and stock are one transaction: neither is ever seen without the other.
pub async fn handle(table: Writer, request: Request) -> Answer {
    let new: NewProduct = request.json()?;
    let product = Product {
        product_id: new.product_id.unwrap_or_else(ProductId::random),
        name: new.name.into(),
        description: new.description.into(),
        category: new.category,
        price: new.price,
        initial_stock: new.stock,
        version: 1,
    };
    let stock = Stock { product_id: product.product_id.clone(), available: u64::from(new.stock), price: product.price };

    let writes = vec![Write::put_new(&product)?, Write::put_new(&stock)?];
    match table.commit(writes, request.budget()).await? {
        Ok(()) => created(product, &stock, false),
        Err(causes) => match causes.into_iter().next() {
            Some(Cause::Condition(Some(existing))) => {
                let same = read_item::<Product>(existing)? == product;
                if same { created(product, &stock, true) } else { Err(Problem::already_exists("product")) }
            }
            _ => Err(Problem::already_exists("product")),
        },
    }
}

fn created(product: Product, stock: &Stock, replayed: bool) -> Answer {
    let (location, version) = (format!("/products/{}", product.product_id), product.version);
    Ok(Reply::created(location, &ProductView::new(product, stock, None))?.etag(version).replayed(replayed))
}

pub fn describe() -> Description {
    ROUTE
        .describe("Put a product into the catalogue.")
        .accepts::<NewProduct>()
        .versioned()
        .creates::<ProductView>()
        .refuses(&[Kind::AlreadyExists])
}
