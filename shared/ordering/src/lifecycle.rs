//! What happens to an order after it is placed: paid, shipped, delivered, or cancelled.
//!
//! Each change is decided on the whole order as it is read, and written under the condition that its version has
//! not moved since. Whoever comes second reads again and decides again, so that any number of them, in any order,
//! end as if they had come one by one. The decisions are [`Changing`]'s.

use key_schema::entity::{Order, OrderStatus, WholeOrder};
use key_schema::layout::{InOrder, Stored as _};
use key_schema::value::{InvoiceId, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, Reader, Writer};

use crate::changing::{Changing, Next};
use crate::steps::{Cancel, Transition};

/// Changes orders.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    reader: Reader,
    writer: Writer,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transitioned {
    /// It is done.
    Done(WholeOrder),
    /// It had been done before.
    DoneBefore(WholeOrder),
    /// An order of this status cannot change so.
    Refused(OrderStatus),
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
    /// Takes the order to its next status: shipped or delivered.
    pub async fn advance(&self, id: &OrderId, to: OrderStatus, budget: Budget) -> Result<Transitioned, Error> {
        self.change(id, |_| true, Transition::Advance(to), budget).await
    }

    /// Records that the bank has taken the card's part of an invoice: [`steps::capture`](crate::steps::capture).
    pub async fn capture(&self, invoice: &InvoiceId, reference: &str, budget: Budget) -> Result<Transitioned, Error> {
        self.change_paid_by(invoice, Transition::Capture { reference }, budget).await
    }

    /// Records that the customer has got back what was due: [`steps::confirm_refund`](crate::steps::confirm_refund).
    pub async fn confirm_refund(
        &self,
        invoice: &InvoiceId,
        reference: &str,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change_paid_by(invoice, Transition::ConfirmRefund { reference }, budget).await
    }

    /// Cancels the order, if `may_see` it: [`steps::cancel`](crate::steps::cancel), in one transaction.
    pub async fn cancel(
        &self,
        id: &OrderId,
        cancel: Cancel<'_>,
        may_see: impl Fn(&Order) -> bool,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, |whole| may_see(&whole.order), Transition::Cancel(cancel), budget).await
    }

    /// Cancels the order, if it is not paid and was placed at or before the deadline:
    /// [`steps::expire`](crate::steps::expire). Whether it did.
    pub async fn expire(&self, id: &OrderId, deadline: Timestamp, budget: Budget) -> Result<bool, Error> {
        let change = self.change(id, |_| true, Transition::Expire { deadline }, budget).await?;
        Ok(matches!(change, Transitioned::Done(_)))
    }

    /// Changes the order of an invoice.
    async fn change_paid_by(
        &self,
        invoice: &InvoiceId,
        transition: Transition<'_>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        let Some(order) = self.reader.order_of_invoice(invoice).await? else { return Ok(Transitioned::NotFound) };
        // The order of an invoice that has an id of the last release has no invoice with another id.
        self.change(&order, |whole| whole.invoice.invoice_id == *invoice, transition, budget).await
    }

    /// Makes the requests that the change asks for, within the budget.
    async fn change(
        &self,
        id: &OrderId,
        is_meant: impl Fn(&WholeOrder) -> bool,
        transition: Transition<'_>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        let mut changing = Changing::new(transition);
        let mut next = Next::Read { backoff: false };
        let mut unanswered = None;
        let mut retries = budget.retries();
        loop {
            next = match next {
                Next::Read { backoff } => {
                    if backoff && !retries.pause().await {
                        let contention = || Error::contention("others were changing the order for too long");
                        return Err(unanswered.unwrap_or_else(contention));
                    }
                    let whole = self.reader.order(id, budget).await?.filter(&is_meant);
                    let Some(whole) = whole else { return Ok(Transitioned::NotFound) };
                    changing.found(whole, Timestamp::now())?
                }
                Next::Settle(whole) => changing.settled(self.settled(*whole, budget).await?, Timestamp::now())?,
                Next::Write(writes, sent) => match self.writer.write_all(writes, budget).await {
                    Ok(outcome) => changing.written(*sent, outcome)?,
                    Err(error @ Error::Unanswered(_)) => {
                        unanswered = Some(error);
                        changing.unanswered(*sent)
                    }
                    Err(error) => return Err(error),
                },
                Next::Done(change) => return Ok(*change),
            };
        }
    }

    /// The order with its header and its invoice as they are at one moment.
    async fn settled(&self, whole: WholeOrder, budget: Budget) -> Result<WholeOrder, Error> {
        let mut settled = whole;
        let keys = vec![Order::key_of(&settled.order.order_id), settled.invoice.key()];
        for item in self.reader.transact_get(keys, budget).await? {
            match item {
                InOrder::Order(order) => settled.order = order,
                InOrder::Invoice(invoice) => settled.invoice = invoice,
                _ => {}
            }
        }
        Ok(settled)
    }
}
