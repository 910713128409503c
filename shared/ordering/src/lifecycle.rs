//! Changing an order after it is placed: paying, shipping, delivering, cancelling, returning.
//!
//! Each change is decided on the order as it was read, and written on condition that the order has not changed since
//! (optimistic locking). If the condition fails, the change reads and decides again. So concurrent changes have the
//! same result as if they had been made one after another. [`Changing`] makes the decisions.

use key_schema::entity::{Order, OrderStatus, QueuedOrder, WholeOrder};
use key_schema::layout::{InOrder, OrderState, Stored as _};
use key_schema::value::{CustomerId, InvoiceId, OrderId, ReturnId, ShipmentId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, Reader, Writer};

use crate::changing::{Changing, ChangingAction};
use crate::steps::{Denial, Transition};

/// Changes orders.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    reader: Reader,
    writer: Writer,
}

/// The order that a change is about.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// The order with this id, whoever asks.
    Order(&'a OrderId),
    /// The order, if this customer may see it. Otherwise it counts as not found. Staff, who are `None`, see every order.
    OrderSeenBy(&'a OrderId, Option<&'a CustomerId>),
    /// The order of this invoice.
    Invoice(&'a InvoiceId),
    /// The order of this return.
    Return(&'a ReturnId),
    /// The order of this shipment.
    Shipment(&'a ShipmentId),
}

/// The outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transitioned {
    /// The change is done.
    Done(WholeOrder),
    /// The change had been done before.
    DoneBefore(WholeOrder),
    /// The order's status does not allow the change.
    Refused(OrderStatus),
    /// The order's status allows such a change, but not this one.
    Denied(Denial),
    /// The order is in the queue: it waits, or was rejected.
    NotPlaced(QueuedOrder),
    /// There is no such order, or the caller may not see it.
    NotFound,
}

impl FromEnvironment for Lifecycle {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let writer = Writer::from_environment(environment)?.no_retry_if_unanswered();
        Ok(Self { reader: Reader::from_environment(environment)?, writer })
    }
}

impl Lifecycle {
    /// Makes this change of the order, within the budget.
    ///
    /// # Errors
    /// A request failed, or other requests were changing the order for too long.
    pub async fn change(
        &self,
        of: Target<'_>,
        transition: Transition<'_>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        let id = match of {
            Target::Order(id) | Target::OrderSeenBy(id, _) => Some(id.clone()),
            Target::Invoice(id) => self.reader.order_of_invoice(id).await?,
            Target::Return(id) => id.order(),
            Target::Shipment(id) => id.order(),
        };
        let Some(id) = id else { return Ok(Transitioned::NotFound) };
        lambda::note("order_id", id.as_str());
        let mut changing = Changing::new(transition).by(lambda::request_id());
        let mut next = ChangingAction::Read { backoff: false };
        let mut unanswered = None;
        let mut retries = budget.retries();
        loop {
            next = match next {
                ChangingAction::Read { backoff } => {
                    if backoff && !retries.pause().await {
                        let contention = || Error::contention("other requests were changing the order for too long");
                        return Err(unanswered.unwrap_or_else(contention));
                    }
                    match self.reader.order_state(&id, budget).await? {
                        Some(OrderState::Placed(whole)) if self.is_meant(&whole, of).await? => {
                            changing.order_read(*whole, Timestamp::now())?
                        }
                        Some(OrderState::Queued(queued)) if self.is_shown(&queued, of).await? => {
                            return Ok(Transitioned::NotPlaced(*queued));
                        }
                        _ => return Ok(Transitioned::NotFound),
                    }
                }
                ChangingAction::Settle(whole) => {
                    changing.settled(self.settled(*whole, budget).await?, Timestamp::now())?
                }
                ChangingAction::Write(writes, sent) => match self.writer.write_all(writes, budget).await {
                    Ok(outcome) => changing.written(*sent, outcome)?,
                    Err(error @ Error::Unanswered(_)) => {
                        unanswered = Some(error);
                        changing.unanswered(*sent)
                    }
                    Err(error) => return Err(error),
                },
                ChangingAction::Done(change) => return Ok(*change),
            };
        }
    }

    /// Makes this change of the order as it was read. `None` if the order has changed since, and the change would have
    /// to be decided again. So what the caller saw elsewhere after its read, such as at the payment provider, is
    /// recorded only if nothing was recorded after that.
    ///
    /// # Errors
    /// A request failed.
    pub async fn change_as_read(
        &self,
        whole: WholeOrder,
        transition: Transition<'_>,
        budget: Budget,
    ) -> Result<Option<Transitioned>, Error> {
        lambda::note("order_id", whole.order.order_id.as_str());
        let mut changing = Changing::new(transition).by(lambda::request_id());
        let mut next = changing.order_read(whole, Timestamp::now())?;
        if let ChangingAction::Settle(whole) = next {
            next = changing.settled(self.settled(*whole, budget).await?, Timestamp::now())?;
        } else if let ChangingAction::Write(writes, sent) = next {
            next = changing.written(*sent, self.writer.write_all(writes, budget).await?)?;
        }
        Ok(if let ChangingAction::Done(change) = next { Some(*change) } else { None })
    }

    async fn is_meant(&self, whole: &WholeOrder, of: Target<'_>) -> Result<bool, Error> {
        match of {
            Target::Order(_) | Target::Return(_) | Target::Shipment(_) => Ok(true),
            // The id contains an order's id, but that order's invoice may have an id of the shop from which it was imported.
            Target::Invoice(id) => Ok(whole.invoice.invoice_id == *id),
            Target::OrderSeenBy(_, customer) => self.reader.may_access(customer, &whole.order.customer_id).await,
        }
    }

    /// Whether the caller may know that the order waits. What an order that waits does not have, is not found.
    async fn is_shown(&self, queued: &QueuedOrder, of: Target<'_>) -> Result<bool, Error> {
        let is_meant = match of {
            Target::Order(_) => true,
            Target::Invoice(id) => *id == InvoiceId::of(&queued.order_id),
            Target::Return(_) | Target::Shipment(_) => false,
            Target::OrderSeenBy(_, customer) => self.reader.may_access(customer, &queued.customer_id).await?,
        };
        Ok(is_meant && !queued.is_expired(Timestamp::now()))
    }

    /// The order with its header and its invoice from one snapshot read.
    async fn settled(&self, whole: WholeOrder, budget: Budget) -> Result<WholeOrder, Error> {
        let keys = vec![Order::key_of(&whole.order.order_id), whole.invoice.key()];
        Ok(with(whole, self.reader.transact_get(keys, budget).await?))
    }
}

/// The order with this header and this invoice in the place of its own.
fn with(mut whole: WholeOrder, items: Vec<InOrder>) -> WholeOrder {
    for item in items {
        match item {
            InOrder::Order(order) => whole.order = order,
            InOrder::Invoice(invoice) => whole.invoice = invoice,
            _ => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::tests::{at, placed};
    use crate::steps::{self, Step};

    #[test]
    fn a_snapshot_replaces_header_and_invoice() {
        let before = placed(0, 5);
        let Step::To(after) = steps::capture(&before, "bank-1", None, at(1)) else { panic!("a payment") };
        let after = *after;
        assert!(before.order != after.order && before.invoice != after.invoice);
        let items = vec![InOrder::Order(after.order.clone()), InOrder::Invoice(after.invoice.clone())];
        assert_eq!(with(before, items), after);
    }
}
