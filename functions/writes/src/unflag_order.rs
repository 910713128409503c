//! `DELETE /orders/{orderId}/flag`: removes the flag of an order.

use http_api::{Answer, Example, Path, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::OrderFlag;
use key_schema::value::OrderId;
use table::{Budget, Write, Writer};

pub const ROUTE: Route = Route::delete("/orders/{orderId}/flag", Scope::Admin)
    .summary("Remove the flag of an order.")
    .access(&[Access::delete::<OrderFlag>()])
    .example(Example::at("09:50:00").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// Succeeds if the order has no flag, or if there is no such order.
pub async fn handle(table: Writer, Path(order): Path<OrderId>, budget: Budget) -> Answer<()> {
    // The write has no condition, so its outcome says nothing.
    let _ = table.write(Write::delete(OrderFlag::key_of(&order)), budget).await?;
    Ok(())
}
