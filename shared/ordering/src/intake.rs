//! Accepting an order, to be placed later.

use key_schema::entity::QueuedOrder;
use key_schema::value::{Money, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use queue::Queue;
use table::{Budget, Condition, Error, Throttle, Write, Writer, Written, read_item};

use crate::{PlaceOrder, Waiting};

/// Accepts orders that are to be placed later.
#[derive(Clone, Debug)]
pub struct Intake {
    writer: Writer,
    queue: Queue,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// It will be placed, or refused with a reason; either shows under its id.
    Accepted(QueuedOrder),
    /// It was accepted before, and waits.
    Replayed(QueuedOrder),
    /// The idempotency key belongs to another request that waits.
    KeyReused,
}

/// Why an order was not accepted. It may have been: asking again finds out.
#[derive(Debug, thiserror::Error)]
pub enum NotAccepted {
    /// The table did not take that it waits.
    #[error(transparent)]
    Table(#[from] Error),
    /// The queue did not take it.
    #[error(transparent)]
    Queue(#[from] queue::Error),
}

impl Acceptance {
    /// What came of writing `order` down, where `written` is the order that waits there already, if one does. If that is
    /// another request's, the message that was sent is stale: its time is not that of the item.
    pub fn of(order: QueuedOrder, written: Option<QueuedOrder>) -> Self {
        match written {
            None => Self::Accepted(order),
            Some(waiting) if waiting.request_hash != order.request_hash => Self::KeyReused,
            // It was written at the first try, and its message has been there already.
            Some(written) if written.queued_at == order.queued_at => Self::Accepted(order),
            Some(waiting) => Self::Replayed(waiting),
        }
    }
}

impl FromEnvironment for Intake {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { writer: Writer::from_environment(environment)?, queue: Queue::from_environment(environment)? })
    }
}

impl Intake {
    /// Sends the order to the queue, then writes down that it waits: one message, one write of one unit.
    ///
    /// The item is what makes it accepted, and what refuses another request with the same idempotency key. The message
    /// comes first, so that every order that is called waiting is in the queue, also if this function is killed between
    /// the two. A message without an item was not accepted: the drain leaves it alone for a minute, and then it is a dead
    /// letter.
    ///
    /// `max_total` is the most that the order may cost when it is placed; absent: any price of that time.
    ///
    /// # Errors
    /// The table or the queue did not take it, within the budget.
    pub async fn accept(
        &self,
        ask: &PlaceOrder,
        max_total: Option<Money>,
        budget: Budget,
    ) -> Result<Acceptance, NotAccepted> {
        let id = OrderId::of(&ask.customer, &ask.key);
        let order = QueuedOrder::new(id, ask.customer.clone(), ask.basket.hash().clone(), Timestamp::now());
        let order = QueuedOrder { max_total, ..order };
        let waiting = Waiting { order: ask.clone(), queued_at: order.queued_at, max_total, is_redriven: false };
        self.queue.send(&waiting.to_message()).await?;
        let written = self.write_down(&order, budget).await?;
        Ok(Acceptance::of(order, written))
    }

    /// Writes the order down as waiting, unless one waits there already: that one. An order that was refused may be
    /// asked for again.
    ///
    /// One unit is all this takes, and it is tried until the budget ends: in a burst of orders that need twenty, it
    /// gets through.
    async fn write_down(&self, order: &QueuedOrder, budget: Budget) -> Result<Option<QueuedOrder>, Error> {
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

/// The write that says that an order waits, unless one with its key waits already. Done again after its own message was
/// refused, it changes nothing: no other message would come.
///
/// # Errors
/// A value that cannot be written: a defect.
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
    fn an_order_is_accepted_once_and_a_repeated_request_is_told_of_the_first() {
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
        for (written, acceptance) in table {
            assert_eq!(Acceptance::of(ours(), written), acceptance);
        }
    }
}
