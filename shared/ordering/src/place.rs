//! Read, quote, commit, and again while others are in the way.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use key_schema::entity::{
    Customer, Discount, GiftCard, Invoice, Order, OrderStatus, Product, QueuedOrder, Refusal, Rejection, Stock,
    WholeOrder,
};
use key_schema::value::{CustomerId, IdempotencyKey, InvoiceId, OrderId, ProductId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use stock::Look;
use table::{Budget, Condition, Error, Meter, ProductShards, Reader, StatusShards, Write, Writer};

use crate::quote::{Found, FoundItem, Quote};
use crate::transaction::{OrderTransaction, Verdict};
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
    /// It cannot be placed now; but an earlier copy of the request was written down as waiting, and what becomes of
    /// that is not known yet.
    Waits,
    /// It waited, and nobody waits for it any more: it was refused when its turn came before, and perhaps another
    /// request has its key.
    Void,
}

/// When an order is placed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// As soon as it is asked for.
    Now,
    /// When a message in the queue says so.
    AfterWaiting,
}

/// How closely the next reading looks.
struct Looks {
    /// At all that the order depends on. At first it may be behind, which the transaction notices.
    at_all: Look,
    /// At every cell of these stocks, and not only at the first: the order's own had too little, or so it seemed.
    at_cells: HashMap<ProductId, Look>,
}

impl Looks {
    /// What the last try was decided on has changed, and these stocks had too little where it looked.
    fn closer(&mut self, short: impl IntoIterator<Item = ProductId>) {
        self.at_all = Look::Close;
        self.at_cells = short.into_iter().map(|product| (product, Look::Close)).collect();
    }

    /// Whether what was found at this look can tell that the order cannot be placed. If not, the next one can.
    fn bear_out(&mut self, rejection: &Rejection, found: &Found) -> bool {
        let is_close = std::mem::replace(&mut self.at_all, Look::Close) != Look::Glance;
        match rejection {
            Rejection::OutOfStock { product, .. } if found.is_in_cells(product) => {
                self.at_cells.insert(product.clone(), Look::AtOnce) == Some(Look::AtOnce)
            }
            _ => is_close,
        }
    }
}

impl FromEnvironment for Orders {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            // An order for which there is no capacity has a queue to wait in.
            writer: Writer::from_environment(environment)?.hurried(),
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
    /// [`Error::Throttled`] when there is no capacity, or when the budget ends first. [`Error::Unanswered`] when it
    /// is not known whether the order was placed: the same request asked again finds out.
    pub async fn place(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        self.take_turn(ask, Turn::Now, budget).await
    }

    /// Places an order that waited, unless it is there already or was refused before. A message may be delivered
    /// twice, and its customer was told of the refusal.
    ///
    /// # Errors
    /// Those of [`place`](Self::place).
    pub async fn place_waiting(&self, waiting: &Waiting, budget: Budget) -> Result<Placement, Error> {
        self.take_turn(&waiting.order, Turn::AfterWaiting, budget).await
    }

