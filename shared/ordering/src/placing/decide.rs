//! The decisions of placing an order, without I/O.
//!
//! [`PlacingAttempt`] is a state machine: it returns the next request to make, takes the answer, and decides what
//! follows. `drive.rs` has the loop that makes the requests. The model in `lab/models` drives the same state machine
//! through every interleaving.

use key_schema::entity::{Order, QueuedOrder, Rejection, Stock, WholeOrder, WholeStock};
use key_schema::layout::Key;
use key_schema::value::{Money, OrderId, Quantity, Timestamp};
use stock::ReadMode;
use table::{Commit, Error, Write};

use super::guests::GuestLimits;
use super::quote::Quote;
use super::read::{ItemsRead, ReadPlan, keys_of, keys_of_customer};
use super::request::{OrderRequest, RequestedLine};
use super::tax_engine::{TaxEngineError, TaxRequest};
use super::write::{CommitFailure, Guards, OrderTransaction, new_order};
use crate::PlacingSettings;

#[cfg(test)]
mod tests;

/// The origin of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A request whose client waits for the answer.
    Request,
    /// A message in the queue.
    Queue {
        /// The time at which the order was accepted.
        queued_at: Timestamp,
        /// The most that the order may cost, if there is a limit.
        max_total: Option<Money>,
        /// Whether an operator has redriven the message from the dead-letter queue.
        is_redriven: bool,
    },
}

/// The attempt to place one order.
#[derive(Clone, Debug)]
pub struct PlacingAttempt<'a> {
    request: &'a OrderRequest,
    origin: Origin,
    id: OrderId,
    settings: &'a PlacingSettings,
    reads: ReadPlan,
    /// The total of the last quote.
    quoted: Option<Money>,
    /// Whether a transaction was sent and not answered.
    is_unanswered: bool,
    /// Whether an order that can be placed is to wait.
    only_quotes: bool,
    request_id: Option<String>,
}

/// The next request to make.
#[derive(Debug)]
pub enum PlacingAction {
    /// Read the items with these [keys](PlacingAttempt::keys), and the [cells](PlacingAttempt::cells_to_read). Then call
    /// [`items_read`](PlacingAttempt::items_read).
    Read {
        /// Whether to pause first, because the transaction conflicted with others or was not answered.
        backoff: bool,
    },
    /// Commit these writes in one transaction. Then call [`committed`](PlacingAttempt::committed), or
    /// [`unanswered`](PlacingAttempt::unanswered).
    Commit(Vec<Write>, Box<SentOrder>),
    /// Transfer units into one cell of each of these stocks, until it has the quantity. Then call
    /// [`gathered`](PlacingAttempt::gathered).
    Gather(Vec<(WholeStock, Quantity)>),
    /// Read the order's header and its item in the queue, in one transaction. Then call
    /// [`settled`](PlacingAttempt::settled).
    Settle(Rejection),
    /// Read the whole order, which exists. Then call [`replay`](PlacingAttempt::replay).
    Recall,
    /// Nothing: this is the outcome.
    Done(Box<PlacingOutcome>),
    /// Nothing: it is not known whether the order was placed.
    Unknown,
}

/// The outcome of placing an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacingOutcome {
    Placed(WholeOrder),
    /// The order had been placed before. Holds the order as it was then.
    Replayed(WholeOrder),
    /// The order cannot be placed, and nothing was written.
    Rejected(Rejection),
    /// The order is not placed now: DynamoDB has no capacity for it, the items that it depends on are
    /// [crowded](crate::Orders::place_unless_crowded), or it was only [quoted](crate::Orders::quote). It can wait in the queue.
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
    /// The shop's tax engine did not respond with the taxes, so nothing was written. Send the request again, later.
    Untaxed(TaxEngineError),
    /// The table has no acceptance for the message. It may not be written yet, because [`Intake`](crate::Intake) sends
    /// the message first. The order is not placed: if the request was never accepted, its client may have been refused.
    NotAccepted,
}

/// A transaction that was sent: the order it places, and the meaning of its conditions.
#[derive(Clone, Debug)]
pub struct SentOrder {
    order: WholeOrder,
    guards: Guards,
}

impl<'a> PlacingAttempt<'a> {
    /// Starts an attempt. The first request is a read, without a pause.
    pub fn new(request: &'a OrderRequest, origin: Origin, settings: &'a PlacingSettings) -> Self {
        let reads = match origin {
            Origin::Request => ReadPlan::of(&request.basket),
            // A message may be delivered again after its order was refused. The read must see the refusal.
            Origin::Queue { .. } => ReadPlan::strong(),
        };
        let reads = reads.of_guest(request.customer.is_guest());
        Self {
            id: OrderId::of(&request.customer, &request.key),
            request,
            origin,
            settings,
            reads,
            quoted: None,
            is_unanswered: false,
            only_quotes: false,
            request_id: None,
        }
    }

