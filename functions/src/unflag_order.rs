//! `DELETE /orders/{orderId}/flag`: nobody needs to look at this order any more.

use http_api::{Answer, Example, Path, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::OrderFlag;
use key_schema::value::OrderId;
use table::{Budget, Write, Writer};

pub const ROUTE: Route = Route::delete("/orders/{orderId}/flag", Scope::Admin)
    .summary("Take the flag off an order.")
    .access(&[Access::delete::<OrderFlag>()])
    .example(Example::at("09:50:00").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// Also when it has no flag: afterwards it has none.
pub async fn handle(table: Writer, Path(order): Path<OrderId>, budget: Budget) -> Answer<()> {
    // Without a condition there is none to fail.
    let _ = table.write(Write::delete(OrderFlag::key_of(&order)), budget).await?;
    Ok(())
}
