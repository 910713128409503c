//! Reading orders and invoices.

use key_schema::access::Access;
use key_schema::entity::{Invoice, WholeOrder};
use key_schema::layout::{
    IMPORTED_INVOICE_BY_ID, INVOICE_BY_ID, InOrder, ORDER_BY_ID, OrderState, PAYMENTS_OF_INVOICE, Torn,
};
use key_schema::value::{CustomerId, InvoiceId, OrderId, Timestamp};

use crate::{Budget, Error, Reader};

/// The requests of the reads of an invoice by its id.
pub const INVOICE: &[Access] = &[Access::query(INVOICE_BY_ID), Access::query(IMPORTED_INVOICE_BY_ID)];

impl Reader {
    /// An invoice by its id. One request.
    ///
    /// A current id contains the order's id, so the invoice is read strongly consistent from its order's collection. An
    /// imported invoice with an id of another shop is read from the index, which may be behind.
    pub async fn invoice(&self, id: &InvoiceId) -> Result<Option<Invoice>, Error> {
        match id.order() {
            Some(order) => self.one(&INVOICE_BY_ID.ask((&order, id))).await,
            None => self.one(&IMPORTED_INVOICE_BY_ID.ask(id)).await,
        }
    }

    /// An invoice by its id, for its payments: the same read as [`invoice`](Self::invoice) under the access pattern
    /// "payments of an invoice".
    pub async fn payments(&self, invoice: &InvoiceId) -> Result<Option<Invoice>, Error> {
        match invoice.order() {
            Some(order) => self.one(&PAYMENTS_OF_INVOICE.ask((&order, invoice))).await,
            None => self.one(&IMPORTED_INVOICE_BY_ID.ask(invoice)).await,
        }
    }

    /// The order to which the invoice with this id belongs. No request if the id contains it, one for the id of another
    /// shop. `None` if the index has no such invoice.
    pub async fn order_of_invoice(&self, id: &InvoiceId) -> Result<Option<OrderId>, Error> {
        match id.order() {
            Some(order) => Ok(Some(order)),
            None => Ok(self.one(&IMPORTED_INVOICE_BY_ID.ask(id)).await?.map(|invoice| invoice.order_id)),
        }
    }

    /// A placed order with its items and invoice. `None` also while the order waits in the queue.
    pub async fn order(&self, id: &OrderId, budget: Budget) -> Result<Option<WholeOrder>, Error> {
        Ok(match self.order_state(id, budget).await? {
            Some(OrderState::Placed(order)) => Some(*order),
            Some(OrderState::Queued(_)) | None => None,
        })
    }

    /// The order, if this customer may see it: [`may_access`](Self::may_access). An order in the queue is there until it
    /// expires.
    pub async fn order_seen_by(
        &self,
        id: &OrderId,
        customer: Option<&CustomerId>,
        budget: Budget,
    ) -> Result<Option<OrderState>, Error> {
        let Some(order) = self.order_state(id, budget).await? else { return Ok(None) };
        let is_there = match &order {
            OrderState::Placed(whole) => self.may_access(customer, &whole.order.customer_id).await?,
            OrderState::Queued(queued) => {
                !queued.is_expired(Timestamp::now()) && self.may_access(customer, &queued.customer_id).await?
            }
        };
        Ok(is_there.then_some(order))
    }

    /// An order, placed or in the queue. If the read overlaps with the transaction that places the order, it is retried
    /// within the budget.
    pub async fn order_state(&self, id: &OrderId, budget: Budget) -> Result<Option<OrderState>, Error> {
        let mut retries = budget.retries();
        loop {
            match InOrder::assemble(self.collection(&ORDER_BY_ID.ask(id)).await?) {
                Ok(order) => return Ok(order),
                Err(Torn) if retries.pause().await => {}
                Err(Torn) => return Err(Error::contention("an order was being written for too long")),
            }
        }
    }
}
