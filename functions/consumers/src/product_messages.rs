//! Messages of a queue that name products: events as EventBridge delivers them.

use std::collections::BTreeMap;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use key_schema::value::ProductId;
use serde::Deserialize;
use tracing::error;

/// The products that the messages of a batch name. Only the id of an event is read: the table says what is to be done. So
/// messages that come late, twice or in another order do no harm.
#[derive(Debug, Default)]
pub(crate) struct ProductMessages {
    of_products: BTreeMap<ProductId, Vec<String>>,
    response: SqsBatchResponse,
}

/// A message's body.
#[derive(Deserialize)]
struct Envelope {
    detail: Detail,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    product_id: ProductId,
}

impl From<SqsEvent> for ProductMessages {
    fn from(event: SqsEvent) -> Self {
        let mut messages = Self::default();
        for message in event.records {
            let id = message.message_id.unwrap_or_default();
            match serde_json::from_str::<Envelope>(message.body.as_deref().unwrap_or_default()) {
                Ok(Envelope { detail }) => messages.of_products.entry(detail.product_id).or_default().push(id),
                Err(cause) => {
                    error!(message_id = id, %cause, "a message names no product");
                    messages.response.add_failure(id);
                }
            }
        }
        messages
    }
}

impl ProductMessages {
    /// Each product once.
    pub(crate) fn products(&self) -> Vec<ProductId> {
        self.of_products.keys().cloned().collect()
    }

    /// The answer to the batch after the work on these products failed. Their messages come back.
    pub(crate) fn failed<'a>(mut self, failed: impl IntoIterator<Item = &'a ProductId>) -> SqsBatchResponse {
        for id in failed.into_iter().flat_map(|product| self.of_products.remove(product).unwrap_or_default()) {
            self.response.add_failure(id);
        }
        self.response
    }
}
