//! Orders from the queue that cannot be placed, or not yet.

use key_schema::entity::{Order, QueuedOrder, Refusal, Rejection};
use key_schema::value::{OrderId, Timestamp};
use table::{Budget, Condition, Error, Write};

use crate::{OrderMessage, Orders};

impl Orders {
    /// Writes the reason why a queued order was not placed, unless a reason is already written. Returns whether this
    /// refused the message's own acceptance.
    ///
    /// If the request was accepted earlier and repeated while it waited, this message also refuses the earlier
    /// acceptance, whose own message may be lost. If another delivery has placed the order in the meantime, nothing is
    /// written.
    ///
    /// # Errors
    /// Those of any transaction. After an error the reason may be written all the same. Calling this again is safe.
    pub async fn refuse(&self, waiting: &OrderMessage, rejection: Rejection, budget: Budget) -> Result<bool, Error> {
        let own = refusal(waiting, rejection.clone(), Timestamp::now(), RefusedAcceptance::Own)?;
        if self.writer.commit(own, budget).await?.is_done() {
            return Ok(true);
        }
        let earlier = refusal(waiting, rejection, Timestamp::now(), RefusedAcceptance::Earlier)?;
        _ = self.writer.commit(earlier, budget).await?;
        Ok(false)
    }

    /// Marks a queued order as delayed because its message is in the dead-letter queue, so that its customer learns of
    /// the delay. If the message is redriven, the order is placed or refused like any other.
    ///
    /// # Errors
    /// Those of any write. After an error the mark may be written all the same. Calling this again is safe.
    pub async fn delay(&self, waiting: &OrderMessage, budget: Budget) -> Result<(), Error> {
        let OrderMessage { request, queued_at, .. } = waiting;
        let is_this = Condition::new("#queuedAt = :queuedAt AND attribute_not_exists(#refusal)");
        let is_this = is_this.value(":queuedAt", queued_at)?.value(":now", Timestamp::now())?;
        let key = QueuedOrder::key_of(&OrderId::of(&request.customer, &request.key));
        _ = self.writer.write(Write::update(key, "SET #deadSince = :now", is_this), budget).await?;
        Ok(())
    }
}

/// The acceptance that a message refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedAcceptance {
    /// The message's own acceptance.
    Own,
    /// An earlier acceptance of the same request.
    Earlier,
}

/// The transaction that writes the reason why a queued order was not placed, on condition that it is not placed.
///
/// # Errors
/// A value cannot be serialized: a defect.
pub fn refusal(
    waiting: &OrderMessage,
    rejection: Rejection,
    at: Timestamp,
    accepted: RefusedAcceptance,
) -> Result<Vec<Write>, Error> {
    let OrderMessage { request, queued_at, .. } = waiting;
    let id = OrderId::of(&request.customer, &request.key);
    let is_meant = Condition::new(match accepted {
        RefusedAcceptance::Own => "#requestHash = :hash AND #queuedAt = :queuedAt AND attribute_not_exists(#refusal)",
        RefusedAcceptance::Earlier => {
            "#requestHash = :hash AND #queuedAt < :queuedAt AND attribute_not_exists(#refusal)"
        }
    });
    let is_meant = is_meant.value(":hash", request.basket.hash())?.value(":queuedAt", queued_at)?;
    let refusal = is_meant.value(":refusal", Refusal { at, rejection })?;
    let refuse = Write::update(QueuedOrder::key_of(&id), "SET #refusal = :refusal", refusal);
    Ok(vec![refuse, Write::check(Order::key_of(&id), Condition::absent())])
}
