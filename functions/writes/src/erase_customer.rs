//! `DELETE /customers/{customerId}`: erases a customer.

mod forgetting;

use futures_util::future::try_join_all;
use http_api::{Answer, Example, Kind, OwnCustomer, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::{
    Cart, Customer, CustomerAddresses, EmailClaim, Order, OrderAddress, OrderFlag, Return, Shipment, UsernameClaim,
};
use key_schema::layout::{CustomerById, InCustomer, OrderById, OrderState, OrdersOfCustomer};
use key_schema::value::{CustomerId, OrderId, TimeRange, Timestamp};
use table::{Budget, Cause, Commit, Error, Reader, Writer};

pub const ROUTE: Route = Route::delete("/customers/{customerId}", Scope::Shop)
    .summary(
        "Erase a customer. The books stay: orders, invoices and payments keep the id, which then leads to nobody. Refused \
             while an order is unfinished.",
    )
    .limit(10, 20)
    .refuses(&[Kind::NotFound, Kind::OpenOrders])
    .access(&[
        Access::query::<CustomerById>(),
        Access::query::<OrdersOfCustomer>(),
        Access::query::<OrderById>(),
        Access::put::<Customer>().in_transactions(),
        Access::put::<Cart>().in_transactions(),
        Access::delete::<UsernameClaim>().in_transactions(),
        Access::delete::<EmailClaim>().in_transactions(),
        Access::delete::<CustomerAddresses>().in_transactions(),
        Access::delete::<OrderAddress>().in_transactions(),
    ])
    .access(&[
        Access::update::<Order>(),
        Access::update::<OrderFlag>(),
        Access::update::<Return>(),
        Access::update::<Shipment>(),
    ])
    .example(Example::at("09:59:00").path("ada"));

/// The orders that are read at the same time.
const AT_ONCE: usize = 10;

/// The most open orders that a problem names.
const MOST_NAMED: usize = 20;

/// First one transaction makes a tombstone of the profile; then each order forgets what was written about the person.
/// If the request ends in between, or an order was placed at the same moment, the same request again does the rest. Its
/// answer is 204 only if nothing is left.
pub async fn handle((table, writer): (Reader, Writer), OwnCustomer(id): OwnCustomer, budget: Budget) -> Answer<()> {
    let erasure = Erasure { table, writer, id, budget };
    let mut retries = budget.retries();
    loop {
        let profile = erasure.profile().await?.ok_or_else(|| Problem::not_found("customer"))?;
        if profile.is_erased() {
            break;
        }
        refuse_if_any(erasure.unfinished(Step::Look).await?)?;
        match erasure.writer.commit(forgetting::of_customer(&profile, Timestamp::now())?, budget).await? {
            Commit::Done => break,
            Commit::Cancelled(causes) if matches!(causes.first(), Some(Cause::Condition(_))) => {}
            Commit::Cancelled(_) => return Err(Error::Inconsistent("a claim belongs to another customer").into()),
        }
        if !retries.pause().await {
            return Err(Error::contention("other requests were changing the profile for too long").into());
        }
    }
    refuse_if_any(erasure.unfinished(Step::Forget).await?)
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

/// What is done with each order that is finished.
#[derive(Clone, Copy)]
enum Step {
    /// Nothing.
    Look,
    /// Its items forget what was written about the person.
    Forget,
}

/// An erasure in progress.
struct Erasure {
    table: Reader,
    writer: Writer,
    id: CustomerId,
    budget: Budget,
}

impl Erasure {
    /// The profile, which may be a tombstone.
    async fn profile(&self) -> Result<Option<Customer>, Error> {
        let items = self.table.collection(&CustomerById { id: &self.id }).await?;
        Ok(items.into_iter().find_map(|item| match item {
            InCustomer::Customer(profile) => Some(profile),
            _ => None,
        }))
    }

    /// Takes the step for each order of the customer, and returns the unfinished ones. The list of orders is eventually
    /// consistent.
    async fn unfinished(&self, step: Step) -> Result<Vec<OrderId>, Error> {
        let pattern = OrdersOfCustomer { customer: &self.id, placed: TimeRange::default() };
        let (mut unfinished, mut position) = (Vec::new(), None);
        loop {
            let (orders, stopped) = self.table.after(&pattern, position.as_deref(), 100).await?;
            let ids: Vec<OrderId> = orders.into_iter().map(|order| order.order_id).collect();
            for some in ids.chunks(AT_ONCE) {
                let open = try_join_all(some.iter().map(|order| self.take(step, order))).await?;
                let open = some.iter().zip(open).filter(|(_, is_open)| *is_open);
                unfinished.extend(open.map(|(order, _)| order.clone()));
            }
            let Some(stopped) = stopped else { return Ok(unfinished) };
            position = Some(stopped);
        }
    }

    /// Takes the step for an order. Returns whether the order is unfinished. Then it keeps everything.
    async fn take(&self, step: Step, order: &OrderId) -> Result<bool, Error> {
        let mut retries = self.budget.retries();
        loop {
            let items = self.table.collection(&OrderById { id: order }).await?;
            let is_finished = match OrderById::assemble(items.clone()) {
                Ok(Some(OrderState::Placed(whole))) => Some(!forgetting::is_unfinished(&whole)),
                Ok(_) => Some(true),
                // Read again.
                Err(_) => None,
            };
            match (is_finished, step) {
                (Some(false), _) => return Ok(true),
                (Some(true), Step::Look) => return Ok(false),
                (Some(true), Step::Forget) => {
                    let writes = items.into_iter().map(forgetting::of_order).filter_map(Result::transpose);
                    let writes = writes.collect::<Result<Vec<_>, _>>()?;
                    if writes.is_empty() || self.writer.write_all(writes, self.budget).await?.is_done() {
                        return Ok(false);
                    }
                }
                (None, _) => {}
            }
            if !retries.pause().await {
                return Err(Error::contention("other requests were changing an order for too long"));
            }
        }
    }
}
