//! Reading what consists of several items, or must be read at one moment.

use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::types::{Get, TransactGetItem};
use key_schema::entity::{Invoice, WholeOrder};
use key_schema::layout::{InvoiceById, InvoiceByOldId, Key, OrderById, OrderState, PaymentsOfInvoice, Torn};
use key_schema::value::{InvoiceId, OrderId};
use serde::de::DeserializeOwned;

use crate::throttle::CONFLICT;
use crate::{Budget, Error, Reader, Throttle, item};

impl Reader {
    /// An invoice by its id. One request.
    ///
    /// Its id leads to its order, where it is read strongly. One that has an id of the last release is found in the
    /// index, which may be behind.
    pub async fn invoice(&self, id: &InvoiceId) -> Result<Option<Invoice>, Error> {
        match id.order() {
            Some(order) => self.one(&InvoiceById { order: &order, id }).await,
            None => self.one(&InvoiceByOldId { id }).await,
        }
    }

    /// As [`invoice`](Self::invoice), for who asks for the payments in it.
    pub async fn payments(&self, invoice: &InvoiceId) -> Result<Option<Invoice>, Error> {
        match invoice.order() {
            Some(order) => self.one(&PaymentsOfInvoice { order: &order, invoice }).await,
            None => self.one(&InvoiceByOldId { id: invoice }).await,
        }
    }

    /// The order that has an invoice with this id, if there is such an invoice. No request, and one if the id is of the
    /// last release.
    pub async fn order_of_invoice(&self, id: &InvoiceId) -> Result<Option<OrderId>, Error> {
        match id.order() {
            Some(order) => Ok(Some(order)),
            None => Ok(self.one(&InvoiceByOldId { id }).await?.map(|invoice| invoice.order_id)),
        }
    }

    /// An order with all that belongs to it; one that is just being written is read again, within the budget.
    pub async fn order(&self, id: &OrderId, budget: Budget) -> Result<Option<WholeOrder>, Error> {
        Ok(match self.order_state(id, budget).await? {
            Some(OrderState::Placed(order)) => Some(*order),
            Some(OrderState::Queued(_)) | None => None,
        })
    }

    /// What there is of an order, also while it waits in the queue.
    pub async fn order_state(&self, id: &OrderId, budget: Budget) -> Result<Option<OrderState>, Error> {
        let mut retries = budget.retries();
        loop {
            match OrderById::assemble(self.collection(&OrderById { id }).await?) {
                Ok(order) => return Ok(order),
                Err(Torn) if retries.pause().await => {}
                Err(Torn) => return Err(Error::contention("an order was being written for too long")),
            }
        }
    }

    /// The items with these keys, at most 100, as they are at one moment at which no transaction is under way on any
    /// of them: one that is under way is waited for, within the budget. Those that do not exist are left out.
    ///
    /// Where ordinary reads might see a transaction's other writes and not these, or a sum that never was.
    pub async fn transact_get<T: DeserializeOwned>(&self, keys: Vec<Key>, budget: Budget) -> Result<Vec<T>, Error> {
        let gets = keys.into_iter().map(|key| {
            let get = Get::builder().table_name(&*self.table.name).set_key(Some(item::key(key).into())).build();
            get.map(|get| TransactGetItem::builder().get(get).build())
        });
        let gets: Vec<_> = gets.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))?;
        let mut retries = budget.retries();
        loop {
            let call = self.table.client.transact_get_items().set_transact_items(Some(gets.clone()));
            let error = match call.send().await {
                Ok(answer) => {
                    let found = answer.responses.into_iter().flatten().filter_map(|response| response.item);
                    return found.map(item::read).collect();
                }
                Err(error) => error,
            };
            let codes: Vec<_> = match error.as_service_error() {
                Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
                    cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code()).collect()
                }
                _ => Vec::new(),
            };
            if let Some(by) = codes.iter().find_map(|code| Throttle::of_cancellation(code)) {
                return Err(Error::Throttled { by, source: error.into() });
            }
            if !codes.contains(&CONFLICT) {
                return Err(error.into());
            }
            if !retries.pause().await {
                return Err(Error::contention(error));
            }
        }
    }
}
