//! `GET /products/{productId}/orders`: the orders of a product in a range of time.

use edge::{Answer, Description, Reply, Request, Route, Scope};
use key_schema::entity::OrderItem;
use key_schema::layout::OrdersOfProduct;
use key_schema::value::TimeRange;
use table::Reader;

pub const ROUTE: Route = Route::get("/products/{productId}/orders", Scope::Admin);

pub async fn handle(table: Reader, request: Request) -> Answer {
    let product = request.path("productId")?;
    let (placed, page) = request.list()?;
    Reply::ok(&table.page(&OrdersOfProduct { product: &product, placed }, &page).await?)
}

pub fn describe() -> Description {
    ROUTE.describe("The orders of a product in a range of time: the line of each.").lists::<TimeRange, OrderItem>()
}
