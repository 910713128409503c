//! `GET /orders/{orderId}/invoice/page`: the invoice of an order, as a page to print.

mod page;

use http_api::{Answer, Caller, Example, Html, Kind, Path, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::ORDER_BY_ID;
use key_schema::value::{OrderId, Zone};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Reader};

use crate::owner;

pub const ROUTE: Route = Route::get("/orders/{orderId}/invoice/page", Scope::Shop)
    .summary("The invoice of an order, as a page to print.")
    .refuses(&[Kind::NotFound, Kind::NotPlaced])
    .access(&[Access::query(ORDER_BY_ID)])
    .access(table::MAY_ACCESS)
    .example(Example::at("09:36:50").path("ccc44633-c523-5b35-9669-978f6b6bc252"));

/// The shop, as invoices show it.
#[derive(Clone, Debug)]
pub struct Seller {
    /// The name and the address: the variable `SELLER`, whose lines are separated by `|`.
    lines: Vec<String>,
    /// The zone of the dates: the variable `TIME_ZONE`.
    zone: Zone,
}

impl FromEnvironment for Seller {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let lines = environment.declared("SELLER")?.unwrap_or_default().split('|').map(str::trim);
        Ok(Self {
            lines: lines.filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            zone: environment.parsed("TIME_ZONE")?,
        })
    }
}

pub async fn handle(
    (table, seller): (Reader, Seller),
    Path(id): Path<OrderId>,
    caller: Caller,
    budget: Budget,
) -> Answer<Html> {
    Ok(page::page(&seller, &owner::placed(&table, &id, &caller, budget).await?))
}
