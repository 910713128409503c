//! What an erasure forgets. This is the one place that decides it: a new kind of item, or a new text about a person, is
//! added here, and in the table of `docs/personal-data.md`.

use key_schema::access::Access;
use key_schema::entity::{
    Cart, Customer, CustomerAddresses, EmailClaim, Guest, Order, OrderAddress, OrderFlag, PaymentState, Return,
    Shipment, UsernameClaim, WholeOrder,
};
use key_schema::layout::{InOrder, Stored as _};
use key_schema::value::{CustomerId, OrderId, Timestamp};
use table::{Condition, Error, Write};

/// The text in the place of a reason that an item must have.
const ERASED: &str = "erased";

/// The writes that erase a customer, in one transaction. So an address is free exactly when no profile has it.
///
/// The first write, of the profile, has the condition that the profile is as it was read. It replaces the whole item, and
/// with it what a newer release may have stored there.
pub(crate) fn of_customer(profile: &Customer, now: Timestamp) -> Result<Vec<Write>, Error> {
    let customer_id = || profile.customer_id.clone();
    let tombstone = profile.erased(now).map_err(|_| Error::Inconsistent("a tombstone is not a valid profile"))?;
    let username = UsernameClaim { username: profile.username.clone(), customer_id: customer_id() };
    let email = EmailClaim { email: profile.email.clone(), customer_id: customer_id() };
    Ok(vec![
        Write::put_if(&tombstone, Condition::version(profile.version)?)?,
        Write::delete_if(username.key(), is_of(&profile.customer_id)?),
        Write::delete_if(email.key(), is_of(&profile.customer_id)?),
        Write::put(&Cart::erased(customer_id(), now))?,
        Write::delete(CustomerAddresses::key_of(&profile.customer_id)),
    ])
}

/// The write that deletes the profile of a guest. It needs no tombstone: it claims nothing, and an order that would bring
/// data about the guest writes or checks the profile in its own transaction.
///
/// The condition is that the guest still expires, or is still kept. The first order keeps the guest, and is then looked at.
pub(crate) fn of_guest(guest: &Guest) -> Write {
    let is_as_read = match guest.expires_at {
        Some(_) => Condition::new("attribute_exists(#expiresAt)"),
        None => Condition::new("attribute_not_exists(#expiresAt)"),
    };
    Write::delete_if(Guest::key_of(&guest.customer_id), is_as_read)
}

fn is_of(owner: &CustomerId) -> Result<Condition, Error> {
    Condition::new("#customerId = :owner").value(":owner", owner)
}

/// The writes of [`of_order`].
pub(super) const OF_ORDER: &[Access] = &[
    Access::check::<OrderFlag>(),
    Access::delete::<OrderAddress>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<OrderFlag>().in_transactions(),
    Access::update::<Return>().in_transactions(),
    Access::update::<Shipment>().in_transactions(),
];

/// The writes that remove what was written by or about the person from the items of an order, in one transaction. None if
/// there is nothing to remove. From then on, the header says that no text may follow.
///
/// Each is conditional on its item as it was read, and on the absence of a flag that was not read: a flag does not change
/// the header.
pub(crate) fn of_order(order: &OrderId, items: Vec<InOrder>) -> Result<Vec<Write>, Error> {
    let has_flag = items.iter().any(|item| matches!(item, InOrder::OrderFlag(_)));
    let mut writes = items.into_iter().map(of_item).filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
    if !writes.is_empty() && !has_flag {
        writes.push(Write::check(OrderFlag::key_of(order), Condition::absent()));
    }
    Ok(writes)
}

fn of_item(item: InOrder) -> Result<Option<Write>, Error> {
    Ok(match item {
        InOrder::Order(order) => {
            let mut next = order.clone();
            if let Some(cancellation) = &mut next.cancellation {
                cancellation.reason = None;
            }
            for allowance in &mut next.allowances {
                allowance.reason = None;
            }
            (next.has_address, next.erased) = (false, true);
            if next == order {
                return Ok(None);
            }
            next.version += 1;
            Some(Write::change(&order, &next, Condition::version(order.version)?)?)
        }
        InOrder::Return(one) if one.reason.is_some() || one.refusal.is_some() => {
            let mut next = one.clone();
            (next.reason, next.refusal) = (None, None);
            Some(Write::change(&one, &next, Condition::as_read(&one, &next)?)?)
        }
        InOrder::OrderFlag(flag) if flag.reason != ERASED => {
            let next = OrderFlag { reason: ERASED.to_owned(), ..flag.clone() };
            Some(Write::change(&flag, &next, Condition::as_read(&flag, &next)?)?)
        }
        InOrder::Shipment(one) if one.tracking_number.is_some() || one.tracking_url.is_some() => {
            let mut next = one.clone();
            (next.tracking_number, next.tracking_url) = (None, None);
            Some(Write::change(&one, &next, Condition::as_read(&one, &next)?)?)
        }
        InOrder::OrderAddress(address) => Some(Write::delete(address.key())),
        // They name the customer by the id alone, and the shop must keep them: docs/personal-data.md.
        InOrder::Return(_)
        | InOrder::Shipment(_)
        | InOrder::OrderFlag(_)
        | InOrder::OrderItem(_)
        | InOrder::Invoice(_)
        | InOrder::PaymentDue(_)
        | InOrder::QueuedOrder(_)
        | InOrder::Unknown => None,
    })
}

/// Whether the shop or the customer still has to do something for the order: deliver, pay, capture, send back or refund.
pub(crate) fn is_unfinished(whole: &WholeOrder) -> bool {
    let is_reserved = whole.invoice.card().is_some_and(|card| card.state() == PaymentState::Authorized);
    !whole.order.status.is_terminal() || !whole.order.returning.is_empty() || whole.work().is_some() || is_reserved
}
