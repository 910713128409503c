//! Placing orders: reads, quotes, commits, and retries conflicts. [`Placing`] makes the decisions.

use std::time::Duration;

use futures_util::future::try_join_all;
use key_schema::entity::{Order, QueuedOrder, Refusal, Rejection, WholeOrder};
use key_schema::value::{CustomerId, IdempotencyKey, Money, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Condition, Error, Meter, ProductShards, Reader, StatusShards, Throttle, Write, Writer};

use crate::found::{Found, FoundItem};
use crate::placing::{Next, Origin, Placing};
use crate::tax_engine::{TaxEngine, Untaxed};
use crate::{Basket, MaxOpenUnits, Numbering, TaxRules, Waiting};

/// The longest for which [`Orders::place_unless_crowded`] retries a transaction that meets others.
const CONTENDED: Duration = Duration::from_secs(1);

/// Places orders.
#[derive(Clone, Debug)]
pub struct Orders {
    reader: Reader,
    writer: Writer,
    status_shards: StatusShards,
    product_shards: ProductShards,
    max_open_units: MaxOpenUnits,
    tax_rules: TaxRules,
    tax_engine: TaxEngine,
    numbering: Numbering,
}

/// A request to place an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceOrder {
    pub customer: CustomerId,
    /// The idempotency key. Customer and key together determine the order's id.
    pub key: IdempotencyKey,
    pub basket: Basket,
}

/// The outcome of placing an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The order is placed.
    Placed(WholeOrder),
    /// The order had been placed before. Holds the order as it was then.
    Replayed(WholeOrder),
    /// The order cannot be placed, and nothing was written.
    Rejected(Rejection),
    /// The order is not placed now: DynamoDB has no capacity for it, the items that it depends on are
    /// [crowded](Orders::place_unless_crowded), or it was only [quoted](Orders::quote). It can wait in the queue.
    Waits {
        /// The most that the order may cost if it waits: the total that the customer expects, or that of the last
        /// quote.
        max_total: Money,
    },
    /// The order cannot be placed now, but an earlier copy of the request waits in the queue with an unknown outcome.
    AlreadyQueued(QueuedOrder),
    /// The message's order was refused on an earlier delivery.
    RefusedBefore,
    /// The table holds another acceptance than the message's: of an earlier attempt that was refused, or of a different
    /// request with the same key. The message's own acceptance may not be written yet, because
    /// [`Intake`](crate::Intake) sends the message first.
    OtherAcceptance,
    /// The message holds a different request from the one that was accepted at the same moment under the same key. This
    /// is a defect; the message is neither placed nor dropped.
    Mismatch,
    /// The shop's tax engine did not say the taxes, so nothing was written. Send the request again, later.
    Untaxed(Untaxed),
    /// The table has no acceptance for the message. It may not be written yet, because [`Intake`](crate::Intake) sends
    /// the message first. The order is not placed: if the request was never accepted, its client may have been refused.
    NotAccepted,
}

impl FromEnvironment for Orders {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            // Without capacity, an order is queued instead of retried.
            writer: Writer::from_environment(environment)?.fail_fast_on_capacity(),
            status_shards: StatusShards::from_environment(environment)?,
            product_shards: ProductShards::from_environment(environment)?,
            max_open_units: MaxOpenUnits::from_environment(environment)?,
            tax_rules: TaxRules::from_environment(environment)?,
            tax_engine: TaxEngine::from_environment(environment)?,
            numbering: Numbering::from_environment(environment)?,
        })
    }
}

impl Orders {
    /// Adds the write units that placing consumes to the meter.
    #[must_use]
    pub fn metered(self, meter: &Meter) -> Self {
        Self { writer: self.writer.metered(meter), ..self }
    }

    /// Places the order, unless it is placed already.
    ///
    /// Takes two requests: one BatchGetItem for everything that the order depends on, and one TransactWriteItems that
    /// checks all of it again. If an item changed in between, both are repeated within the budget. A shop with a tax engine
    /// asks it in between.
    ///
    /// Of a stock with several cells, only the first is read. The order's own cell is decremented without reading it:
    /// cells start equal and drain evenly. If the first cell has too little, one more request for each such stock reads
    /// all of its cells.
    ///
    /// # Errors
    /// [`Error::Throttled`] if the budget ends, or if there is no capacity and no quote that limits the price of a
    /// queued order. [`Error::Unanswered`] if it is not known whether the order was placed: repeat the request to find
    /// out.
    pub async fn place(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        let mut placing = self.placing(ask, Origin::Request);
        let outcome = self.drive(&mut placing, budget).await;
        or_wait(outcome, &placing, Throttle::is_of_capacity)
    }

    /// Places the order like [`place`](Self::place), unless a crowd wants the same items: an order whose transaction meets
    /// others for longer than a second, or that finds a hot partition, is to wait in the queue. So the crowd does not
    /// keep a stock busy with transactions that are cancelled.
    ///
    /// # Errors
    /// Those of [`place`](Self::place).
    pub async fn place_unless_crowded(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        let mut placing = self.placing(ask, Origin::Request);
        let outcome = self.drive(&mut placing, budget.at_most(CONTENDED)).await;
        or_wait(outcome, &placing, |by| by.is_of_capacity() || by.is_of_a_crowd())
    }

    /// Reads and decides like [`place`](Self::place), but writes nothing: an order that can be placed is to wait in the
    /// queue.
    ///
    /// # Errors
    /// Those of any read. [`Error::Throttled`] only if the customer expects no total that limits the price.
    pub async fn quote(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        let mut placing = self.placing(ask, Origin::Request).only_quoting();
        let outcome = self.drive(&mut placing, budget).await;
        or_wait(outcome, &placing, |by| by.is_of_capacity() || by.is_of_a_crowd())
    }

