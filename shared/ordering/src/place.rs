//! Read, quote, commit, and again while others are in the way. The decisions are [`Placing`]'s.

use futures_util::future::try_join_all;
use key_schema::entity::{Order, QueuedOrder, Refusal, Rejection, WholeOrder};
use key_schema::value::{CustomerId, IdempotencyKey, Money, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Condition, Error, Meter, ProductShards, Reader, StatusShards, Throttle, Write, Writer};

use crate::placing::{Next, Origin, Placing};
use crate::quote::{Found, FoundItem};
use crate::{Basket, Waiting};

/// Places orders.
#[derive(Clone, Debug)]
pub struct Orders {
    reader: Reader,
    writer: Writer,
    status_shards: StatusShards,
    product_shards: ProductShards,
}

/// An order to be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceOrder {
    /// Who orders.
    pub customer: CustomerId,
    /// Together with the customer it names the order.
    pub key: IdempotencyKey,
    /// What is asked for.
    pub basket: Basket,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The order is placed.
    Placed(WholeOrder),
    /// It had been placed before; this is how it was then.
    Replayed(WholeOrder),
    /// It cannot be placed, and nothing was written.
    Rejected(Rejection),
    /// DynamoDB has no capacity for it now. It can wait in the queue, and may then cost no more than this.
    NoCapacity {
        /// What the customer expects, or what the order came to when it was quoted.
        max_total: Money,
    },
    /// It cannot be placed now; but an earlier copy of the request waits in the queue, and the outcome of that copy is
    /// not known yet.
    Waits(QueuedOrder),
    /// A message whose order was refused on an earlier delivery.
    Void,
    /// A message beside whose acceptance another one stands: of an earlier try that was refused, or of another request
    /// with its key. Its own may be under way, for [`Intake`](crate::Intake) sends first.
    Stale,
    /// A message that holds another request than the one that was accepted at that moment under its key. A defect: it is
    /// neither placed nor forgotten.
    Mismatch,
    /// A message whose order is not written down as accepted. That may be under way: [`Intake`](crate::Intake) sends
    /// first. It is not placed, because a request that was not accepted may have been refused since.
    NotAccepted,
}

impl FromEnvironment for Orders {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            // An order for which there is no capacity has a queue to wait in.
            writer: Writer::from_environment(environment)?.fail_fast_on_capacity(),
            status_shards: StatusShards::from_environment(environment)?,
            product_shards: ProductShards::from_environment(environment)?,
        })
    }
}

impl Orders {
    /// The same, and adds what it consumes to the meter.
    #[must_use]
    pub fn metered(self, meter: &Meter) -> Self {
        Self { writer: self.writer.metered(meter), ..self }
    }

    /// Places the order, unless it is there already.
    ///
    /// Two requests: one BatchGetItem for everything it depends on, one TransactWriteItems that checks all of it
    /// again. A conflict with another write is tried again, and what moved between the two is read again, within the
    /// budget. Of a stock in several cells the first is read, and the order's own is taken from unseen: all
    /// of them begin alike and are drawn upon alike. When the first has too little, one request more for each such
    /// stock reads all.
    ///
    /// # Errors
    /// [`Error::Throttled`] when the budget ends first, or when there is no capacity and no price is known at which
    /// the order could wait. [`Error::Unanswered`] when it is not known whether the order was placed: the same request
    /// asked again finds out.
    pub async fn place(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        let mut placing = Placing::new(ask, Origin::Request, self.status_shards, self.product_shards);
        match (self.drive(&mut placing, budget).await, placing.max_total()) {
            (Err(Error::Throttled { by: Throttle::Capacity | Throttle::CapacityOrHotKey, .. }), Some(max_total)) => {
                Ok(Placement::NoCapacity { max_total })
            }
            (outcome, _) => outcome,
        }
    }

    /// Places an order that waited, unless it is there already or was refused before. A message may be delivered
    /// twice, and its customer was told of the refusal.
    ///
    /// # Errors
    /// Those of [`place`](Self::place), and [`Error::Throttled`] whenever there is no capacity.
    pub async fn place_waiting(&self, waiting: &Waiting, budget: Budget) -> Result<Placement, Error> {
        let mut placing = Placing::new(&waiting.order, waiting.origin(), self.status_shards, self.product_shards);
        self.drive(&mut placing, budget).await
    }

