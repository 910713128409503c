//! `DELETE /customers/{customerId}`: erases a customer, or a guest.

mod forgetting;

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use http_api::{Answer, Example, Kind, OwnCustomer, Problem, Route, Scope};
use key_schema::access::{Access, GUESTS};
use key_schema::entity::{Cart, Customer, CustomerAddresses, EmailClaim, Guest, Order, UsernameClaim, WholeOrder};
use key_schema::layout::{
    CUSTOMER_BY_ID, INVOICES_OF_CUSTOMER, InCustomer, InOrder, ORDER_BY_ID, ORDERS_OF_CUSTOMER, OrderState, Query,
};
use key_schema::value::{CustomerId, OrderId, TimeRange, Timestamp};
use table::{Budget, Cause, Commit, Error, Reader, Writer};

use crate::optimistic::pause;

pub const ROUTE: Route = Route::delete("/customers/{customerId}", Scope::Shop)
    .summary(
        "Erase a customer with the guests whom the customer has claimed or, as staff, a guest. The books stay: orders, \
             invoices and payments keep the id, which then leads to nobody. Refused while an order is unfinished.",
    )
    .limit(10, 20)
    .refuses(&[Kind::NotFound, Kind::OpenOrders])
    .access(&[
        Access::query(CUSTOMER_BY_ID),
        Access::query(INVOICES_OF_CUSTOMER),
        Access::query(ORDERS_OF_CUSTOMER),
        Access::query(ORDER_BY_ID),
        Access::put::<Customer>().in_transactions(),
        Access::put::<Cart>().in_transactions(),
        Access::delete::<UsernameClaim>().in_transactions(),
        Access::delete::<EmailClaim>().in_transactions(),
        Access::delete::<CustomerAddresses>().in_transactions(),
        Access::delete::<Guest>().of_partitions(GUESTS),
    ])
    .access(forgetting::OF_ORDER)
    .example(Example::at("09:59:00").path("ada"));

/// The orders on one page of a list.
const PAGE: u8 = 100;

/// The orders that are read at the same time.
const AT_ONCE: usize = 10;

/// The most open orders that a problem names.
const MOST_NAMED: usize = 20;

/// First the profile becomes a tombstone, or that of a guest is deleted; then each order forgets what was written about the
/// person. The guests whom a customer has claimed come before: until the tombstone, the profile names them. If the request
/// ends in between, or an order was placed at the same moment, the same request again does the rest. Its answer is 204 only
/// if nothing is left.
pub async fn handle((table, writer): (Reader, Writer), OwnCustomer(id): OwnCustomer, budget: Budget) -> Answer<()> {
    let erasure = Erasure { table, writer, id, budget };
    if erasure.id.is_guest() {
        erasure.erase_guest().await?;
    } else {
        erasure.erase_profile().await?;
    }
    refuse_if_any(erasure.forget().await?)
}

fn refuse_if_any(unfinished: Vec<OrderId>) -> Answer<()> {
    if unfinished.is_empty() {
        return Ok(());
    }
    let detail = "Orders are not finished. Send the request again when they are delivered or cancelled, and all money is \
                  settled.";
    let named: Vec<_> = unfinished.into_iter().take(MOST_NAMED).collect();
    Err(Problem::new(Kind::OpenOrders, detail).with("orders", named))
}

/// An erasure in progress.
#[derive(Clone)]
struct Erasure {
    table: Reader,
    writer: Writer,
    id: CustomerId,
    budget: Budget,
}

impl Erasure {
    /// Replaces the profile by a tombstone, unless it is one.
    async fn erase_profile(&self) -> Answer<()> {
        let mut retries = self.budget.retries();
        loop {
            let profile = self.profile().await?.ok_or_else(|| Problem::not_found("customer"))?;
            if profile.is_erased() {
                return Ok(());
            }
            let guests = self.claimed(&profile).await?;
            let mut unfinished = self.unfinished().await?;
            for guest in &guests {
                unfinished.extend(guest.unfinished().await?);
            }
            refuse_if_any(unfinished)?;
            for guest in &guests {
                guest.delete_guest().await?;
                refuse_if_any(guest.forget().await?)?;
            }
            // A claim in the meantime has changed the profile.
            match self.writer.commit(forgetting::of_customer(&profile, Timestamp::now())?, self.budget).await? {
                Commit::Done => return Ok(()),
                Commit::Cancelled(causes) if matches!(causes.first(), Some(Cause::Condition(_))) => {}
                Commit::Cancelled(_) => return Err(Error::Inconsistent("a claim belongs to another customer").into()),
            }
            pause(&mut retries, "profile").await?;
        }
    }

    /// The erasures of the guests whom the customer has claimed. One who expired or was erased, and came again, is not the
    /// customer's. One without a profile may be half erased.
    async fn claimed(&self, profile: &Customer) -> Result<Vec<Self>, Error> {
        let mut claimed = Vec::new();
        for guest in &profile.guests {
            let items = self.table.collection(&CUSTOMER_BY_ID.ask(guest)).await?;
            if InCustomer::guest(&items).is_none_or(|guest| guest.is_claimed_by(&self.id)) {
                claimed.push(Self { id: guest.clone(), ..self.clone() });
            }
        }
        Ok(claimed)
    }

