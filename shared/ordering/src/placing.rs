//! The decisions of placing an order, without I/O.
//!
//! [`Placing`] says which request to make next, is told what came of it, and decides what follows. The loop that makes
//! the requests is [`Orders::place`](crate::Orders::place). The model in `tests/models` drives the same decisions
//! through every interleaving.

use std::collections::BTreeMap;

use key_schema::entity::{
    Customer, Discount, GiftCard, Invoice, Order, OrderStatus, Product, QueuedOrder, Rejection, Stock, WholeOrder,
    WholeStock,
};
use key_schema::layout::{Consistency, Key};
use key_schema::value::{InvoiceId, Money, OrderId, ProductId, Quantity, Timestamp};
use stock::ReadMode;
use table::{Commit, Error, ProductShards, StatusShards, Write};

use crate::quote::{Found, Quote};
use crate::transaction::{Guards, OrderTransaction, Verdict};
use crate::{PlaceOrder, Placement};

#[cfg(test)]
mod tests;

/// Who asks for the order to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A request that waits for the answer.
    Request,
    /// A message in the queue.
    Queue {
        /// When its order was accepted.
        queued_at: Timestamp,
        /// The most that the order may cost, if that was said.
        max_total: Option<Money>,
        /// Whether somebody has sent it back from the dead letters.
        is_redriven: bool,
    },
}

/// An order that is being placed.
#[derive(Clone, Debug)]
pub struct Placing<'a> {
    ask: &'a PlaceOrder,
    origin: Origin,
    id: OrderId,
    status_shards: StatusShards,
    product_shards: ProductShards,
    reads: ReadPlan,
    /// The total of the last quote.
    quoted: Option<Money>,
    /// Whether a transaction was sent whose outcome is not known.
    is_unanswered: bool,
}

/// The next request to make.
#[derive(Debug)]
pub enum Next {
    /// Read the items with these [keys](Placing::keys) and the [cells](Placing::cells_to_read), after a pause if
    /// others were in the way. Then [`found`](Placing::found).
    Read {
        /// Whether to pause first.
        backoff: bool,
    },
    /// Commit these writes in one transaction. Then [`committed`](Placing::committed), or
    /// [`unanswered`](Placing::unanswered).
    Commit(Vec<Write>, Box<Attempt>),
    /// Move units into one cell of each of these stocks, so that it holds the quantity. Then
    /// [`gathered`](Placing::gathered).
    Gather(Vec<(WholeStock, Quantity)>),
    /// Read the order's header and whether it is queued, in one transaction. Then [`settled`](Placing::settled).
    Settle(Rejection),
    /// Read the whole order, which is there. Then [`replay`](Placing::replay).
    Recall,
    /// Nothing: this is the outcome.
    Done(Box<Placement>),
    /// Nothing: whether the order was placed is not known.
    Unknown,
}

/// A transaction that was sent: the order it places, and the meaning of its conditions.
#[derive(Clone, Debug)]
pub struct Attempt {
    order: WholeOrder,
    guards: Guards,
}

/// How closely the next read looks.
#[derive(Clone, Debug)]
struct ReadPlan {
    /// At everything that the order depends on. The first read may be behind; the transaction notices that.
    all: ReadMode,
    /// At every cell of these stocks, and not only at the first cell.
    cells: BTreeMap<ProductId, ReadMode>,
}

impl ReadPlan {
    /// Something has changed since the last read, and these stocks had too little in the cell that was tried.
    fn escalate(&mut self, short: impl IntoIterator<Item = ProductId>) {
        self.all = ReadMode::Strong;
        self.cells = short.into_iter().map(|product| (product, ReadMode::Strong)).collect();
    }

    /// Whether the last read was close enough to prove the rejection. If not, the next read is.
    fn is_conclusive(&mut self, rejection: &Rejection, found: &Found) -> bool {
        let was_close = std::mem::replace(&mut self.all, ReadMode::Strong) != ReadMode::Eventual;
        match rejection {
            Rejection::OutOfStock { product, .. } if found.is_in_cells(product) => {
                self.cells.insert(product.clone(), ReadMode::Snapshot) == Some(ReadMode::Snapshot)
            }
            _ => was_close,
        }
    }
}

