//! `PATCH /customers/{customerId}`: changes a profile.

use http_api::{Answer, CustomerView, Example, IfMatch, Json, Kind, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::{Customer, EmailClaim, UsernameClaim};
use key_schema::layout::{CUSTOMER_BY_ID, InCustomer, Stored};
use key_schema::value::{CustomerId, EmailAddress, Name, Username};
use serde::Deserialize;
use table::{Budget, Cause, Commit, Condition, Error, Reader, Write, Writer};
use utoipa::ToSchema;

use crate::optimistic::pause;

pub const ROUTE: Route = Route::patch("/customers/{customerId}", Scope::Shop)
    .summary("Change a profile.")
    .limit(50, 100)
    .refuses(&[Kind::UsernameTaken, Kind::EmailTaken])
    .access(&[Access::query(CUSTOMER_BY_ID), Access::update::<Customer>()])
    .access(&[
        Access::put::<UsernameClaim>().in_transactions(),
        Access::update::<UsernameClaim>().in_transactions(),
        Access::delete::<UsernameClaim>().in_transactions(),
    ])
    .access(&[
        Access::put::<EmailClaim>().in_transactions(),
        Access::update::<EmailClaim>().in_transactions(),
        Access::delete::<EmailClaim>().in_transactions(),
    ])
    .example(
        Example::at("09:46:40")
            .path("ada")
            .header("if-match", r#""1""#)
            .body(r#"{"email":"ada.lovelace@example.com"}"#),
    );

/// The fields to change. Absent fields keep their values.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomerChanges {
    username: Option<Username>,
    email: Option<EmailAddress>,
    name: Option<Name>,
}

impl CustomerChanges {
    fn of(&self, customer: &Customer) -> Customer {
        let mut changed = customer.clone();
        if let Some(username) = &self.username {
            changed.username = username.clone();
        }
        if let Some(email) = &self.email {
            changed.email = email.clone();
        }
        if let Some(name) = &self.name {
            changed.name = name.clone().into();
        }
        changed
    }
}

/// The transaction that writes the profile also claims the new username or address and releases the old one. So a
/// customer always holds exactly one of each. If a change is done and its request is repeated, the answer is success.
pub async fn handle(
    (table, writer): (Reader, Writer),
    OwnCustomer(id): OwnCustomer,
    if_match: IfMatch,
    Json(changes): Json<CustomerChanges>,
    budget: Budget,
) -> Answer<Versioned<CustomerView>> {
    let mut retries = budget.retries();
    loop {
        let items = table.collection(&CUSTOMER_BY_ID.ask(&id)).await?;
        let (customer, stats) = InCustomer::assemble(items).ok_or_else(|| Problem::not_found("customer"))?;
        let version = customer.version;
        let mut next = changes.of(&customer);
        if if_match.is_done(version, next == customer)? {
            return Ok(Versioned::new(version, CustomerView::new(customer, stats)));
        }
        next.version += 1;

        let (all, taken): (Vec<_>, Vec<_>) = writes(&customer, &next)?.into_iter().unzip();
        let Commit::Cancelled(causes) = writer.write_all(all, budget).await? else {
            return Ok(Versioned::new(version + 1, CustomerView::new(next, stats)));
        };
        // If the profile's own condition failed, the claims may have changed as well: read the profile again first.
        let failed: Vec<_> = causes.iter().map(|cause| matches!(cause, Cause::Condition(_))).collect();
        if failed.first() == Some(&false)
            && let Some(kind) = taken.into_iter().zip(failed).find_map(|(kind, failed)| kind.filter(|_| failed))
        {
            return Err(Problem::new(kind, "Another customer has this name or address. Choose another one."));
        }
        pause(&mut retries, "profile").await?;
    }
}

/// A write, and the problem to answer if its condition fails.
type GuardedWrite = (Write, Option<Kind>);

/// The write of the profile, then for each changed username or address the writes of its new and old claims. If only
/// the case changes, the claim keeps its key and is one write.
fn writes(from: &Customer, to: &Customer) -> Result<Vec<GuardedWrite>, Error> {
    let mut writes = vec![(Write::change(from, to, Condition::version(from.version)?)?, None)];
    let username = |customer: &Customer| UsernameClaim {
        username: customer.username.clone(),
        customer_id: customer.customer_id.clone(),
    };
    let email =
        |customer: &Customer| EmailClaim { email: customer.email.clone(), customer_id: customer.customer_id.clone() };
    if from.username != to.username {
        writes.extend(change_claim(&username(from), &username(to), &to.customer_id, Kind::UsernameTaken)?);
    }
    if from.email != to.email {
        writes.extend(change_claim(&email(from), &email(to), &to.customer_id, Kind::EmailTaken)?);
    }
    Ok(writes)
}

fn change_claim<T: Stored>(from: &T, to: &T, owner: &CustomerId, taken: Kind) -> Result<Vec<GuardedWrite>, Error> {
    let is_own = Condition::new("#customerId = :owner").value(":owner", owner)?;
    if from.key() == to.key() {
        return Ok(vec![(Write::change(from, to, is_own)?, None)]);
    }
    Ok(vec![(Write::put_new(to)?, Some(taken)), (Write::delete_if(from.key(), is_own), None)])
}
