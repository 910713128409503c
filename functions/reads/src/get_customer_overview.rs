//! `GET /customers/{customerId}/overview`: a customer's profile and ten newest orders, in one Query.

use http_api::{Answer, Example, Json, OverviewView, OwnCustomer, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::layout::{PROFILE_AND_ORDERS, ProfileOrOrder};
use key_schema::page::PageRequest;
use table::Reader;

pub const ROUTE: Route = Route::get("/customers/{customerId}/overview", Scope::Shop)
    .summary("A customer with their ten newest orders, newest first.")
    .access(&[Access::query(PROFILE_AND_ORDERS)])
    .example(Example::at("09:46:00").path("ada"));

/// The profile, which sorts just after the newest order, and ten orders.
const PROFILE_AND_TEN: u8 = 11;

pub async fn handle(table: Reader, OwnCustomer(customer): OwnCustomer) -> Answer<Json<OverviewView>> {
    let page = PageRequest { limit: PROFILE_AND_TEN, cursor: None };
    let page = table.page(&PROFILE_AND_ORDERS.ask(&customer), &page).await?;

    let (customer, orders) = ProfileOrOrder::assemble(page.items).ok_or_else(|| Problem::not_found("customer"))?;
    Ok(Json(OverviewView::new(customer, orders)))
}