    async fn take_turn(&self, ask: &PlaceOrder, turn: Turn, budget: Budget) -> Result<Placement, Error> {
        let id = OrderId::of(&ask.customer, &ask.key);
        let at_all = match turn {
            // The first read is the cheap one. It may be behind, which the transaction notices and a rejection asks
            // again.
            Turn::Now => Look::Glance,
            // What was refused and may be delivered again must be seen.
            Turn::AfterWaiting => Look::Close,
        };
        let mut looks = Looks { at_all, at_cells: HashMap::new() };
        let mut unanswered = None;
        for attempt in 1.. {
            let found = self.find(ask, &id, &looks, budget).await?;
            if found.order.is_some() {
                return self.placed_certainly(ask, budget).await;
            }
            let now = Timestamp::now();
            let is_own = |queued: &QueuedOrder| queued.request_hash == *ask.basket.hash();
            let queued = found.queued.as_ref().filter(|queued| !queued.is_expired(now));
            if turn == Turn::AfterWaiting && queued.is_some_and(|queued| !is_own(queued) || queued.refusal.is_some()) {
                return Ok(Placement::Void);
            }
            let is_taken = queued.is_some_and(|queued| !is_own(queued) && queued.waits(now));
            let quote = if is_taken { Err(Rejection::KeyReused) } else { Quote::of(&ask.basket, &found, now) };
            let quote = match quote {
                Ok(quote) => quote,
                Err(rejection) if looks.bear_out(&rejection, &found) => {
                    return self.reject(ask, turn, rejection, unanswered, budget).await;
                }
                Err(_) => continue,
            };

            let order = self.order(ask, &id, quote, now);
            let cells: Option<Vec<_>> = order.lines.iter().map(|line| found.cell_of(&id, line)).collect();
            if let Some(cells) = cells {
                let mut transaction = OrderTransaction::of(&order, &cells, self.product_shards)?;
                if turn == Turn::AfterWaiting {
                    transaction.unless_refused(&order.order)?;
                }
                let OrderTransaction { writes, guards } = transaction;
                match self.writer.commit(writes, budget).await {
                    Ok(Ok(())) => return Ok(Placement::Placed(order)),
                    Ok(Err(causes)) => match guards.verdict(&ask.basket, causes)? {
                        Verdict::AlreadyPlaced => return self.placed_certainly(ask, budget).await,
                        Verdict::Rejected(rejection) => {
                            return self.reject(ask, turn, rejection, unanswered, budget).await;
                        }
                        Verdict::TryAgain { short } => looks.closer(short),
                    },
                    Err(error @ Error::Unanswered(_)) => {
                        unanswered = Some(error);
                        looks.closer([]);
                    }
                    Err(error) => return Err(error),
                }
            } else {
                for (whole, quantity) in found.scattered(&order) {
                    stock::gather(&self.writer, whole, quantity, budget).await?;
                }
                looks.closer(found.scattered(&order).map(|(whole, _)| whole.product_id.clone()));
            }
            if !budget.wait(attempt).await {
                break;
            }
        }
        Err(unanswered.unwrap_or_else(|| Error::contention("what the order depends on moved for too long")))
    }

    /// Everything the order depends on, in one request: at most 1 + 1 + 1 + 40 x 2 + 1 + 4 keys of the 100 it may hold.
    /// One more for each stock whose cells are all looked at.
    async fn find(&self, ask: &PlaceOrder, id: &OrderId, looks: &Looks, budget: Budget) -> Result<Found, Error> {
        let request = ask.basket.request();
        let mut keys = vec![Order::key_of(id), QueuedOrder::key_of(id), Customer::key_of(&ask.customer)];
        for line in &request.lines {
            keys.extend([Product::key_of(&line.product_id), Stock::key_of(&line.product_id)]);
        }
        keys.extend(request.discount_code.iter().map(Discount::key_of));
        keys.extend(request.gift_cards.iter().map(GiftCard::key_of));
        let items: Vec<FoundItem> = self.reader.batch(keys, looks.at_all.consistency(), budget).await?;
        let mut found: Found = items.into_iter().collect();
        if found.order.is_some() {
            return Ok(found);
        }

        let in_cells = request.lines.iter().filter_map(|line| {
            let first = found.stock.get(&line.product_id).filter(|first| !first.cells.is_one())?;
            let is_scarce = first.available < line.quantity.get().into();
            let look = looks.at_cells.get(&line.product_id).copied().or(is_scarce.then_some(looks.at_all))?;
            Some(stock::whole(&self.reader, first.clone(), look, budget))
        });
        for whole in try_join_all(in_cells).await? {
            found.stock.insert(whole.product_id.clone(), whole.first());
            found.cells.insert(whole.product_id.clone(), whole);
        }
        Ok(found)
    }