    /// Deletes the profile of a guest. Without a profile, orders under the id tell that there was a guest: an erasure that
    /// was interrupted goes on with them. A guest without orders who was erased is one who never was.
    async fn erase_guest(&self) -> Answer<()> {
        if self.delete_guest().await? {
            return Ok(());
        }
        let (orders, _) = self.table.after(&self.orders(), None, 1).await?;
        if orders.is_empty() { Err(Problem::not_found("guest")) } else { Ok(()) }
    }

    /// Deletes the profile of a guest. Returns whether there was one. The orders are looked at once more: while other guests
    /// of the customer forgot, this one may have placed an order, which does not change the profile unless it is the first.
    async fn delete_guest(&self) -> Answer<bool> {
        let (mut retries, mut was_there) = (self.budget.retries(), false);
        loop {
            let items = self.table.collection(&CUSTOMER_BY_ID.ask(&self.id)).await?;
            let Some(guest) = InCustomer::guest(&items) else { return Ok(was_there) };
            was_there = true;
            refuse_if_any(self.unfinished().await?)?;
            if self.writer.write(forgetting::of_guest(guest), self.budget).await?.is_done() {
                return Ok(true);
            }
            pause(&mut retries, "guest").await?;
        }
    }

    fn orders(&self) -> Query<Order> {
        ORDERS_OF_CUSTOMER.ask((&self.id, &TimeRange::default()))
    }

    /// The profile, which may be a tombstone.
    async fn profile(&self) -> Result<Option<Customer>, Error> {
        let items = self.table.collection(&CUSTOMER_BY_ID.ask(&self.id)).await?;
        Ok(items.into_iter().find_map(|item| match item {
            InCustomer::Customer(profile) => Some(profile),
            _ => None,
        }))
    }

    /// The unfinished orders, by the lists of orders and invoices. The lists are eventually consistent, and cost little for
    /// each order: what they miss, [`forget`](Self::forget) finds.
    async fn unfinished(&self) -> Result<Vec<OrderId>, Error> {
        let (mut cards, mut position) = (BTreeMap::new(), None);
        loop {
            let invoices = INVOICES_OF_CUSTOMER.ask((&self.id, &TimeRange::default()));
            let (invoices, stopped) = self.table.after(&invoices, position.as_deref(), PAGE).await?;
            let with_card = invoices.into_iter().filter(|invoice| invoice.card().is_some());
            cards.extend(with_card.map(|invoice| (invoice.order_id, invoice.payments)));
            let Some(stopped) = stopped else { break };
            position = Some(stopped);
        }
        let (mut unfinished, mut position) = (Vec::new(), None);
        loop {
            let (orders, stopped) = self.table.after(&self.orders(), position.as_deref(), PAGE).await?;
            for order in orders {
                let payments = cards.remove(&order.order_id).unwrap_or_default();
                let whole = WholeOrder::new(order, Vec::new(), payments);
                unfinished.extend(forgetting::is_unfinished(&whole).then_some(whole.order.order_id));
            }
            let Some(stopped) = stopped else { return Ok(unfinished) };
            position = Some(stopped);
        }
    }

    /// Makes each finished order of the customer forget what was written about the person, and returns the unfinished
    /// ones. An order that has forgotten says so, and is not read again: so however many orders there are, a request goes on
    /// where the one before it stopped.
    async fn forget(&self) -> Result<Vec<OrderId>, Error> {
        let (mut unfinished, mut position) = (Vec::new(), None);
        loop {
            let (orders, stopped) = self.table.after(&self.orders(), position.as_deref(), PAGE).await?;
            let is_left = |order: &Order| !order.erased || !order.status.is_terminal() || !order.returning.is_empty();
            let ids: Vec<OrderId> = orders.into_iter().filter(is_left).map(|order| order.order_id).collect();
            for some in ids.chunks(AT_ONCE) {
                let open = try_join_all(some.iter().map(|order| self.forget_order(order))).await?;
                let open = some.iter().zip(open).filter(|(_, is_open)| *is_open);
                unfinished.extend(open.map(|(order, _)| order.clone()));
            }
            let Some(stopped) = stopped else { return Ok(unfinished) };
            position = Some(stopped);
        }
    }

    /// Makes an order forget. Returns whether the order is unfinished. Then it keeps everything.
    async fn forget_order(&self, order: &OrderId) -> Result<bool, Error> {
        let mut retries = self.budget.retries();
        loop {
            let items = self.table.collection(&ORDER_BY_ID.ask(order)).await?;
            let is_finished = match InOrder::assemble(items.clone()) {
                Ok(Some(OrderState::Placed(whole))) => Some(!forgetting::is_unfinished(&whole)),
                Ok(_) => Some(true),
                // Read again.
                Err(_) => None,
            };
            match is_finished {
                Some(false) => return Ok(true),
                Some(true) => {
                    let writes = forgetting::of_order(order, items)?;
                    if writes.is_empty() || self.writer.commit(writes, self.budget).await?.is_done() {
                        return Ok(false);
                    }
                }
                None => {}
            }
            pause(&mut retries, "order").await?;
        }
    }
}
