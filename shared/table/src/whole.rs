//! Reading what consists of several items, or must be read at one moment.

use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::types::{Get, TransactGetItem};
use key_schema::entity::{Product, Stock, WholeOrder};
use key_schema::layout::{Consistency, Key, OrderById, OrderState, ProductById, Torn};
use key_schema::value::{OrderId, ProductId};
use serde::de::DeserializeOwned;

use crate::{Budget, Error, Reader, item};

impl Reader {
    /// An order with all that belongs to it; one that is just being written is read again, within the budget.
    pub async fn order(&self, id: &OrderId, budget: Budget) -> Result<Option<WholeOrder>, Error> {
        Ok(match self.order_state(id, budget).await? {
            Some(OrderState::Placed(order)) => Some(*order),
            Some(OrderState::Queued(_)) | None => None,
        })
    }

    /// What there is of an order, also while it waits in the queue.
    pub async fn order_state(&self, id: &OrderId, budget: Budget) -> Result<Option<OrderState>, Error> {
        let mut attempt = 1;
        loop {
            match OrderById::assemble(self.collection(&OrderById { id }).await?) {
                Ok(order) => return Ok(order),
                Err(Torn) if !budget.wait(attempt).await => {
                    return Err(Error::contention("an order was being written for too long"));
                }
                Err(Torn) => attempt += 1,
            }
        }
    }

    /// An item with no transaction under way on it, if there is one: one that is under way is waited for, within
    /// the budget.
    ///
    /// Where an ordinary read might see a transaction's other writes and not this one.
    pub async fn settled<T: DeserializeOwned>(&self, key: Key, budget: Budget) -> Result<Option<T>, Error> {
        let get = Get::builder().table_name(&*self.table.name).set_key(Some(item::key(key).into())).build();
        let get = TransactGetItem::builder().get(get.map_err(|error| Error::Refused(error.into()))?).build();
        let mut attempt = 1;
        loop {
            let error = match self.table.client.transact_get_items().transact_items(get.clone()).send().await {
                Ok(answer) => {
                    let found = answer.responses.into_iter().flatten().find_map(|response| response.item);
                    return found.map(item::read).transpose();
                }
                Err(error) => error,
            };
            let is_conflict = matches!(
                error.as_service_error(),
                Some(TransactGetItemsError::TransactionCanceledException(cancelled))
                    if cancelled.cancellation_reasons().iter().any(|reason| reason.code() == Some("TransactionConflict"))
            );
            if !is_conflict {
                return Err(error.into());
            }
            if !budget.wait(attempt).await {
                return Err(Error::contention(error));
            }
            attempt += 1;
        }
    }

    /// A product with its stock, as they are at this moment: what a change of either is decided on.
    pub async fn product(&self, id: &ProductId, budget: Budget) -> Result<Option<(Product, Stock)>, Error> {
        let keys = vec![Product::key_of(id), Stock::key_of(id)];
        let items = self.batch(keys, Consistency::Strong, budget).await?;
        Ok(ProductById::assemble(items).map(|(product, stock, _)| (product, stock)))
    }
}
