//! The decisions of placing an order, without I/O.
//!
//! [`Placing`] is a state machine: it returns the next request to make, takes the answer, and decides what follows.
//! [`Orders::place`](crate::Orders::place) has the loop that makes the requests. The model in `lab/models` drives the
//! same state machine through every interleaving.

use key_schema::entity::{Order, QueuedOrder, Rejection, Stock, WholeOrder, WholeStock};
use key_schema::layout::{Consistency, Key};
use key_schema::value::{Money, OrderId, Quantity, Timestamp};
use stock::ReadMode;
use table::{Commit, Error, ProductShards, StatusShards, Write};

use crate::found::Found;
use crate::new_order::new_order;
use crate::quote::Quote;
use crate::read_plan::ReadPlan;
use crate::tax_engine::TaxQuestion;
use crate::transaction::{Guards, OrderTransaction, Verdict};
use crate::{MaxOpenUnits, Numbering, PlaceOrder, Placement, TaxRules};

#[cfg(test)]
mod tests;

/// The origin of a placement.
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

/// The placement of one order, in progress.
#[derive(Clone, Debug)]
pub struct Placing<'a> {
    ask: &'a PlaceOrder,
    origin: Origin,
    id: OrderId,
    status_shards: StatusShards,
    product_shards: ProductShards,
    max_open_units: MaxOpenUnits,
    tax_rules: TaxRules,
    numbering: Numbering,
    reads: ReadPlan,
    /// The total of the last quote.
    quoted: Option<Money>,
    /// Whether a transaction was sent and not answered.
    is_unanswered: bool,
    /// Whether an order that can be placed is to wait.
    only_quotes: bool,
}

/// The next request to make.
#[derive(Debug)]
pub enum Next {
    /// Read the items with these [keys](Placing::keys), and the [cells](Placing::cells_to_read). Then call
    /// [`found`](Placing::found).
    Read {
        /// Whether to pause first, because the transaction conflicted with others or was not answered.
        backoff: bool,
    },
    /// Commit these writes in one transaction. Then call [`committed`](Placing::committed), or
    /// [`unanswered`](Placing::unanswered).
    Commit(Vec<Write>, Box<Attempt>),
    /// Move units into one cell of each of these stocks, until it has the quantity. Then call
    /// [`gathered`](Placing::gathered).
    Gather(Vec<(WholeStock, Quantity)>),
    /// Read the order's header and its item in the queue, in one transaction. Then call [`settled`](Placing::settled).
    Settle(Rejection),
    /// Read the whole order, which exists. Then call [`replay`](Placing::replay).
    Recall,
    /// Nothing: this is the outcome.
    Done(Box<Placement>),
    /// Nothing: it is not known whether the order was placed.
    Unknown,
}

/// A transaction that was sent: the order it places, and the meaning of its conditions.
#[derive(Clone, Debug)]
pub struct Attempt {
    order: WholeOrder,
    guards: Guards,
}

impl<'a> Placing<'a> {
    /// Starts a placement. The first request is a read, without a pause.
    pub fn new(
        ask: &'a PlaceOrder,
        origin: Origin,
        status_shards: StatusShards,
        product_shards: ProductShards,
        max_open_units: MaxOpenUnits,
    ) -> Self {
        let reads = match origin {
            Origin::Request => ReadPlan::of(&ask.basket),
            // A message may be delivered again after its order was refused. The read must see the refusal.
            Origin::Queue { .. } => ReadPlan::strong(),
        };
        Self {
            id: OrderId::of(&ask.customer, &ask.key),
            ask,
            origin,
            status_shards,
            product_shards,
            max_open_units,
            tax_rules: TaxRules::default(),
            numbering: Numbering::default(),
            reads,
            quoted: None,
            is_unanswered: false,
            only_quotes: false,
        }
    }

    /// The same placement in a shop with these rules of tax.
    #[must_use]
    pub fn taxed(self, tax_rules: TaxRules) -> Self {
        Self { tax_rules, ..self }
    }

    /// The same placement in a shop whose invoices get these numbers.
    #[must_use]
    pub fn numbered(self, numbering: Numbering) -> Self {
        Self { numbering, ..self }
    }

