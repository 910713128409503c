//! Placing orders and quoting them: reads, asks the decisions of [`PlacingAttempt`], commits, and retries conflicts.

use std::time::Duration;

use futures_util::future::try_join_all;
use key_schema::entity::{Order, QueuedOrder, Rejection};
use key_schema::layout::Key;
use key_schema::value::{CustomerId, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Measure, Misconfigured};
use table::{Budget, Error, Meter, Reader, Throttle, Writer};

use super::decide::{Origin, PlacingAction, PlacingAttempt, PlacingOutcome};
use super::quote::Quote;
use super::read::{ItemRead, ItemsRead, ReadPlan, keys_of, keys_of_customer};
use super::request::{Basket, OrderRequest, RequestedLine};
use super::tax_engine::{TaxEngine, TaxEngineError};
use crate::{MaxOpenUnits, OrderMessage, PlacingSettings, TaxRules};

/// The longest for which [`Orders::place_unless_crowded`] retries a transaction that meets others.
const CONTENDED: Duration = Duration::from_secs(1);

/// Places orders.
#[derive(Clone, Debug)]
pub struct Orders {
    reader: Reader,
    pub(crate) writer: Writer,
    settings: PlacingSettings,
    tax_engine: TaxEngine,
}

impl FromEnvironment for Orders {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Self::of(environment, PlacingSettings::of_customers(environment)?)
    }
}

/// Places orders of guests, within their limits.
#[derive(Clone, Debug)]
pub struct GuestOrders(pub Orders);

impl FromEnvironment for GuestOrders {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Orders::of(environment, PlacingSettings::of_guests(environment)?).map(Self)
    }
}

