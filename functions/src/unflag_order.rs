//! `DELETE /orders/{orderId}/flag`: nobody needs to look at this order any more.

use http_api::{Answer, Description, Reply, Request, Route, Scope};
use key_schema::entity::OrderFlag;
use table::{Write, Writer};

pub const ROUTE: Route = Route::delete("/orders/{orderId}/flag", Scope::Admin);

/// Also when it has no flag: afterwards it has none.
pub async fn handle(table: Writer, request: Request) -> Answer {
    let order = request.path("orderId")?;
    // Without a condition there is none to fail.
    let _ = table.write(Write::delete(OrderFlag::key_of(&order)), request.budget()).await?;
    Ok(Reply::no_content())
}

pub fn describe() -> Description {
    ROUTE.describe("Take the flag off an order.").done()
}
