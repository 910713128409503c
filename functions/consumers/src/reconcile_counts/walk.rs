//! A walk over the orders of one item with counters.
//!
//! The counters are read first, strongly consistent, and then each order is read once. So every change that is counted
//! happened before the walk. Every change during the walk is a change after the horizon of [`Bounds`], however long the
//! walk takes.
//!
//! Every list is walked in the order in which its orders were placed. If the status of an order changes during the
//! walk, the order keeps its position: the walk finds it there, in the old status or in the new one, and never again
//! later. An index may lack a recent write, which no read can detect. So counters that disagree with their orders are
//! compared again after a pause.

use std::collections::{BTreeMap, BTreeSet};

use counting::{Aggregate, Bounds, Counts};
use futures_util::future::{join_all, try_join, try_join_all};
use key_schema::entity::{Order, OrderLine, OrderStatus, WholeOrder};
use key_schema::layout::{ORDERS_OF_CUSTOMER, ORDERS_OF_PRODUCT, ORDERS_OF_STATUS, in_shards};
use key_schema::value::{CustomerId, Day, Days, OrderId, ProductId, TimeRange, Timestamp};
use serde::{Deserialize, Serialize};
use table::Error;
use tokio::time::Instant;

use crate::reconcile_counts::Reconciler;
use crate::reconcile_counts::run::LAST_STEP;

/// The number of seen items at which a day's walk stops until they are compared. It bounds the size of the stored run.
const MOST_SEEN: usize = 1000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Walk {
    /// The counters when the walk began; `None` if there were none.
    pub(crate) counted: Option<Counts>,
    bounds: Bounds,
    /// The sort key up to which the walk has come.
    position: Option<String>,
    is_over: bool,
    /// The deficit that the first walk found, if this is the second one.
    first: Option<Counts>,
}

impl Walk {
    /// Reads the counters and begins a walk. `first` is the deficit that the first walk found, if this is the second
    /// one.
    pub(crate) async fn begin(of: &Reconciler, aggregate: Aggregate, first: Option<Counts>) -> Result<Self, Error> {
        let horizon = Timestamp::now().minus_seconds(of.settle_seconds);
        let counted = of.reads.counted(&aggregate).await?;
        Ok(Self { counted, bounds: Bounds::new(aggregate, horizon), position: None, is_over: false, first })
    }

    pub(crate) fn aggregate(&self) -> &Aggregate {
        self.bounds.aggregate()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.bounds.is_settled()
    }

    pub(crate) fn is_second(&self) -> bool {
        self.first.is_some()
    }

    /// The amounts to add to the counters.
    pub(crate) fn deficit(&self) -> Counts {
        self.bounds.deficit(self.counted.as_ref().unwrap_or(&Counts::default()))
    }

    /// Whether the counters are wrong, and not only late: two walks found the same deficit, or each found one if only
    /// bounds are known.
    pub(crate) fn is_drift(&self, deficit: &Counts) -> bool {
        !deficit.is_empty() && self.first.as_ref().is_some_and(|first| first == deficit || !self.is_settled())
    }

    /// Whether this is the walk over a day, which finds the customers and products to compare.
    pub(crate) fn is_of_day(&self) -> bool {
        matches!(self.aggregate(), Aggregate::Day(_))
    }

    /// Walks one page of a day, if there is one. Returns whether the walk is over. Puts a customer or product into `seen`
    /// at their last order of the run.
    pub(crate) async fn step_day(
        &mut self,
        of: &Reconciler,
        run: &Days,
        seen: &mut BTreeSet<Aggregate>,
        end: Instant,
    ) -> Result<bool, Error> {
        let Aggregate::Day(day) = *self.aggregate() else { return Ok(self.is_over) };
        if !self.is_over {
            let before = self.position.clone();
            self.is_over = match self.step_page(of, day, run, seen, end).await {
                // The orders before the new position are done. If the error is permanent, the next step ends with it
                // before it advances.
                Err(_) if self.position != before => false,
                outcome => outcome?,
            };
        }
        Ok(self.is_over)
    }

    /// Walks one page of a customer or a product, if there is one. Returns whether the walk is over.
    pub(crate) async fn step(&mut self, of: &Reconciler) -> Result<bool, Error> {
        if !self.is_over {
            self.is_over = match self.aggregate().clone() {
                Aggregate::Day(_) => true,
                Aggregate::Customer(id) => self.step_customer(of, &id).await?,
                Aggregate::Product(id) => self.step_product(of, &id).await?,
            };
        }
        Ok(self.is_over)
    }

    async fn step_page(
        &mut self,
        of: &Reconciler,
        day: Day,
        run: &Days,
        seen: &mut BTreeSet<Aggregate>,
        end: Instant,
    ) -> Result<bool, Error> {
        let (page, is_last) = self.page_of_day(of, day).await?;
        let page: Vec<_> = page.into_iter().collect();
        for (at, orders) in page.chunks(of.reads.sizes.orders).enumerate() {
            if at > 0 && (seen.len() >= MOST_SEEN || Instant::now() + LAST_STEP >= end) {
                return Ok(false);
            }
            // The first walk over the day has already seen the customers and products of these orders.
            let is_first = !self.is_second();
            let reads = orders.iter().map(|(_, order)| read(of, &order.order_id, is_first.then_some(run)));
            // In order, and up to the first order that cannot be read: so the position is that of the last one that is
            // done.
            for (found, (position, _)) in join_all(reads).await.into_iter().zip(orders) {
                if let Some((whole, seen_here)) = found? {
                    self.bounds.add(&whole.order, &whole.lines, &of.zone);
                    seen.extend(seen_here);
                }
                self.position = Some(position.clone());
                // Orders of many lines.
                if seen.len() >= 2 * MOST_SEEN {
                    return Ok(false);
                }
            }
        }
        Ok(is_last)
    }