impl Orders {
    fn of(environment: &Environment, settings: PlacingSettings) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            // Without capacity, an order is queued instead of retried.
            writer: Writer::from_environment(environment)?.fail_fast_on_capacity(),
            settings,
            tax_engine: TaxEngine::from_environment(environment)?,
        })
    }

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
    pub async fn place(&self, request: &OrderRequest, budget: Budget) -> Result<PlacingOutcome, Error> {
        let mut attempt = self.attempt(request, Origin::Request);
        let outcome = self.drive(&mut attempt, budget).await;
        or_wait(outcome, &attempt, Throttle::is_of_capacity)
    }

    /// Places the order like [`place`](Self::place), unless a crowd wants the same items: an order whose transaction meets
    /// others for longer than a second, or that finds a hot partition, is to wait in the queue. So the crowd does not
    /// keep a stock busy with transactions that are cancelled.
    ///
    /// # Errors
    /// Those of [`place`](Self::place).
    pub async fn place_unless_crowded(&self, request: &OrderRequest, budget: Budget) -> Result<PlacingOutcome, Error> {
        let mut attempt = self.attempt(request, Origin::Request);
        let outcome = self.drive(&mut attempt, budget.at_most(CONTENDED)).await;
        or_wait(outcome, &attempt, |by| by.is_of_capacity() || by.is_of_a_crowd())
    }

    /// Reads and decides like [`place`](Self::place), but writes nothing: an order that can be placed is to wait in the
    /// queue.
    ///
    /// # Errors
    /// Those of any read. [`Error::Throttled`] only if the customer expects no total that limits the price.
    pub async fn quote(&self, request: &OrderRequest, budget: Budget) -> Result<PlacingOutcome, Error> {
        let mut attempt = self.attempt(request, Origin::Request).only_quoting();
        let outcome = self.drive(&mut attempt, budget).await;
        or_wait(outcome, &attempt, |by| by.is_of_capacity() || by.is_of_a_crowd())
    }

    /// Places an order from the queue, unless it is placed already or was refused on an earlier delivery of its
    /// message.
    ///
    /// # Errors
    /// Those of [`place`](Self::place), and [`Error::Throttled`] whenever there is no capacity.
    pub async fn place_waiting(&self, waiting: &OrderMessage, budget: Budget) -> Result<PlacingOutcome, Error> {
        let mut attempt = self.attempt(&waiting.request, waiting.origin());
        self.drive(&mut attempt, budget).await
    }

    fn attempt<'a>(&'a self, request: &'a OrderRequest, origin: Origin) -> PlacingAttempt<'a> {
        let attempt = PlacingAttempt::new(request, origin, &self.settings).by(lambda::request_id());
        lambda::note("order_id", attempt.id().as_str());
        attempt
    }

    /// Makes the requests of a [`PlacingAttempt`], within the budget.
    async fn drive(&self, attempt: &mut PlacingAttempt<'_>, budget: Budget) -> Result<PlacingOutcome, Error> {
        let mut next = PlacingAction::Read { backoff: false };
        let mut unanswered = None;
        let mut tax_response = None;
        let mut retries = budget.retries();
        loop {
            next = match next {
                PlacingAction::Read { backoff } => {
                    if backoff && !retries.pause().await {
                        let contention =
                            || Error::contention("items that the order depends on were changing for too long");
                        return Err(unanswered.unwrap_or_else(contention));
                    }
                    let (keys, plan, lines) = (attempt.keys(), attempt.reads(), attempt.lines());
                    let (mut items, now) = (read(&self.reader, keys, plan, lines, budget).await?, Timestamp::now());
                    match self.tax_engine.ask(attempt.tax_request(&items, now), tax_response).await {
                        Ok(response) => tax_response = response,
                        // An order that an earlier attempt or an earlier request placed is the answer without the engine.
                        Err(error) => {
                            let placed = self.placed_before(attempt.request(), budget).await?;
                            let untaxed = || unanswered.map_or(Ok(PlacingOutcome::Untaxed(error)), Err);
                            return placed.map_or_else(untaxed, Ok);
                        }
                    }
                    items.tax_response.clone_from(&tax_response);
                    attempt.items_read(&items, now)?
                }
                PlacingAction::Commit(writes, sent) => match self.writer.commit(writes, budget).await {
                    Ok(outcome) => attempt.committed(*sent, outcome)?,
                    Err(error @ Error::Unanswered(_)) => {
                        unanswered = Some(error);
                        attempt.unanswered()
                    }
                    Err(error) => return Err(error),
                },
                PlacingAction::Gather(stocks) => {
                    for (whole, quantity) in &stocks {
                        stock::gather(&self.writer, whole, quantity.get().into(), budget).await?;
                    }
                    attempt.gathered(stocks)
                }
                PlacingAction::Settle(rejection) => {
                    let keys = vec![Order::key_of(attempt.id()), QueuedOrder::key_of(attempt.id())];
                    let settled = self.reader.transact_get::<ItemRead>(keys, budget).await?.into_iter().collect();
                    attempt.settled(rejection, settled, Timestamp::now())
                }
                PlacingAction::Recall => {
                    let placed = self.placed_before(attempt.request(), budget).await?;
                    return placed.ok_or_else(|| Error::Inconsistent("an order that existed is gone"));
                }
                PlacingAction::Done(outcome) => {
                    if let PlacingOutcome::Rejected(rejection) = &*outcome {
                        count_refusal(rejection);
                    }
                    return Ok(*outcome);
                }
                PlacingAction::Unknown => {
                    return Err(
                        unanswered.unwrap_or_else(|| Error::contention("it is not known whether the order was placed"))
                    );
                }
            }
        }
    }

    /// The answer to a request whose order was placed before; `None` if it was not. One read.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn placed_before(&self, request: &OrderRequest, budget: Budget) -> Result<Option<PlacingOutcome>, Error> {
        let id = OrderId::of(&request.customer, &request.key);
        lambda::note("order_id", id.as_str());
        let placed = self.reader.order(&id, budget).await?;
        Ok(placed.map(|whole| PlacingAttempt::replay(request, &whole)))
    }
}

/// Counts an order that is refused, by the reason.
fn count_refusal(rejection: &Rejection) {
    if let Some(product) = rejection.product() {
        lambda::note("product_id", product.as_str());
    }
    lambda::metrics_of_shop(&[("OrdersRefused", Measure::Count(1))], Some(("Reason", rejection.reason())));
}

/// The outcome, or that the order waits if it was throttled in such a way and its price is limited.
fn or_wait(
    outcome: Result<PlacingOutcome, Error>,
    attempt: &PlacingAttempt<'_>,
    can_wait: impl Fn(Throttle) -> bool,
) -> Result<PlacingOutcome, Error> {
    match (outcome, attempt.max_total()) {
        (Err(Error::Throttled { by, .. }), Some(max_total)) if can_wait(by) => Ok(PlacingOutcome::Waits { max_total }),
        (outcome, _) => outcome,
    }
}