impl<'a> Placing<'a> {
    /// Begins. The first request is a read, without a pause.
    pub fn new(
        ask: &'a PlaceOrder,
        origin: Origin,
        status_shards: StatusShards,
        product_shards: ProductShards,
    ) -> Self {
        let all = match origin {
            // The first read is the cheap one.
            Origin::Request => ReadMode::Eventual,
            // A message may be delivered again after its order was refused; the read must see the refusal.
            Origin::Queue { .. } => ReadMode::Strong,
        };
        Self {
            id: OrderId::of(&ask.customer, &ask.key),
            ask,
            origin,
            status_shards,
            product_shards,
            reads: ReadPlan { all, cells: BTreeMap::new() },
            quoted: None,
            is_unanswered: false,
        }
    }

    /// The request.
    pub fn ask(&self) -> &'a PlaceOrder {
        self.ask
    }

    /// The order's id.
    pub fn id(&self) -> &OrderId {
        &self.id
    }

    /// The most that the order may cost if it is accepted to be placed later: the total that its customer expects, or
    /// the total of the last quote. `None` if there was no quote.
    pub fn max_total(&self) -> Option<Money> {
        self.ask.basket.request().expected_total.or(self.quoted)
    }

    /// Everything the order depends on: at most 1 + 1 + 1 + 40 x 2 + 1 + 4 keys of the 100 that one BatchGetItem holds.
    pub fn keys(&self) -> Vec<Key> {
        let request = self.ask.basket.request();
        let mut keys =
            vec![Order::key_of(&self.id), QueuedOrder::key_of(&self.id), Customer::key_of(&self.ask.customer)];
        for line in &request.lines {
            keys.extend([Product::key_of(&line.product_id), Stock::key_of(&line.product_id)]);
        }
        keys.extend(request.discount_code.iter().map(Discount::key_of));
        keys.extend(request.gift_cards.iter().map(GiftCard::key_of));
        keys
    }

    /// How to read [`keys`](Self::keys).
    pub fn consistency(&self) -> Consistency {
        self.reads.all.consistency()
    }

    /// The stocks whose other cells are to be read too, after [`keys`](Self::keys), and how. Seldom any.
    pub fn cells_to_read<'f>(&'f self, found: &'f Found) -> impl Iterator<Item = (&'f Stock, ReadMode)> {
        // An order that is there is replayed, whatever is in stock.
        let lines = if found.order.is_some() { &[] } else { self.ask.basket.request().lines.as_slice() };
        lines.iter().filter_map(|line| {
            let first = found.stock.get(&line.product_id).filter(|first| !first.cells.is_one())?;
            let is_scarce = first.available < line.quantity.get().into();
            let mode = self.reads.cells.get(&line.product_id).copied();
            Some((first, mode.or(is_scarce.then_some(self.reads.all))?))
        })
    }

    /// This was read.
    ///
    /// # Errors
    /// An order that cannot be written as items: a defect.
    pub fn found(&mut self, found: &Found, now: Timestamp) -> Result<Next, Error> {
        if found.order.is_some() {
            return Ok(Next::Recall);
        }
        let queued = found.queued.as_ref().filter(|queued| !queued.is_expired(now));
        let is_own = |queued: &QueuedOrder| queued.request_hash == *self.ask.basket.hash();
        if let Origin::Queue { queued_at, is_redriven, .. } = self.origin {
            let outcome = match queued {
                None => (!is_redriven).then_some(Placement::NotAccepted),
                // Of one moment: this message's own acceptance.
                Some(queued) if queued.queued_at == queued_at && queued.refusal.is_some() => Some(Placement::Void),
                Some(queued) if queued.queued_at == queued_at && !is_own(queued) => Some(Placement::Mismatch),
                // The same request, accepted by this message or at another time: whichever message comes first places it.
                Some(queued) if is_own(queued) && queued.refusal.is_none() => None,
                Some(_) => Some(Placement::Stale),
            };
            if let Some(outcome) = outcome {
                return Ok(Next::Done(Box::new(outcome)));
            }
        }
        let is_taken = queued.is_some_and(|queued| !is_own(queued) && queued.waits(now));
        let quote = if is_taken { Err(Rejection::KeyReused) } else { Quote::of(&self.ask.basket, found, now) };
        if let Ok(quote) = &quote {
            self.quoted = Some(quote.total);
        }
        let max_total = match self.origin {
            Origin::Request => None,
            Origin::Queue { max_total, .. } => queued.and_then(|queued| queued.max_total).or(max_total),
        };
        let quote = match quote.and_then(|quote| quote.at_most(max_total)) {
            Ok(quote) => quote,
            Err(rejection) if self.reads.is_conclusive(&rejection, found) => return Ok(Next::Settle(rejection)),
            Err(_) => return Ok(Next::Read { backoff: false }),
        };

        let order = self.order(quote, now);
        let sources: Option<Vec<_>> = order.lines.iter().map(|line| found.source_of(&self.id, line)).collect();
        let Some(sources) = sources else {
            let scattered = found.scattered(&order).map(|(whole, quantity)| (whole.clone(), quantity));
            return Ok(Next::Gather(scattered.collect()));
        };
        let mut transaction = OrderTransaction::of(&order, &sources, self.product_shards)?;
        if self.origin != Origin::Request {
            transaction.unless_refused(&order.order)?;
        }
        let OrderTransaction { writes, guards } = transaction;
        Ok(Next::Commit(writes, Box::new(Attempt { order, guards })))
    }

    /// The transaction was committed, or cancelled for these causes: one for each write.
    ///
    /// # Errors
    /// An item that cannot be read: a defect.
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

    /// The transaction was sent, and whether it was committed is not known. It may still be on its way.
    pub fn unanswered(&mut self) -> Next {
        self.is_unanswered = true;
        self.reads.escalate([]);
        Next::Read { backoff: true }
    }

    /// The units of these stocks were moved, or others were faster.
    pub fn gathered(&mut self, stocks: Vec<(WholeStock, Quantity)>) -> Next {
        self.reads.escalate(stocks.into_iter().map(|(whole, _)| whole.product_id));
        Next::Read { backoff: true }
    }

    /// The order's header and whether it is queued, at one moment at which no transaction was under way on either.
    /// Only then it is certain that a copy of this request is not the reason of the rejection.
    pub fn settled(&self, rejection: Rejection, settled: Found, now: Timestamp) -> Next {
        if settled.order.is_some() {
            return Next::Recall;
        }
        // An earlier transaction may still be on its way to the table.
        if self.is_unanswered {
            return Next::Unknown;
        }
        let own = settled.queued.filter(|queued| queued.request_hash == *self.ask.basket.hash() && queued.waits(now));
        Next::Done(Box::new(match own.filter(|_| self.origin == Origin::Request) {
            Some(queued) => Placement::Waits(queued),
            None => Placement::Rejected(rejection),
        }))
    }

    /// The answer to a request whose order is there.
    pub fn replay(ask: &PlaceOrder, whole: &WholeOrder) -> Placement {
        if whole.order.request_hash == *ask.basket.hash() {
            Placement::Replayed(whole.as_placed())
        } else {
            Placement::Rejected(Rejection::KeyReused)
        }
    }

    fn order(&self, quote: Quote, now: Timestamp) -> WholeOrder {
        let code = self.ask.basket.request().discount_code.clone();
        let (discount_code, uncounted_code) = if quote.is_use_counted { (code, None) } else { (None, code) };
        let order = Order {
            order_id: self.id.clone(),
            customer_id: self.ask.customer.clone(),
            status: OrderStatus::when_placed(&quote.payments),
            placed_at: now,
            changed_at: Some(now),
            version: 1,
            subtotal: quote.subtotal,
            discount: quote.discount,
            discount_code,
            uncounted_code,
            total: quote.total,
            request_hash: self.ask.basket.hash().clone(),
            // A basket has at most 40 lines.
            line_count: u8::try_from(quote.lines.len()).unwrap_or(u8::MAX),
            shard: self.id.spread(self.status_shards.0),
            cancellation: None,
        };
        let invoice = Invoice {
            invoice_id: InvoiceId::of(&self.id),
            order_id: self.id.clone(),
            customer_id: self.ask.customer.clone(),
            issued_at: now,
            amount: quote.total,
            payments: quote.payments,
        };
        WholeOrder { order, lines: quote.lines, invoice, flag: None }
    }
}