    /// The day's next orders, by their positions, and whether they are the last.
    ///
    /// The lists of all statuses and shards are sorted by the same position. So the walk reads all of them together, up
    /// to the first position at which one of them stopped. Statuses are queried in lifecycle order, so an order that
    /// advances during the walk moves to one not yet queried.
    async fn page_of_day(&self, of: &Reconciler, day: Day) -> Result<(BTreeMap<String, Order>, bool), Error> {
        let placed = of.zone.moments(day, day.plus(1));
        let (mut found, mut seen_up_to) = (BTreeMap::new(), None::<String>);
        for status in OrderStatus::ALL {
            let lists = in_shards(of.status_shards.0, |shard| ORDERS_OF_STATUS.ask((&status, &shard, &placed)));
            let limit = of.reads.sizes.day_page;
            let reads = lists.iter().map(|list| of.reads.reader.after(list, self.position.as_deref(), limit));
            let pages = of.reads.paced(units(lists.len()), try_join_all(reads)).await?;
            for (orders, stopped) in pages {
                seen_up_to = seen_up_to.into_iter().chain(stopped).min();
                found.extend(orders.into_iter().map(|order| (order.position(), order)));
            }
        }
        found.retain(|place, _| seen_up_to.as_ref().is_none_or(|end| place <= end));
        Ok((found, seen_up_to.is_none()))
    }

    async fn step_customer(&mut self, of: &Reconciler, customer: &CustomerId) -> Result<bool, Error> {
        let list = ORDERS_OF_CUSTOMER.ask((customer, &TimeRange::default()));
        let page = of.reads.reader.after(&list, self.position.as_deref(), of.reads.sizes.page);
        let (orders, position) = of.reads.paced(1.0, page).await?;
        for order in of.reads.headers(orders).await? {
            self.bounds.add(&order, &[], &of.zone);
        }
        let is_last = position.is_none();
        self.position = position;
        Ok(is_last)
    }

    async fn step_product(&mut self, of: &Reconciler, product: &ProductId) -> Result<bool, Error> {
        let ever = TimeRange::default();
        let shards = in_shards(of.product_shards.0, |shard| ORDERS_OF_PRODUCT.ask((product, &shard, &ever)));
        let page = of.reads.reader.merged_after(&shards, self.position.as_deref(), of.reads.sizes.page);
        let (items, position) = of.reads.paced(units(shards.len()), page).await?;
        let ids: Vec<_> = items.iter().map(|item| item.order_id.clone()).collect();
        let headers = of.reads.headers(of.reads.copies(&ids).await?).await?;
        let headers: BTreeMap<_, _> = headers.into_iter().map(|order| (order.order_id.clone(), order)).collect();
        for item in items {
            if let Some(order) = headers.get(&item.order_id) {
                self.bounds.add(order, &[item.line], &of.zone);
            }
        }
        let is_last = position.is_none();
        self.position = position;
        Ok(is_last)
    }
}

/// An order with its lines, and its customer and products of which it is the last order of the run.
async fn read(
    of: &Reconciler,
    id: &OrderId,
    run: Option<&Days>,
) -> Result<Option<(WholeOrder, Vec<Aggregate>)>, Error> {
    let Some(whole) = of.reads.order(id).await? else { return Ok(None) };
    let seen = match run {
        Some(run) => seen_last(of, &whole.order, &whole.lines, run).await?,
        None => Vec::new(),
    };
    Ok(Some((whole, seen)))
}

/// The order's customer and products, except those that have a later order in the run's days.
async fn seen_last(of: &Reconciler, order: &Order, lines: &[OrderLine], run: &Days) -> Result<Vec<Aggregate>, Error> {
    let reader = &of.reads.reader;
    let list = ORDERS_OF_CUSTOMER.ask((&order.customer_id, &run.moments(&of.zone)));
    let of_customer = async {
        // This list is sorted newest first.
        let (newest, _) = of.reads.paced(0.5, reader.after(&list, None, 1)).await?;
        let is_last = newest.first().is_none_or(|newest| newest.order_id == order.order_id);
        Ok::<_, Error>(is_last.then(|| Aggregate::Customer(order.customer_id.clone())))
    };
    let (placed, position) = (run.moments(&of.zone), order.position());
    let of_products = lines.iter().map(async |line| {
        // Sequential: a product that sells well has a later order in one of the first shards, and the others are not
        // read.
        for shard in in_shards(of.product_shards.0, |shard| ORDERS_OF_PRODUCT.ask((&line.product_id, &shard, &placed)))
        {
            let (later, _) = of.reads.paced(0.5, reader.after(&shard, Some(&position), 1)).await?;
            if !later.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(Aggregate::Product(line.product_id.clone())))
    });
    let (customer, products) = try_join(of_customer, try_join_all(of_products)).await?;
    Ok(customer.into_iter().chain(products.into_iter().flatten()).collect())
}

/// The units that this number of requests is expected to consume: one each. There are never more than 255 requests.
fn units(requests: usize) -> f64 {
    f64::from(u8::try_from(requests).unwrap_or(u8::MAX))
}