    /// Says no, once it is certain that this very order is not the reason: a copy of the request may have been
    /// faster, may be under way, or may wait.
    async fn reject(
        &self,
        ask: &PlaceOrder,
        turn: Turn,
        rejection: Rejection,
        unanswered: Option<Error>,
        budget: Budget,
    ) -> Result<Placement, Error> {
        let id = OrderId::of(&ask.customer, &ask.key);
        let keys = vec![Order::key_of(&id), QueuedOrder::key_of(&id)];
        let settled: Found = self.reader.settled::<FoundItem>(keys, budget).await?.into_iter().collect();
        if settled.order.is_some() {
            return self.placed_certainly(ask, budget).await;
        }
        // An earlier attempt may still be on its way to the table.
        if let Some(error) = unanswered {
            return Err(error);
        }
        let waits = turn == Turn::Now
            && settled
                .queued
                .is_some_and(|queued| queued.request_hash == *ask.basket.hash() && queued.waits(Timestamp::now()));
        Ok(if waits { Placement::Waits } else { Placement::Rejected(rejection) })
    }

    async fn placed_certainly(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        let placed = self.placed_before(ask, budget).await?;
        placed.ok_or_else(|| Error::Refused("an order was there and is gone".into()))
    }

    /// What a request is answered whose order was placed before, if it was. One request, which writes nothing.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn placed_before(&self, ask: &PlaceOrder, budget: Budget) -> Result<Option<Placement>, Error> {
        let id = OrderId::of(&ask.customer, &ask.key);
        let placed = self.reader.order(&id, budget).await?;
        Ok(placed.map(|whole| {
            if whole.order.request_hash == *ask.basket.hash() {
                Placement::Replayed(whole.as_placed())
            } else {
                Placement::Rejected(Rejection::KeyReused)
            }
        }))
    }

    /// Writes down why an order that waited was not placed: of this waiting, and if nobody has written a reason yet.
    ///
    /// # Errors
    /// Those of any write. It may have been written: doing it again changes nothing.
    pub async fn refuse(&self, waiting: &Waiting, rejection: Rejection, budget: Budget) -> Result<(), Error> {
        let Waiting { order, queued_at } = waiting;
        let is_this =
            Condition::new("#requestHash = :hash AND #queuedAt = :queuedAt AND attribute_not_exists(#refusal)");
        let is_this = is_this.value(":hash", order.basket.hash())?.value(":queuedAt", queued_at)?;
        let refusal = is_this.value(":refusal", Refusal { at: Timestamp::now(), rejection })?;
        let key = QueuedOrder::key_of(&OrderId::of(&order.customer, &order.key));
        // If it was refused before, or waits for another reason by now: there is nothing left to do.
        _ = self.writer.write(Write::update(key, "SET #refusal = :refusal", refusal), budget).await?;
        Ok(())
    }

    fn order(&self, ask: &PlaceOrder, id: &OrderId, quote: Quote, now: Timestamp) -> WholeOrder {
        let order = Order {
            order_id: id.clone(),
            customer_id: ask.customer.clone(),
            status: OrderStatus::when_placed(&quote.payments),
            placed_at: now,
            changed_at: Some(now),
            version: 1,
            subtotal: quote.subtotal,
            discount: quote.discount,
            discount_code: ask.basket.request().discount_code.clone(),
            total: quote.total,
            request_hash: ask.basket.hash().clone(),
            // A basket has at most 40 lines.
            line_count: u8::try_from(quote.lines.len()).unwrap_or(u8::MAX),
            shard: id.spread(self.status_shards.0),
            cancellation: None,
        };
        let invoice = Invoice {
            invoice_id: InvoiceId::of(id),
            order_id: id.clone(),
            customer_id: ask.customer.clone(),
            issued_at: now,
            amount: quote.total,
            payments: quote.payments,
        };
        WholeOrder { order, lines: quote.lines, invoice, flag: None }
    }
}
