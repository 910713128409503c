//! `DELETE /customers/{customerId}/cart`: throws a cart away.

use edge::{Answer, Description, Kind, Reply, Request, Route, Scope};
use key_schema::entity::Cart;
use table::{Write, Writer};

pub const ROUTE: Route = Route::delete("/customers/{customerId}/cart", Scope::Shop);

/// Also when there is none: afterwards there is none.
pub async fn handle(table: Writer, request: Request) -> Answer {
    let customer = request.own_customer()?;
    // Without a condition there is none to fail.
    let _ = table.write(Write::delete(Cart::key_of(&customer)), request.budget()).await?;
    Ok(Reply::no_content())
}

pub fn describe() -> Description {
    ROUTE.describe("Throw a cart away.").done().refuses(&[Kind::NotFound])
}