    /// Makes the requests that the placement asks for.
    async fn drive(&self, placing: &mut Placing<'_>, budget: Budget) -> Result<Placement, Error> {
        let mut next = Next::Read { backoff: false };
        let mut unanswered = None;
        let mut retries = budget.retries();
        loop {
            next = match next {
                Next::Read { backoff } => {
                    if backoff && !retries.pause().await {
                        let contention = || Error::contention("what the order depends on moved for too long");
                        return Err(unanswered.unwrap_or_else(contention));
                    }
                    let found = self.find(placing, budget).await?;
                    placing.found(&found, Timestamp::now())?
                }
                Next::Commit(writes, sent) => match self.writer.commit(writes, budget).await {
                    Ok(outcome) => placing.committed(*sent, outcome)?,
                    Err(error @ Error::Unanswered(_)) => {
                        unanswered = Some(error);
                        placing.unanswered()
                    }
                    Err(error) => return Err(error),
                },
                Next::Gather(stocks) => {
                    for (whole, quantity) in &stocks {
                        stock::gather(&self.writer, whole, quantity.get().into(), budget).await?;
                    }
                    placing.gathered(stocks)
                }
                Next::Settle(rejection) => {
                    let keys = vec![Order::key_of(placing.id()), QueuedOrder::key_of(placing.id())];
                    let settled = self.reader.transact_get::<FoundItem>(keys, budget).await?.into_iter().collect();
                    placing.settled(rejection, settled, Timestamp::now())
                }
                Next::Recall => {
                    let placed = self.placed_before(placing.ask(), budget).await?;
                    return placed.ok_or_else(|| Error::Inconsistent("an order was there and is gone"));
                }
                Next::Done(placement) => return Ok(*placement),
                Next::Unknown => {
                    return Err(unanswered.unwrap_or_else(|| Error::contention("the order's outcome is not known")));
                }
            }
        }
    }

    /// Everything the order depends on, in one request. One more for each stock whose cells are all looked at.
    async fn find(&self, placing: &Placing<'_>, budget: Budget) -> Result<Found, Error> {
        let items: Vec<FoundItem> = self.reader.batch(placing.keys(), placing.consistency(), budget).await?;
        let mut found: Found = items.into_iter().collect();
        let in_cells = placing.cells_to_read(&found);
        let in_cells = in_cells.map(|(first, mode)| stock::whole(&self.reader, first.clone(), mode, budget));
        for whole in try_join_all(in_cells).await? {
            found.learn(whole);
        }
        Ok(found)
    }

    /// What a request is answered whose order was placed before, if it was. One request, which writes nothing.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn placed_before(&self, ask: &PlaceOrder, budget: Budget) -> Result<Option<Placement>, Error> {
        let id = OrderId::of(&ask.customer, &ask.key);
        let placed = self.reader.order(&id, budget).await?;
        Ok(placed.map(|whole| Placing::replay(ask, &whole)))
    }

    /// Writes down why an order that waited was not placed, if nobody has written a reason yet. Whether it was this
    /// message's own acceptance that is refused by it.
    ///
    /// The message of a request that was repeated while it waited speaks for the earlier acceptance as well, whose own may
    /// be lost. Another delivery of the message may have placed the order since: then nothing is written.
    ///
    /// # Errors
    /// Those of any transaction. It may have been written: doing it again changes nothing.
    pub async fn refuse(&self, waiting: &Waiting, rejection: Rejection, budget: Budget) -> Result<bool, Error> {
        let own = refusal(waiting, rejection.clone(), Timestamp::now(), Accepted::ByThis)?;
        if self.writer.commit(own, budget).await?.is_done() {
            return Ok(true);
        }
        let earlier = refusal(waiting, rejection, Timestamp::now(), Accepted::Earlier)?;
        _ = self.writer.commit(earlier, budget).await?;
        Ok(false)
    }

    /// Writes down that the message of an order that waits is a dead letter, so that its customer is told of a delay.
    /// Nothing else changes: sent again, the order is placed or refused like any other.
    ///
    /// # Errors
    /// Those of any write. It may have been written: doing it again changes nothing that is told.
    pub async fn delay(&self, waiting: &Waiting, budget: Budget) -> Result<(), Error> {
        let Waiting { order, queued_at, .. } = waiting;
        let is_this = Condition::new("#queuedAt = :queuedAt AND attribute_not_exists(#refusal)");
        let is_this = is_this.value(":queuedAt", queued_at)?.value(":now", Timestamp::now())?;
        let key = QueuedOrder::key_of(&OrderId::of(&order.customer, &order.key));
        _ = self.writer.write(Write::update(key, "SET #deadSince = :now", is_this), budget).await?;
        Ok(())
    }
}

/// Whose acceptance a message refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// Its own.
    ByThis,
    /// That of an earlier try.
    Earlier,
}

/// The transaction that says why an order that waited was not placed, unless it is placed.
///
/// # Errors
/// A value that cannot be written: a defect.
pub fn refusal(
    waiting: &Waiting,
    rejection: Rejection,
    at: Timestamp,
    accepted: Accepted,
) -> Result<Vec<Write>, Error> {
    let Waiting { order, queued_at, .. } = waiting;
    let id = OrderId::of(&order.customer, &order.key);
    let is_meant = Condition::new(match accepted {
        Accepted::ByThis => "#requestHash = :hash AND #queuedAt = :queuedAt AND attribute_not_exists(#refusal)",
        Accepted::Earlier => "#requestHash = :hash AND #queuedAt < :queuedAt AND attribute_not_exists(#refusal)",
    });
    let is_meant = is_meant.value(":hash", order.basket.hash())?.value(":queuedAt", queued_at)?;
    let refusal = is_meant.value(":refusal", Refusal { at, rejection })?;
    let refuse = Write::update(QueuedOrder::key_of(&id), "SET #refusal = :refusal", refusal);
    Ok(vec![refuse, Write::check(Order::key_of(&id), Condition::absent())])
}
