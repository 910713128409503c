//! Changing an order after it is placed: paying, shipping, delivering, cancelling, returning.
//!
//! Each change is decided on the order as it was read, and written on condition that the order has not changed since
//! (optimistic locking). If the condition fails, the change reads and decides again. So concurrent changes have the
//! same result as if they had been made one after another. [`Changing`] makes the decisions.

use key_schema::entity::{LineUnits, Order, OrderStatus, Report, WholeOrder};
use key_schema::layout::{InOrder, Stored as _};
use key_schema::value::{CustomerId, IntentId, InvoiceId, Money, OrderId, ShipmentId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, Reader, Writer};

use crate::changing::{Changing, Next};
use crate::steps::{Cancel, Denial, Receipt, ReturnRequest, ShipmentRequest, Transition};

/// Changes orders.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    reader: Reader,
    writer: Writer,
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
    /// Packs, ships or delivers the order: [`steps::advance`](crate::steps::advance).
    pub async fn advance(
        &self,
        id: &OrderId,
        to: OrderStatus,
        captures: bool,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::Any, Transition::Advance { to, captures }, budget).await
    }

    /// Ships units of the order: [`steps::ship_items`](crate::steps::ship_items).
    pub async fn ship_items(
        &self,
        id: &OrderId,
        request: ShipmentRequest<'_>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::Any, Transition::ShipItems(request), budget).await
    }

    /// Records that a shipment was delivered: [`steps::deliver_shipment`](crate::steps::deliver_shipment).
    pub async fn deliver_shipment(&self, id: &ShipmentId, budget: Budget) -> Result<Transitioned, Error> {
        let Some(order) = id.order() else { return Ok(Transitioned::NotFound) };
        self.change(&order, Meant::Any, Transition::DeliverShipment { id }, budget).await
    }

    /// Records that the customer started to pay: [`steps::start_payment`](crate::steps::start_payment).
    pub async fn start_payment(
        &self,
        id: &OrderId,
        intent: &IntentId,
        attempt: u32,
        amount: Money,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::Any, Transition::StartPayment { intent, attempt, amount }, budget).await
    }

    /// Records what the payment provider reported: [`steps::report_payment`](crate::steps::report_payment).
    pub async fn report_payment(
        &self,
        id: &OrderId,
        intent: &IntentId,
        amount: Money,
        report: Report,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::Any, Transition::ReportPayment { intent, amount, report }, budget).await
    }

    /// Asks for the capture of an invoice's authorized payment: [`steps::request_capture`](crate::steps::request_capture).
    pub async fn request_capture(&self, invoice: &InvoiceId, budget: Budget) -> Result<Transitioned, Error> {
        self.change_by_invoice(invoice, Transition::RequestCapture, budget).await
    }

    /// Records that the bank has captured the card payment of an invoice: [`steps::capture`](crate::steps::capture).
    pub async fn capture(&self, invoice: &InvoiceId, reference: &str, budget: Budget) -> Result<Transitioned, Error> {
        self.change_by_invoice(invoice, Transition::Capture { reference }, budget).await
    }

    /// Records that the bank has refunded the customer: [`steps::confirm_refund`](crate::steps::confirm_refund).
    pub async fn confirm_refund(
        &self,
        invoice: &InvoiceId,
        reference: &str,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change_by_invoice(invoice, Transition::ConfirmRefund { reference }, budget).await
    }

    /// Cancels the order in one transaction, if this customer may see it: [`steps::cancel`](crate::steps::cancel).
    pub async fn cancel(
        &self,
        id: &OrderId,
        cancel: Cancel<'_>,
        by: Option<&CustomerId>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::SeenBy(by), Transition::Cancel(cancel), budget).await
    }

    /// Cancels units of the order in one transaction, if this customer may see it:
    /// [`steps::cancel_units`](crate::steps::cancel_units).
    pub async fn cancel_units(
        &self,
        id: &OrderId,
        lines: &[LineUnits],
        cancel: Cancel<'_>,
        by: Option<&CustomerId>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::SeenBy(by), Transition::CancelUnits { lines, cancel }, budget).await
    }

    /// Records that the customer wants to send units back, if this customer may see the order:
    /// [`steps::request_return`](crate::steps::request_return).
    pub async fn request_return(
        &self,
        id: &OrderId,
        request: ReturnRequest<'_>,
        by: Option<&CustomerId>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        self.change(id, Meant::SeenBy(by), Transition::RequestReturn(request), budget).await
    }

    /// Records that staff received or refused a return: [`steps::receive_return`](crate::steps::receive_return).
    pub async fn receive_return(&self, receipt: Receipt<'_>, budget: Budget) -> Result<Transitioned, Error> {
        let Some(order) = receipt.id.order() else { return Ok(Transitioned::NotFound) };
        self.change(&order, Meant::Any, Transition::ReceiveReturn(receipt), budget).await
    }

    /// Cancels the order if it is not paid and was placed at or before the deadline:
    /// [`steps::expire`](crate::steps::expire). Returns whether this call cancelled it.
    pub async fn expire(&self, id: &OrderId, deadline: Timestamp, budget: Budget) -> Result<bool, Error> {
        let change = self.change(id, Meant::Any, Transition::Expire { deadline }, budget).await?;
        Ok(matches!(change, Transitioned::Done(_)))
    }

    /// Cancels the order if its payment lapsed and it was placed at or before the deadline:
    /// [`steps::expire_lapsed`](crate::steps::expire_lapsed). Returns whether this call cancelled it.
    pub async fn expire_lapsed(&self, id: &OrderId, deadline: Timestamp, budget: Budget) -> Result<bool, Error> {
        let change = self.change(id, Meant::Any, Transition::ExpireLapsed { deadline }, budget).await?;
        Ok(matches!(change, Transitioned::Done(_)))
    }

    /// Changes the order to which an invoice belongs.
    async fn change_by_invoice(
        &self,
        invoice: &InvoiceId,
        transition: Transition<'_>,
        budget: Budget,
    ) -> Result<Transitioned, Error> {
        let Some(order) = self.reader.order_of_invoice(invoice).await? else { return Ok(Transitioned::NotFound) };
        // An id of the current form contains an order's id, but that order's invoice may have an id of the last
        // release.
        self.change(&order, Meant::WithInvoice(invoice), transition, budget).await
    }

    /// Makes the requests of a [`Changing`], within the budget. An order that is not meant counts as not found.
    async fn change(
        &self,
        id: &OrderId,
        meant: Meant<'_>,
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
                        let contention = || Error::contention("other requests were changing the order for too long");
                        return Err(unanswered.unwrap_or_else(contention));
                    }
                    match self.reader.order(id, budget).await? {
                        Some(whole) if self.is_meant(&whole, meant).await? => {
                            changing.found(whole, Timestamp::now())?
                        }
                        _ => return Ok(Transitioned::NotFound),
                    }
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

    async fn is_meant(&self, whole: &WholeOrder, meant: Meant<'_>) -> Result<bool, Error> {
        match meant {
            Meant::Any => Ok(true),
            Meant::WithInvoice(id) => Ok(whole.invoice.invoice_id == *id),
            Meant::SeenBy(customer) => self.reader.may_access(customer, &whole.order.customer_id).await,
        }
    }

    /// The order with its header and its invoice from one snapshot read.
    async fn settled(&self, whole: WholeOrder, budget: Budget) -> Result<WholeOrder, Error> {
        let keys = vec![Order::key_of(&whole.order.order_id), whole.invoice.key()];
        Ok(with(whole, self.reader.transact_get(keys, budget).await?))
    }
}

/// The orders that a change is about. Any other order counts as not found.
#[derive(Clone, Copy)]
enum Meant<'a> {
    Any,
    WithInvoice(&'a InvoiceId),
    /// What this customer may see; anything if there is none, which is staff.
    SeenBy(Option<&'a CustomerId>),
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
        let Step::To(after) = steps::capture(&before, "bank-1", at(1)) else { panic!("a payment") };
        let after = *after;
        assert!(before.order != after.order && before.invoice != after.invoice);
        let items = vec![InOrder::Order(after.order.clone()), InOrder::Invoice(after.invoice.clone())];
        assert_eq!(with(before, items), after);
    }
}
