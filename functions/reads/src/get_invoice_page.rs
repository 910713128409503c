//! `GET /orders/{orderId}/invoice/page`: the invoice of an order, as a page to print.

mod page;

use http_api::{Answer, Caller, Example, Html, Kind, Path, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::ORDER_BY_ID;
use key_schema::value::OrderId;
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Reader};

pub const ROUTE: Route = Route::get("/orders/{orderId}/invoice/page", Scope::Shop)
    .summary("The invoice of an order, as a page to print.")
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:36:50").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// The name and the address of the shop, as invoices show them: the variable `SELLER`, whose lines are separated by `|`.
#[derive(Clone, Debug)]
pub struct Seller(Vec<String>);

impl FromEnvironment for Seller {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let lines = environment.declared("SELLER")?.unwrap_or_default().split('|').map(str::trim);
        Ok(Self(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()))
    }
}

pub async fn handle(
    (table, seller): (Reader, Seller),
    Path(id): Path<OrderId>,
    caller: Caller,
    budget: Budget,
) -> Answer<Html> {
    match table.order(&id, budget).await? {
        Some(whole) if table.may_access(caller.customer(), &whole.order.customer_id).await? => {
            Ok(page::page(&seller.0, &whole))
        }
        _ => Err(Problem::not_found("order")),
    }
}
