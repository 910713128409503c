//! `PUT /customers/{customerId}/guests/{guestId}`: a customer claims a guest, and sees the guest's orders from then on.

use futures_util::future::try_join;
use http_api::{Answer, Caller, Example, GuestOfPath, Kind, OwnCustomer, Problem, Route, Scope};
use key_schema::access::{Access, GUESTS};
use key_schema::entity::{Customer, Guest};
use key_schema::layout::{CUSTOMER_BY_ID, InCustomer};
use key_schema::value::{EmailAddress, Timestamp};
use table::{Budget, Condition, Reader, Write, Writer};

use crate::optimistic::pause;

pub const ROUTE: Route = Route::put("/customers/{customerId}/guests/{guestId}", Scope::Shop)
    .summary(
        "Claim a guest: the customer sees, pays, cancels and returns the guest's orders from then on. The token proves that \
             the guest's address is the customer's, by its claims email and email_verified. Staff need no proof.",
    )
    .limit(10, 20)
    .refuses(&[Kind::Forbidden, Kind::AlreadyExists, Kind::TooManyGuests])
    .access(&[
        Access::query(CUSTOMER_BY_ID),
        Access::update::<Customer>().in_transactions(),
        Access::update::<Guest>().of_partitions(GUESTS).in_transactions(),
    ])
    .example(
        Example::at("09:55:40")
            .path("ada/guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og")
            .verified_email("grace@example.com"),
    );

/// Guest and customer name each other, by one transaction: the guest lets the customer in, and the customer's erasure
/// finds the guest. So a claim beside an erasure is either seen by it or refused.
///
/// A guest with another address and a guest who does not exist get the same answer.
pub async fn handle(
    (table, writer): (Reader, Writer),
    OwnCustomer(id): OwnCustomer,
    GuestOfPath(guest_id): GuestOfPath,
    caller: Caller,
    budget: Budget,
) -> Answer<()> {
    let proof = proof(&caller)?;
    let mut retries = budget.retries();
    loop {
        let (of_customer, of_guest) = (CUSTOMER_BY_ID.ask(&id), CUSTOMER_BY_ID.ask(&guest_id));
        let (of_customer, of_guest) = try_join(table.collection(&of_customer), table.collection(&of_guest)).await?;
        let (customer, _) = InCustomer::assemble(of_customer).ok_or_else(|| Problem::not_found("customer"))?;
        let now = Timestamp::now();
        let guest = InCustomer::guest(&of_guest)
            .filter(|guest| !guest.is_expired(now) && proof.is_none_or(|email| email.is_same(&guest.email)))
            .ok_or_else(|| Problem::not_found("guest"))?;

        let missing = writes(&customer, guest, now)?;
        if missing.is_empty() || writer.commit(missing, budget).await?.is_done() {
            return Ok(());
        }
        pause(&mut retries, "customer or the guest").await?;
    }
}

/// The address that the guest must have. None for staff.
fn proof(caller: &Caller) -> Answer<Option<&EmailAddress>> {
    let detail = "The token must prove an address: it needs the claims email, and email_verified with the value true.";
    match &caller.verified_email {
        _ if caller.is_admin => Ok(None),
        Some(email) => Ok(Some(email)),
        None => Err(Problem::new(Kind::Forbidden, detail)),
    }
}

/// The writes of the claim. None if it was made before.
fn writes(customer: &Customer, guest: &Guest, now: Timestamp) -> Answer<Vec<Write>> {
    let mut writes = Vec::new();
    match &guest.claimed_by {
        Some(other) if *other != customer.customer_id => {
            return Err(Problem::new(Kind::AlreadyExists, "Another customer has claimed this guest."));
        }
        Some(_) if customer.guests.contains(&guest.customer_id) => return Ok(writes),
        Some(_) => {}
        None => {
            let claimed = Guest { claimed_by: Some(customer.customer_id.clone()), ..guest.clone() };
            let is_free = Condition::new(
                "#email = :email AND attribute_not_exists(#claimedBy) \
                 AND (attribute_not_exists(#expiresAt) OR #expiresAt > :now)",
            );
            let is_free = is_free.value(":email", &guest.email)?.value(":now", now.as_second())?;
            writes.push(Write::change(guest, &claimed, is_free)?);
        }
    }
    let mut next = Customer { version: customer.version + 1, ..customer.clone() };
    if !next.guests.contains(&guest.customer_id) {
        next.guests.push(guest.customer_id.clone());
    }
    if next.guests.len() > Customer::MOST_GUESTS {
        let detail = format!("A customer may claim at most {} guests.", Customer::MOST_GUESTS);
        return Err(Problem::new(Kind::TooManyGuests, detail));
    }
    writes.push(Write::change(customer, &next, Condition::version(customer.version)?)?);
    Ok(writes)
}
