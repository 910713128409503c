//! Accepting an order that is placed later, from the queue.

use key_schema::entity::QueuedOrder;
use key_schema::value::{Money, OrderId, Timestamp};
use queue::Queue;
use table::{Budget, Condition, Error, Throttle, Write, Writer, Written, read_item};

use crate::{OrderMessage, OrderRequest};

/// Accepts orders that are placed later.
#[derive(Clone, Debug)]
pub struct Intake {
    writer: Writer,
    queue: Queue,
}

/// The outcome of accepting an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// The order is accepted. It will be placed, or refused with a reason.
    Accepted(QueuedOrder),
    /// The same request was accepted before and is still waiting.
    Replayed(QueuedOrder),
    /// The idempotency key belongs to a different request that is waiting.
    KeyReused,
}

/// The reason why accepting an order failed. The order may have been accepted all the same: repeat the request.
#[derive(Debug, thiserror::Error)]
pub enum NotAccepted {
    /// The item that marks the order as queued could not be written.
    #[error(transparent)]
    Table(#[from] Error),
    /// The message could not be sent.
    #[error(transparent)]
    Queue(#[from] queue::Error),
}

impl Acceptance {
    /// The outcome of writing `order` on condition that no order is waiting under its id. `existing` is the one that
    /// made the condition fail. If it belongs to a different request, the message that was sent is stale, because its
    /// time is not that of the existing item.
    pub fn of(order: QueuedOrder, existing: Option<QueuedOrder>) -> Self {
        match existing {
            None => Self::Accepted(order),
            Some(existing) if existing.request_hash != order.request_hash => Self::KeyReused,
            // An earlier attempt of this write succeeded, and its message may already have been processed.
            Some(existing) if existing.queued_at == order.queued_at => Self::Accepted(order),
            Some(existing) => Self::Replayed(existing),
        }
    }
}

lambda::from_environment!(Intake { writer, queue });

impl Intake {
    /// Sends the order's message, then writes an item that marks the order as queued. The write takes one write unit.
    ///
    /// The order is accepted once the item is written. The item also refuses different requests with the same
    /// idempotency key. The message is sent first, so that every order with an item has a message, even if the function
    /// is killed in between. A message without an item belongs to an order that was not accepted: the drain postpones
    /// it for a minute, then sends it to the dead-letter queue.
    ///
    /// `max_total` is the most that the order may cost when it is placed. Without it, any price is accepted.
    ///
    /// # Errors
    /// The message could not be sent, or the item not be written, within the budget.
    pub async fn accept(
        &self,
        request: &OrderRequest,
        max_total: Option<Money>,
        budget: Budget,
    ) -> Result<Acceptance, NotAccepted> {
        let id = OrderId::of(&request.customer, &request.key);
        let order = QueuedOrder::new(id, request.customer.clone(), request.basket.hash().clone(), Timestamp::now());
        lambda::note("order_id", order.order_id.as_str());
        let order = QueuedOrder { max_total, request_id: lambda::request_id(), ..order };
        let waiting = OrderMessage {
            request: request.clone(),
            queued_at: order.queued_at,
            max_total,
            is_redriven: false,
            request_id: order.request_id.clone(),
        };
        self.queue.send(&waiting.to_message()).await?;
        let existing = self.mark_as_queued(&order, budget).await?;
        Ok(Acceptance::of(order, existing))
    }

    /// Writes the item that marks the order as queued. If an order is already waiting under its id, returns that one.
    ///
    /// The write is retried until the budget ends. It takes only one write unit, so it is likely to succeed even during
    /// a burst of orders that take twenty units each.
    async fn mark_as_queued(&self, order: &QueuedOrder, budget: Budget) -> Result<Option<QueuedOrder>, Error> {
        let write = queueing(order)?;
        let mut retries = budget.retries();
        loop {
            match self.writer.write(write.clone(), budget).await {
                Ok(Written::Done) => return Ok(None),
                Ok(Written::ConditionFailed(waiting)) => return read_item(waiting.unwrap_or_default()).map(Some),
                Err(Error::Throttled { by: Throttle::Capacity, .. }) if retries.pause().await => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The write that marks an order as queued, on condition that no order is waiting under its id. An item of a refused or
/// expired order is replaced.
///
/// A late retry of this write must not replace the refusal of its own message (`#queuedAt <> :queuedAt`): no further
/// message would follow.
///
/// # Errors
/// A value cannot be serialized: a defect.
pub fn queueing(order: &QueuedOrder) -> Result<Write, Error> {
    let is_free = Condition::new(
        "attribute_not_exists(#PK) OR (attribute_exists(#refusal) AND #queuedAt <> :queuedAt) OR #expiresAt <= :now",
    );
    let is_free = is_free.value(":now", order.queued_at.as_second())?.value(":queuedAt", order.queued_at)?;
    Write::put_if(order, is_free)
}

#[cfg(test)]
mod tests {
    use key_schema::value::RequestHash;

    use super::*;

    #[test]
    fn an_order_is_accepted_once_and_a_repeated_request_gets_the_first_acceptance() {
        let order = |hash: &[u8], queued_at: &str| {
            let (id, customer) = ("first".parse().expect("an id"), "ada".parse().expect("an id"));
            QueuedOrder::new(id, customer, RequestHash::of(hash), queued_at.parse().expect("a time"))
        };
        let (earlier, now) = ("2026-11-21T09:30:00Z", "2026-11-21T09:31:00Z");
        let ours = || order(b"ours", now);
        let table = [
            (None, Acceptance::Accepted(ours())),
            (Some(ours()), Acceptance::Accepted(ours())),
            (Some(order(b"ours", earlier)), Acceptance::Replayed(order(b"ours", earlier))),
            (Some(order(b"theirs", earlier)), Acceptance::KeyReused),
            (Some(order(b"theirs", now)), Acceptance::KeyReused),
        ];
        for (existing, acceptance) in table {
            assert_eq!(Acceptance::of(ours(), existing), acceptance);
        }
    }
}
