//! `GET /products/{productId}/orders`: the orders of a product in a range of time, its shards merged.

use http_api::{Answer, Description, OrderItemView, Reply, Request, Route, Scope};
use key_schema::layout::OrdersOfProduct;
use key_schema::value::TimeRange;
use table::{ProductShards, Reader};

pub const ROUTE: Route = Route::get("/products/{productId}/orders", Scope::Admin);

pub async fn handle((table, shards): (Reader, ProductShards), request: Request) -> Answer {
    let product = request.path("productId")?;
    let (placed, page) = request.list()?;
    let shards = OrdersOfProduct::in_shards(&product, shards.0, &placed);
    Reply::ok(&table.merged(&shards, &page).await?.map(OrderItemView::from))
}

pub fn describe() -> Description {
    ROUTE.describe("The orders of a product in a range of time: the line of each.").lists::<TimeRange, OrderItemView>()
}
