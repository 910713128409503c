//! Read, quote, commit, and again while others are in the way.

use key_schema::entity::{
    Customer, Discount, GiftCard, Invoice, Order, OrderStatus, Product, QueuedOrder, Rejection, Stock, WholeOrder,
};
use key_schema::layout::Consistency;
use key_schema::value::{CustomerId, IdempotencyKey, InvoiceId, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Condition, Error, Meter, Reader, StatusShards, Write, Writer};

use crate::quote::{Found, FoundItem, Quote};
use crate::transaction::{OrderTransaction, Verdict};
use crate::{Basket, Waiting};

/// Places orders.
#[derive(Clone, Debug)]
pub struct Orders {
    reader: Reader,
    writer: Writer,
    shards: StatusShards,
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
}

impl FromEnvironment for Orders {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            // An order for which there is no capacity has a queue to wait in.
            writer: Writer::from_environment(environment)?.hurried(),
            shards: StatusShards::from_environment(environment)?,
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
    /// Two requests: one BatchGetItem for everything it depends on, one TransactWriteItems that checks all of it again. A
    /// conflict with another write is tried again, and a price that moved between the two is read again, within the budget.
    ///
    /// # Errors
    /// [`Error::Throttled`] when there is no capacity, or when the budget ends first. [`Error::Unanswered`] when it is not known whether the order
    /// was placed: the same request asked again finds out.
    pub async fn place(&self, ask: &PlaceOrder, budget: Budget) -> Result<Placement, Error> {
        let id = OrderId::of(&ask.customer, &ask.key);
        // The first read is the cheap one. It may be behind, which the transaction notices and a rejection asks again.
        let mut consistency = Consistency::Eventual;
        let mut unanswered = None;
        for attempt in 1.. {
            let found = self.find(ask, &id, consistency, budget).await?;
            if found.order.is_some() {
                return self.placed_certainly(ask, budget).await;
            }
            let now = Timestamp::now();
            let quote = match Quote::of(&ask.basket, &found, now) {
                Ok(quote) => quote,
                Err(_) if consistency == Consistency::Eventual => {
                    consistency = Consistency::Strong;
                    continue;
                }
                Err(rejection) => return self.reject(ask, &id, rejection, unanswered, budget).await,
            };

            let order = self.order(ask, &id, quote, now);
            let OrderTransaction { writes, guards } = OrderTransaction::of(&order)?;
            match self.writer.commit(writes, budget).await {
                Ok(Ok(())) => return Ok(Placement::Placed(order)),
                Ok(Err(causes)) => match guards.verdict(&ask.basket, causes, consistency)? {
                    Verdict::AlreadyPlaced => return self.placed_certainly(ask, budget).await,
                    Verdict::Rejected(rejection) => return self.reject(ask, &id, rejection, unanswered, budget).await,
                    Verdict::TryAgain => {}
                },
                Err(error @ Error::Unanswered(_)) => unanswered = Some(error),
                Err(error) => return Err(error),
            }
            consistency = Consistency::Strong;
            if !budget.wait(attempt).await {
                break;
            }
        }
        Err(unanswered.unwrap_or_else(|| Error::contention("prices moved for too long")))
    }

    /// Everything the order depends on, in one request: at most 1 + 1 + 40 x 2 + 1 + 4 keys of the 100 it may hold.
    async fn find(
        &self,
        ask: &PlaceOrder,
        id: &OrderId,
        consistency: Consistency,
        budget: Budget,
    ) -> Result<Found, Error> {
        let request = ask.basket.request();
        let mut keys = vec![Order::key_of(id), Customer::key_of(&ask.customer)];
        for line in &request.lines {
            keys.extend([Product::key_of(&line.product_id), Stock::key_of(&line.product_id)]);
        }
        keys.extend(request.discount_code.iter().map(Discount::key_of));
        keys.extend(request.gift_cards.iter().map(GiftCard::key_of));
        let items: Vec<FoundItem> = self.reader.batch(keys, consistency, budget).await?;
        Ok(items.into_iter().collect())
    }

    /// Says no, once it is certain that this very order is not the reason: a copy of the request may have been faster, or may be
    /// under way.
    async fn reject(
        &self,
        ask: &PlaceOrder,
        id: &OrderId,
        rejection: Rejection,
        unanswered: Option<Error>,
        budget: Budget,
    ) -> Result<Placement, Error> {
        match (self.reader.settled::<Order>(Order::key_of(id), budget).await?, unanswered) {
            (Some(_), _) => self.placed_certainly(ask, budget).await,
            // An earlier attempt may still be on its way to the table.
            (None, Some(error)) => Err(error),
            (None, None) => Ok(Placement::Rejected(rejection)),
        }
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

    /// Writes down why an order that waited was not placed. The first reason stays; what another request waits for under the same
    /// key is left alone.
    ///
    /// # Errors
    /// Those of any write. It may have been written: doing it again changes nothing.
    pub async fn refuse(&self, waiting: &Waiting, rejection: Rejection, budget: Budget) -> Result<(), Error> {
        let Waiting { order, queued_at } = waiting;
        let (id, hash) = (OrderId::of(&order.customer, &order.key), order.basket.hash().clone());
        let is_waiting =
            Condition::new("attribute_not_exists(#PK) OR (#requestHash = :hash AND attribute_not_exists(#refusal))");
        let is_waiting = is_waiting.value(":hash", &hash)?;
        let queued = QueuedOrder::new(id, order.customer.clone(), hash, *queued_at);
        let refused = queued.refused(Timestamp::now(), rejection);
        // If it was refused before, or another request waits: there is nothing left to do.
        _ = self.writer.write(Write::put_if(&refused, is_waiting)?, budget).await?;
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
            shard: id.spread(self.shards.0),
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