    /// The same attempt, by the request with this id.
    #[must_use]
    pub fn by(self, request_id: Option<String>) -> Self {
        Self { request_id, ..self }
    }

    /// The same attempt, but an order that can be placed is to wait in the queue.
    #[must_use]
    pub fn only_quoting(self) -> Self {
        Self { only_quotes: true, ..self }
    }

    /// The request.
    pub fn request(&self) -> &'a OrderRequest {
        self.request
    }

    /// The order's id.
    pub fn id(&self) -> &OrderId {
        &self.id
    }

    /// The most that the order may cost if it is queued: the total that its customer expects, or else the total of the
    /// last quote. `None` if there is neither.
    pub fn max_total(&self) -> Option<Money> {
        self.request.basket.order().expected_total.or(self.quoted)
    }

    /// The keys of everything that the order depends on, and of the order itself: at most 95 of the 100 that one
    /// BatchGetItem allows.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Order::key_of(&self.id), QueuedOrder::key_of(&self.id)];
        let PlacingSettings { max_open_units, tax_rules, .. } = self.settings;
        let order = self.request.basket.order();
        keys.extend(keys_of_customer(&self.request.customer, order, *max_open_units));
        keys.extend(keys_of(order, tax_rules));
        keys
    }

    /// The modes of the next read.
    pub(crate) fn reads(&self) -> &ReadPlan {
        &self.reads
    }

    /// The stocks of which all cells are to be read after [`keys`](Self::keys), with the mode. Rarely any.
    pub fn cells_to_read<'f>(&'f self, items: &'f ItemsRead) -> impl Iterator<Item = (&'f Stock, ReadMode)> {
        self.reads.cells_to_read(self.lines(), items)
    }

    pub(crate) fn lines(&self) -> &'a [RequestedLine] {
        &self.request.basket.order().lines
    }

    /// The request to the shop's tax engine, which is sent before the items go to [`items_read`](Self::items_read). `None` if
    /// there is no engine, or if the order is not placed now whatever it responds.
    pub fn tax_request(&self, items: &ItemsRead, now: Timestamp) -> Option<TaxRequest> {
        let queued = items.queued.as_ref().filter(|queued| !queued.is_expired(now));
        let is_open = items.order.is_none() && self.unplaceable(queued).is_none();
        is_open.then(|| Quote::tax_request(&self.request.basket, items, &self.settings.tax_rules, now)).flatten()
    }

    /// Takes the items that were read.
    ///
    /// # Errors
    /// The order cannot be serialized: a defect.
    pub fn items_read(&mut self, items: &ItemsRead, now: Timestamp) -> Result<PlacingAction, Error> {
        if items.order.is_some() {
            return Ok(PlacingAction::Recall);
        }
        let queued = items.queued.as_ref().filter(|queued| !queued.is_expired(now));
        if let Some(outcome) = self.unplaceable(queued) {
            return Ok(PlacingAction::Done(Box::new(outcome)));
        }
        let is_key_taken = queued.is_some_and(|queued| !self.is_of_this_request(queued) && queued.waits(now));
        let quote = if is_key_taken {
            Err(Rejection::KeyReused)
        } else {
            Quote::of(&self.request.basket, items, &self.settings.tax_rules, now)
        };
        if let Ok(quote) = &quote {
            self.quoted = Some(quote.total);
        }
        // A queued order that was asked for twice has what its acceptance says, whichever message comes first.
        let (max_total, accepted_by) = match self.origin {
            Origin::Request => (None, None),
            Origin::Queue { max_total, .. } => (
                queued.and_then(|queued| queued.max_total).or(max_total),
                queued.and_then(|queued| queued.request_id.as_ref()),
            ),
        };
        let quote = quote.and_then(|quote| quote.at_most(max_total));
        let quote = quote.and_then(|quote| quote.within(self.settings.max_open_units, items.stats.as_ref()));
        let limits = GuestLimits::of(&self.request.customer, self.settings.guest_share, items);
        let order = quote.and_then(|quote| {
            let mut order = new_order(self.request, &self.id, self.settings, quote, now);
            order.order.request_id = accepted_by.or(self.request_id.as_ref()).cloned();
            let held = limits.and_then(|limits| limits.if_held(&order.order));
            held.map_or(Ok(()), |limits| limits.check(&order.order, self.lines()))?;
            Ok((order, held))
        });
        let (order, held) = match order {
            Ok(order) => order,
            Err(rejection) if self.reads.is_conclusive(&rejection, items) => {
                return Ok(PlacingAction::Settle(match limits {
                    Some(limits) => limits.told(rejection),
                    None => rejection,
                }));
            }
            Err(_) => return Ok(PlacingAction::Read { backoff: false }),
        };
        if self.only_quotes {
            let max_total = self.max_total().unwrap_or(order.order.total);
            return Ok(PlacingAction::Done(Box::new(PlacingOutcome::Waits { max_total })));
        }

        let sources: Option<Vec<_>> = order.lines.iter().map(|line| items.source_of(&self.id, line)).collect();
        let Some(sources) = sources else {
            let scattered = items.scattered(&order).map(|(whole, quantity)| (whole.clone(), quantity));
            return Ok(PlacingAction::Gather(scattered.collect()));
        };
        let mut transaction = OrderTransaction::of(&order, &sources, held, self.settings.product_shards)?;
        if self.origin != Origin::Request {
            transaction.unless_refused(&order.order)?;
        }
        if let (Some(version), Some(cart)) = (self.request.basket.order().cart, &items.cart) {
            transaction.empty_cart(&order.order, version, cart)?;
        }
        if let Some(guest) = &items.guest {
            transaction.of_guest(&order, guest)?;
        }
        let OrderTransaction { writes, guards } = transaction;
        Ok(PlacingAction::Commit(writes, Box::new(SentOrder { order, guards })))
    }

    /// The outcome of a message that must not place its order, given the order's item in the queue. `None` if the
    /// message may place it, and for every request.
    fn unplaceable(&self, queued: Option<&QueuedOrder>) -> Option<PlacingOutcome> {
        let Origin::Queue { queued_at, is_redriven, .. } = self.origin else { return None };
        match queued {
            None => (!is_redriven).then_some(PlacingOutcome::NotAccepted),
            // The times are equal: the item is this message's own acceptance.
            Some(queued) if queued.queued_at == queued_at && queued.refusal.is_some() => {
                Some(PlacingOutcome::RefusedBefore)
            }
            Some(queued) if queued.queued_at == queued_at && !self.is_of_this_request(queued) => {
                Some(PlacingOutcome::Mismatch)
            }
            // The same request, accepted with this message or with another one: the message that comes first places it.
            Some(queued) if self.is_of_this_request(queued) && queued.refusal.is_none() => None,
            Some(_) => Some(PlacingOutcome::OtherAcceptance),
        }
    }

    fn is_of_this_request(&self, queued: &QueuedOrder) -> bool {
        queued.request_hash == *self.request.basket.hash()
    }

    /// Takes the outcome of the transaction.
    ///
    /// # Errors
    /// An item cannot be read: a defect.
    pub fn committed(&mut self, sent: SentOrder, outcome: Commit) -> Result<PlacingAction, Error> {
        let Commit::Cancelled(causes) = outcome else {
            return Ok(PlacingAction::Done(Box::new(PlacingOutcome::Placed(sent.order))));
        };
        Ok(match sent.guards.failure(self.request.basket.order(), causes)? {
            CommitFailure::AlreadyPlaced => PlacingAction::Recall,
            // Only a read knows what a guest may be told.
            CommitFailure::Rejected(_) if self.request.customer.is_guest() => {
                self.reads.escalate([]);
                PlacingAction::Read { backoff: false }
            }
            CommitFailure::Rejected(rejection) => PlacingAction::Settle(rejection),
            CommitFailure::Retry { short } => {
                self.reads.escalate(short);
                PlacingAction::Read { backoff: true }
            }
        })
    }

    /// Takes note that the transaction was not answered. It may have been committed, or may still be later.
    pub fn unanswered(&mut self) -> PlacingAction {
        self.is_unanswered = true;
        self.reads.escalate([]);
        PlacingAction::Read { backoff: true }
    }

    /// Takes note that gathering was tried: the units of these stocks were transferred, unless other orders took them
    /// first.
    pub fn gathered(&mut self, stocks: Vec<(WholeStock, Quantity)>) -> PlacingAction {
        self.reads.escalate(stocks.into_iter().map(|(whole, _)| whole.product_id));
        PlacingAction::Read { backoff: true }
    }

    /// Takes the order's header and its item in the queue, from one snapshot read. Only a snapshot read proves that the
    /// rejection was not caused by a copy of this request.
    pub fn settled(&self, rejection: Rejection, settled: ItemsRead, now: Timestamp) -> PlacingAction {
        if settled.order.is_some() {
            return PlacingAction::Recall;
        }
        // The unanswered transaction may still be committed.
        if self.is_unanswered {
            return PlacingAction::Unknown;
        }
        let own = settled.queued.filter(|queued| self.is_of_this_request(queued) && queued.waits(now));
        PlacingAction::Done(Box::new(match own.filter(|_| self.origin == Origin::Request) {
            Some(queued) => PlacingOutcome::AlreadyQueued(queued),
            None => PlacingOutcome::Rejected(rejection),
        }))
    }

    /// The answer to a request whose order exists.
    pub fn replay(request: &OrderRequest, whole: &WholeOrder) -> PlacingOutcome {
        if whole.order.request_hash == *request.basket.hash() {
            PlacingOutcome::Replayed(whole.as_placed())
        } else {
            PlacingOutcome::Rejected(Rejection::KeyReused)
        }
    }
}