    /// Places an order from the queue, unless it is placed already or was refused on an earlier delivery of its
    /// message.
    ///
    /// # Errors
    /// Those of [`place`](Self::place), and [`Error::Throttled`] whenever there is no capacity.
    pub async fn place_waiting(&self, waiting: &Waiting, budget: Budget) -> Result<Placement, Error> {
        let mut placing = self.placing(&waiting.order, waiting.origin());
        self.drive(&mut placing, budget).await
    }

    fn placing<'a>(&self, ask: &'a PlaceOrder, origin: Origin) -> Placing<'a> {
        Placing::new(ask, origin, self.status_shards, self.product_shards, self.max_open_units)
            .taxed(self.tax_rules.clone())
            .numbered(self.numbering.clone())
    }

    /// Makes the requests of a [`Placing`], within the budget.
    async fn drive(&self, placing: &mut Placing<'_>, budget: Budget) -> Result<Placement, Error> {
        let mut next = Next::Read { backoff: false };
        let mut unanswered = None;
        let mut said = None;
        let mut retries = budget.retries();
        loop {
            next = match next {
                Next::Read { backoff } => {
                    if backoff && !retries.pause().await {
                        let contention =
                            || Error::contention("items that the order depends on were changing for too long");
                        return Err(unanswered.unwrap_or_else(contention));
                    }
                    let (mut found, now) = (self.find(placing, budget).await?, Timestamp::now());
                    match self.tax_engine.ask(placing.question(&found, now), said.as_ref()).await {
                        Ok(answer) => said = answer,
                        // An order that an earlier attempt or an earlier request placed is the answer without the engine.
                        Err(untaxed) => {
                            let placed = self.placed_before(placing.ask(), budget).await?;
                            let untaxed = || unanswered.map_or(Ok(Placement::Untaxed(untaxed)), Err);
                            return placed.map_or_else(untaxed, Ok);
                        }
                    }
                    found.said.clone_from(&said);
                    placing.found(&found, now)?
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
                    return placed.ok_or_else(|| Error::Inconsistent("an order that existed is gone"));
                }
                Next::Done(placement) => return Ok(*placement),
                Next::Unknown => {
                    return Err(
                        unanswered.unwrap_or_else(|| Error::contention("it is not known whether the order was placed"))
                    );
                }
            }
        }
    }

    /// Everything that the order depends on, in one request, and one more for each stock whose cells are all read.
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

    /// The answer to a request whose order was placed before; `None` if it was not. One read.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn placed_before(&self, ask: &PlaceOrder, budget: Budget) -> Result<Option<Placement>, Error> {
        let id = OrderId::of(&ask.customer, &ask.key);
        let placed = self.reader.order(&id, budget).await?;
        Ok(placed.map(|whole| Placing::replay(ask, &whole)))
    }

    /// Writes the reason why a queued order was not placed, unless a reason is already written. Returns whether this
    /// refused the message's own acceptance.
    ///
    /// If the request was accepted earlier and repeated while it waited, this message also refuses the earlier
    /// acceptance, whose own message may be lost. If another delivery has placed the order in the meantime, nothing is
    /// written.
    ///
    /// # Errors
    /// Those of any transaction. After an error the reason may be written all the same. Calling this again is safe.
    pub async fn refuse(&self, waiting: &Waiting, rejection: Rejection, budget: Budget) -> Result<bool, Error> {
        let own = refusal(waiting, rejection.clone(), Timestamp::now(), Accepted::ByThis)?;
        if self.writer.commit(own, budget).await?.is_done() {
            return Ok(true);
        }
        let earlier = refusal(waiting, rejection, Timestamp::now(), Accepted::Earlier)?;
        _ = self.writer.commit(earlier, budget).await?;
        Ok(false)
    }

    /// Marks a queued order as delayed because its message is in the dead-letter queue, so that its customer learns of
    /// the delay. If the message is redriven, the order is placed or refused like any other.
    ///
    /// # Errors
    /// Those of any write. After an error the mark may be written all the same. Calling this again is safe.
    pub async fn delay(&self, waiting: &Waiting, budget: Budget) -> Result<(), Error> {
        let Waiting { order, queued_at, .. } = waiting;
        let is_this = Condition::new("#queuedAt = :queuedAt AND attribute_not_exists(#refusal)");
        let is_this = is_this.value(":queuedAt", queued_at)?.value(":now", Timestamp::now())?;
        let key = QueuedOrder::key_of(&OrderId::of(&order.customer, &order.key));
        _ = self.writer.write(Write::update(key, "SET #deadSince = :now", is_this), budget).await?;
        Ok(())
    }
}

/// The outcome, or that the order waits if it was throttled in such a way and its price is limited.
fn or_wait(
    outcome: Result<Placement, Error>,
    placing: &Placing<'_>,
    can_wait: impl Fn(Throttle) -> bool,
) -> Result<Placement, Error> {
    match (outcome, placing.max_total()) {
        (Err(Error::Throttled { by, .. }), Some(max_total)) if can_wait(by) => Ok(Placement::Waits { max_total }),
        (outcome, _) => outcome,
    }
}

/// The acceptance that a message refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The message's own acceptance.
    ByThis,
    /// An earlier acceptance of the same request.
    Earlier,
}

/// The transaction that writes the reason why a queued order was not placed, on condition that it is not placed.
///
/// # Errors
/// A value cannot be serialized: a defect.
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
