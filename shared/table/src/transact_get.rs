//! Reading several items in one transaction.

use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::types::{Get, TransactGetItem};
use key_schema::layout::Key;
use serde::de::DeserializeOwned;

use crate::cancellation::Cancellation;
use crate::home::Home;
use crate::item::Item;
use crate::{Budget, Error, Reader, item};

impl Reader {
    /// The items with these keys, at most 100, in a snapshot read: as they are at one moment at which no transaction is
    /// writing any of them. If one is, the read is retried within the budget. Items that do not exist are left out.
    ///
    /// Ordinary reads of the same items could see only a part of a transaction's writes, or a sum that never existed.
    pub async fn transact_get<T: DeserializeOwned>(&self, keys: Vec<Key>, budget: Budget) -> Result<Vec<T>, Error> {
        let homes = self.table.homes().await?;
        let found = match homes.beside {
            None => self.snapshot(gets_in(homes.leader, keys)?, budget).await?,
            Some(other) => Box::pin(self.snapshot_both([homes.leader, other], keys, budget)).await?,
        };
        found.into_iter().flatten().map(item::read).collect()
    }

    /// The items of these reads as they are at one moment, in order; `None` for each that does not exist.
    pub(crate) async fn snapshot(
        &self,
        gets: Vec<TransactGetItem>,
        budget: Budget,
    ) -> Result<Vec<Option<Item>>, Error> {
        let mut retries = budget.retries();
        loop {
            let call = self.table.client.transact_get_items().set_transact_items(Some(gets.clone()));
            let error = match call.set_return_consumed_capacity(self.report()).send().await {
                Ok(answer) => {
                    self.measure(answer.consumed_capacity());
                    return Ok(answer.responses.into_iter().flatten().map(|response| response.item).collect());
                }
                Err(error) => error,
            };
            let Some(TransactGetItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
                return Err(error.into());
            };
            match Cancellation::of(cancelled.cancellation_reasons()) {
                Cancellation::Throttled(by) => return Err(Error::Throttled { by, source: error.into() }),
                Cancellation::Conflict if retries.pause().await => {}
                Cancellation::Conflict => return Err(Error::contention(error)),
                Cancellation::ConditionFailed | Cancellation::Invalid => return Err(error.into()),
            }
        }
    }
}

/// The reads of these keys in a table.
pub(crate) fn gets_in(home: &Home, keys: Vec<Key>) -> Result<Vec<TransactGetItem>, Error> {
    let gets = keys.into_iter().map(|key| {
        let get = Get::builder().table_name(&*home.name).set_key(Some(item::key(home.key(key)).into())).build();
        get.map(|get| TransactGetItem::builder().get(get).build())
    });
    gets.collect::<Result<_, _>>().map_err(|error| Error::Refused(error.into()))
}