/// Answers what orders would cost. It can only read.
#[derive(Clone, Debug)]
pub struct Quotes {
    reader: Reader,
    tax_rules: TaxRules,
    tax_engine: TaxEngine,
}

/// The reason why there is no quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotQuoted {
    /// The order could not be placed now.
    Rejected(Rejection),
    /// The shop's tax engine did not respond with the taxes.
    Untaxed(TaxEngineError),
}

lambda::from_environment!(Quotes { reader, tax_rules, tax_engine });

impl Quotes {
    /// The quote for a basket of this customer, by the reads and the arithmetic of placing, or the reason why the order
    /// could not be placed now. A quote reserves nothing and fixes no price: `expectedTotal` in the order does.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn for_customer(
        &self,
        customer: &CustomerId,
        max_open_units: MaxOpenUnits,
        basket: &Basket,
        budget: Budget,
    ) -> Result<Result<Quote, NotQuoted>, Error> {
        let keys = keys_of_customer(customer, basket.order(), max_open_units);
        let quote = |items: &ItemsRead, now| {
            Quote::of(basket, items, &self.tax_rules, now)?.within(max_open_units, items.stats.as_ref())
        };
        self.quoted(keys, basket, quote, ReadPlan::is_conclusive, budget).await
    }

    /// The same quote for somebody who may be a guest, or become a customer: no item of a person is read, and a refusal is not
    /// proved by further reads, of which strangers could cause too many.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn for_anybody(&self, basket: &Basket, budget: Budget) -> Result<Result<Quote, NotQuoted>, Error> {
        let quote = |items: &ItemsRead, now| Quote::for_anybody(basket, items, &self.tax_rules, now);
        self.quoted(Vec::new(), basket, quote, |_, _, _| true, budget).await
    }

    /// The quote that is made of the items of the basket, and those with these keys.
    async fn quoted(
        &self,
        mut keys: Vec<Key>,
        basket: &Basket,
        quote: impl Fn(&ItemsRead, Timestamp) -> Result<Quote, Rejection>,
        is_conclusive: impl Fn(&mut ReadPlan, &Rejection, &ItemsRead) -> bool,
        budget: Budget,
    ) -> Result<Result<Quote, NotQuoted>, Error> {
        keys.extend(keys_of(basket.order(), &self.tax_rules));
        let mut plan = ReadPlan::of(basket);
        let mut tax_response = None;
        // Each read that proves nothing is followed by a stronger one, so the loop ends.
        loop {
            let mut items = read(&self.reader, keys.clone(), &plan, &basket.order().lines, budget).await?;
            let now = Timestamp::now();
            let tax_request = Quote::tax_request(basket, &items, &self.tax_rules, now);
            match self.tax_engine.ask(tax_request, tax_response).await {
                Ok(response) => tax_response = response,
                Err(error) => return Ok(Err(NotQuoted::Untaxed(error))),
            }
            items.tax_response.clone_from(&tax_response);
            match quote(&items, now) {
                Ok(quote) => return Ok(Ok(quote)),
                Err(rejection) if is_conclusive(&mut plan, &rejection, &items) => {
                    return Ok(Err(NotQuoted::Rejected(rejection)));
                }
                Err(_) => {}
            }
        }
    }
}

/// Reads the items with these keys in one request, and in one more for each stock of these lines all cells that the plan
/// names.
async fn read(
    reader: &Reader,
    keys: Vec<Key>,
    plan: &ReadPlan,
    lines: &[RequestedLine],
    budget: Budget,
) -> Result<ItemsRead, Error> {
    let items: Vec<ItemRead> = reader.batch(keys, plan.consistency(), budget).await?;
    let mut items: ItemsRead = items.into_iter().collect();
    let cells = plan.cells_to_read(lines, &items);
    let cells = cells.map(|(first, mode)| stock::whole(reader, first.clone(), mode, budget));
    for whole in try_join_all(cells).await? {
        items.add_cells(whole);
    }
    Ok(items)
}