    /// The same placement, but an order that can be placed is to wait in the queue.
    #[must_use]
    pub fn only_quoting(self) -> Self {
        Self { only_quotes: true, ..self }
    }

    pub fn ask(&self) -> &'a PlaceOrder {
        self.ask
    }

    pub fn id(&self) -> &OrderId {
        &self.id
    }

    /// The most that the order may cost if it is queued: the total that its customer expects, or else the total of the
    /// last quote. `None` if there is neither.
    pub fn max_total(&self) -> Option<Money> {
        self.ask.basket.request().expected_total.or(self.quoted)
    }

    /// The keys of everything that the order depends on, and of the order itself: two more than `Basket::keys_of`, and at
    /// most 97 of the 100 that one BatchGetItem allows.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Order::key_of(&self.id), QueuedOrder::key_of(&self.id)];
        keys.extend(self.ask.basket.keys_of(&self.ask.customer, self.max_open_units, &self.tax_rules));
        keys
    }

    /// The consistency with which to read [`keys`](Self::keys).
    pub fn consistency(&self) -> Consistency {
        self.reads.consistency()
    }

    /// The stocks of which all cells are to be read after [`keys`](Self::keys), with the mode. Rarely any.
    pub fn cells_to_read<'f>(&'f self, found: &'f Found) -> impl Iterator<Item = (&'f Stock, ReadMode)> {
        // An order that exists is replayed, whatever is in stock.
        let lines = if found.order.is_some() { &[] } else { self.ask.basket.request().lines.as_slice() };
        self.reads.cells_to_read(lines, found)
    }

    /// What the shop's tax engine is asked before the items go to [`found`](Self::found). `None` if there is no engine, or if
    /// the order is not placed now whatever it says.
    pub fn question(&self, found: &Found, now: Timestamp) -> Option<TaxQuestion> {
        let queued = found.queued.as_ref().filter(|queued| !queued.is_expired(now));
        let is_open = found.order.is_none() && self.unplaceable(queued).is_none();
        is_open.then(|| Quote::question(&self.ask.basket, found, &self.tax_rules, now)).flatten()
    }

    /// Takes the items that were read.
    ///
    /// # Errors
    /// The order cannot be serialized: a defect.
    pub fn found(&mut self, found: &Found, now: Timestamp) -> Result<Next, Error> {
        if found.order.is_some() {
            return Ok(Next::Recall);
        }
        let queued = found.queued.as_ref().filter(|queued| !queued.is_expired(now));
        if let Some(outcome) = self.unplaceable(queued) {
            return Ok(Next::Done(Box::new(outcome)));
        }
        let is_key_taken = queued.is_some_and(|queued| !self.is_of_this_request(queued) && queued.waits(now));
        let quote = if is_key_taken {
            Err(Rejection::KeyReused)
        } else {
            Quote::of(&self.ask.basket, found, &self.tax_rules, now)
        };
        if let Ok(quote) = &quote {
            self.quoted = Some(quote.total);
        }
        let max_total = match self.origin {
            Origin::Request => None,
            Origin::Queue { max_total, .. } => queued.and_then(|queued| queued.max_total).or(max_total),
        };
        let quote = quote.and_then(|quote| quote.at_most(max_total));
        let quote = match quote.and_then(|quote| quote.within(self.max_open_units, found.stats.as_ref())) {
            Ok(quote) => quote,
            Err(rejection) if self.reads.is_conclusive(&rejection, found) => return Ok(Next::Settle(rejection)),
            Err(_) => return Ok(Next::Read { backoff: false }),
        };
        if self.only_quotes {
            let max_total = self.max_total().unwrap_or(quote.total);
            return Ok(Next::Done(Box::new(Placement::Waits { max_total })));
        }

        let unnumbered = self.numbering.shard_of(&self.id, self.status_shards);
        let order = new_order(self.ask, &self.id, self.status_shards, unnumbered, quote, now);
        let sources: Option<Vec<_>> = order.lines.iter().map(|line| found.source_of(&self.id, line)).collect();
        let Some(sources) = sources else {
            let scattered = found.scattered(&order).map(|(whole, quantity)| (whole.clone(), quantity));
            return Ok(Next::Gather(scattered.collect()));
        };
        let mut transaction = OrderTransaction::of(&order, &sources, self.product_shards)?;
        if self.origin != Origin::Request {
            transaction.unless_refused(&order.order)?;
        }
        if let (Some(version), Some(cart)) = (self.ask.basket.request().cart, &found.cart) {
            transaction.empty_cart(&order.order, version, cart)?;
        }
        if let Some(guest) = &found.guest {
            transaction.of_guest(&order, guest)?;
        }
        let OrderTransaction { writes, guards } = transaction;
        Ok(Next::Commit(writes, Box::new(Attempt { order, guards })))
    }

    /// The outcome of a message that must not place its order, given the order's item in the queue. `None` if the
    /// message may place it, and for every request.
    fn unplaceable(&self, queued: Option<&QueuedOrder>) -> Option<Placement> {
        let Origin::Queue { queued_at, is_redriven, .. } = self.origin else { return None };
        match queued {
            None => (!is_redriven).then_some(Placement::NotAccepted),
            // The times are equal: the item is this message's own acceptance.
            Some(queued) if queued.queued_at == queued_at && queued.refusal.is_some() => Some(Placement::RefusedBefore),
            Some(queued) if queued.queued_at == queued_at && !self.is_of_this_request(queued) => {
                Some(Placement::Mismatch)
            }
            // The same request, accepted with this message or with another one: the message that comes first places it.
            Some(queued) if self.is_of_this_request(queued) && queued.refusal.is_none() => None,
            Some(_) => Some(Placement::OtherAcceptance),
        }
    }

    fn is_of_this_request(&self, queued: &QueuedOrder) -> bool {
        queued.request_hash == *self.ask.basket.hash()
    }

    /// Takes the outcome of the transaction.
    ///
    /// # Errors
    /// An item cannot be read: a defect.
    pub fn committed(&mut self, attempt: Attempt, outcome: Commit) -> Result<Next, Error> {
        let Commit::Cancelled(causes) = outcome else {
            return Ok(Next::Done(Box::new(Placement::Placed(attempt.order))));
        };
        Ok(match attempt.guards.verdict(&self.ask.basket, causes)? {
            Verdict::AlreadyPlaced => Next::Recall,
            Verdict::Rejected(rejection) => Next::Settle(rejection),
            Verdict::TryAgain { short } => {
                self.reads.escalate(short);
                Next::Read { backoff: true }
            }
        })
    }

    /// Takes note that the transaction was not answered. It may have been committed, or may still be later.
    pub fn unanswered(&mut self) -> Next {
        self.is_unanswered = true;
        self.reads.escalate([]);
        Next::Read { backoff: true }
    }

    /// Takes note that gathering was tried: the units of these stocks were moved, unless other orders took them first.
    pub fn gathered(&mut self, stocks: Vec<(WholeStock, Quantity)>) -> Next {
        self.reads.escalate(stocks.into_iter().map(|(whole, _)| whole.product_id));
        Next::Read { backoff: true }
    }

    /// Takes the order's header and its item in the queue, from one snapshot read. Only a snapshot read proves that the
    /// rejection was not caused by a copy of this request.
    pub fn settled(&self, rejection: Rejection, settled: Found, now: Timestamp) -> Next {
        if settled.order.is_some() {
            return Next::Recall;
        }
        // The unanswered transaction may still be committed.
        if self.is_unanswered {
            return Next::Unknown;
        }
        let own = settled.queued.filter(|queued| self.is_of_this_request(queued) && queued.waits(now));
        Next::Done(Box::new(match own.filter(|_| self.origin == Origin::Request) {
            Some(queued) => Placement::AlreadyQueued(queued),
            None => Placement::Rejected(rejection),
        }))
    }

    /// The answer to a request whose order exists.
    pub fn replay(ask: &PlaceOrder, whole: &WholeOrder) -> Placement {
        if whole.order.request_hash == *ask.basket.hash() {
            Placement::Replayed(whole.as_placed())
        } else {
            Placement::Rejected(Rejection::KeyReused)
        }
    }
}
