//! `GET /customers?email=` or `?username=`: finds a customer by e-mail address or username.

use http_api::{Answer, CustomerView, Example, Kind, Problem, Query, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::layout::{CUSTOMER_BY_EMAIL, CUSTOMER_BY_ID, CUSTOMER_BY_USERNAME, InCustomer};
use key_schema::value::{EmailAddress, Username};
use serde::Deserialize;
use table::Reader;
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/customers", Scope::Admin)
    .summary("A customer by e-mail address or by username.")
    .limit(50, 100)
    .refuses(&[Kind::NotFound])
    .access(&[Access::query(CUSTOMER_BY_ID), Access::query(CUSTOMER_BY_EMAIL), Access::query(CUSTOMER_BY_USERNAME)])
    .example(Example::at("09:47:20").query("email=ada.lovelace%40example.com"));

/// The address or the username of the customer: exactly one of the two.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct CustomerQuery {
    email: Option<EmailAddress>,
    #[param(value_type = Option<String>, pattern = "^[A-Za-z0-9._-]{1,64}$")]
    username: Option<Username>,
}

/// Takes two requests: a claim holds only the customer's id, so that no copy of the profile can become outdated.
pub async fn handle(table: Reader, Query(query): Query<CustomerQuery>) -> Answer<Versioned<CustomerView>> {
    let id = match (query.email, query.username) {
        (Some(email), None) => table.one(&CUSTOMER_BY_EMAIL.ask(&email)).await?.map(|claim| claim.customer_id),
        (None, Some(username)) => table.one(&CUSTOMER_BY_USERNAME.ask(&username)).await?.map(|claim| claim.customer_id),
        _ => return Err(Problem::new(Kind::Validation, "Name either an email or a username, and not both.")),
    };
    let id = id.ok_or_else(|| Problem::not_found("customer"))?;

    let items = table.collection(&CUSTOMER_BY_ID.ask(&id)).await?;
    let (customer, stats) = InCustomer::assemble(items).ok_or_else(|| Problem::not_found("customer"))?;
    Ok(Versioned::new(customer.version, CustomerView::new(customer, stats)))
}
