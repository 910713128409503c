//! `GET /customers/{customerId}/overview`: a profile and the ten newest orders, in one Query.

use http_api::{Answer, Description, Kind, OverviewView, Problem, Reply, Request, Route, Scope};
use key_schema::layout::ProfileAndOrders;
use table::{PageRequest, Reader};

pub const ROUTE: Route = Route::get("/customers/{customerId}/overview", Scope::Shop);

/// The profile, which sorts just after the newest order, and ten orders.
const PROFILE_AND_TEN: u8 = 11;

pub async fn handle(table: Reader, request: Request) -> Answer {
    let customer = request.own_customer()?;
    let page = PageRequest { limit: PROFILE_AND_TEN, cursor: None };
    let page = table.page(&ProfileAndOrders { customer: &customer }, &page).await?;

    let (customer, orders) = ProfileAndOrders::assemble(page.items).ok_or_else(|| Problem::not_found("customer"))?;
    Reply::ok(&OverviewView::new(customer, orders))
}

pub fn describe() -> Description {
    ROUTE
        .describe("A customer with the ten newest orders, newest first.")
        .answers::<OverviewView>()
        .refuses(&[Kind::NotFound])
}
