//! `POST /customers`: signs a customer up.

use http_api::{
    Answer, Caller, Created, CustomerView, Example, Json, Kind, Problem, Replayable, Route, Scope, Versioned,
};
use key_schema::access::Access;
use key_schema::entity::{Customer, EmailClaim, UsernameClaim};
use key_schema::value::{CustomerId, EmailAddress, Name, Timestamp, Username};
use serde::Deserialize;
use table::{Budget, Cause, Commit, Write, Writer, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/customers", Scope::Shop)
    .summary("Sign up a customer.")
    .limit(50, 100)
    .refuses(&[Kind::UsernameTaken, Kind::EmailTaken, Kind::AlreadyExists, Kind::CustomerErased])
    .access(&[
        Access::put::<Customer>().in_transactions(),
        Access::put::<UsernameClaim>().in_transactions(),
        Access::put::<EmailClaim>().in_transactions(),
    ])
    .example(Example::at("09:32:00").body(r#"{"username":"ada","email":"ada@example.com","name":"Ada Lovelace"}"#));

/// A sign-up.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignUp {
    username: Username,
    email: EmailAddress,
    name: Name,
    /// The token's `sub` if absent. Only an admin may name another id.
    customer_id: Option<CustomerId>,
}

/// The profile and the claims of its username and address are written in one transaction, so no claim is ever without a
/// profile. A repeated sign-up is answered like the first one, as long as the profile still is as requested.
pub async fn handle(
    table: Writer,
    caller: Caller,
    Json(sign_up): Json<SignUp>,
    budget: Budget,
) -> Answer<Created<Versioned<CustomerView>>> {
    let customer_id = sign_up.customer_id.unwrap_or_else(|| caller.id.clone());
    if !caller.acts_for(&customer_id) {
        return Err(Problem::new(Kind::Forbidden, "Only an admin may sign up another customer."));
    }

    if customer_id.is_guest() {
        return Err(Problem::invalid("customerId: ids that begin with guest- are those of guests"));
    }

    let customer = Customer {
        customer_id: customer_id.clone(),
        username: sign_up.username.clone(),
        email: sign_up.email.clone(),
        name: sign_up.name.into(),
        created_at: Timestamp::now(),
        version: 1,
        erased_at: None,
        guests: Vec::new(),
    };
    let writes = vec![
        Write::put_new(&customer)?,
        Write::put_new(&UsernameClaim { username: sign_up.username, customer_id: customer_id.clone() })?,
        Write::put_new(&EmailClaim { email: sign_up.email, customer_id })?,
    ];
    match table.commit(writes, budget).await? {
        Commit::Done => Ok(created(customer, Replayable::first)),
        Commit::Cancelled(causes) => refuse(&customer, causes),
    }
}

/// The causes are in the order of the writes. The profile's comes first: when a sign-up is repeated, the conditions of
/// the customer's own claims fail as well.
fn refuse(customer: &Customer, causes: Vec<Cause>) -> Answer<Created<Versioned<CustomerView>>> {
    let mut causes = causes.into_iter();
    if let Some(Cause::Condition(Some(item))) = causes.next() {
        let existing: Customer = read_item(item)?;
        if existing.is_erased() {
            return Err(Problem::new(Kind::CustomerErased, "This id belonged to a customer who was erased."));
        }
        return if existing.is_same_sign_up(customer) {
            Ok(created(existing, Replayable::again))
        } else {
            Err(Problem::already_exists("customer"))
        };
    }
    match causes.next() {
        Some(Cause::Condition(_)) => Err(Problem::new(Kind::UsernameTaken, "Choose another username.")),
        _ => Err(Problem::new(Kind::EmailTaken, "This address belongs to another customer.")),
    }
}

fn created(
    customer: Customer,
    answer: fn(Versioned<CustomerView>) -> Replayable<Versioned<CustomerView>>,
) -> Created<Versioned<CustomerView>> {
    let location = format!("/customers/{}", customer.customer_id);
    Created { location, answer: answer(Versioned::new(customer.version, CustomerView::new(customer, None))) }
}
