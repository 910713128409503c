//! Reads at no more than the rate that the deployment sets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counting::{Aggregate, Counts};
use futures_util::future::try_join_all;
use key_schema::entity::{CustomerStats, DayTotals, Order, ProductStats, WholeOrder};
use key_schema::layout::Consistency;
use key_schema::value::OrderId;
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, ProductShards, ReadMeter, Reader, StatusShards, TokenBucket};
use tokio::time::Instant;

/// The time within which one request is retried.
const ONE_REQUEST: Duration = Duration::from_secs(5);

/// The most read units that the sizes below are made for. A higher rate reads no more at once.
const MOST_UNITS: u32 = 10_000;

/// The part of the rate that is kept back. Otherwise a second with one request more than its share would exceed the
/// rate.
pub const RATE_MARGIN: f64 = 0.1;

/// How much is read at once. The more units a second are allowed, the more: otherwise the latency of the reads would
/// limit the comparison. At a low rate little, so that a read is no burst, and the last reads of an invocation do not wait
/// longer than its [`LAST_STEP`](super::LAST_STEP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The orders in one page of a list.
    pub(crate) page: u8,
    /// The orders in one page of each of a day's lists.
    pub(crate) day_page: u8,
    /// The keys in one batch.
    batch: usize,
    /// The orders of a day that are read concurrently, each with its lines and the queries for later orders.
    pub(crate) orders: usize,
    /// The customers and products that are compared concurrently.
    pub(crate) walks: usize,
}

impl Sizes {
    fn of(read_units: u32, status_shards: u8, product_shards: u8) -> Self {
        let units = usize::try_from(read_units.min(MOST_UNITS)).unwrap_or_default();
        let page = page_size(read_units);
        Self {
            page,
            // So the pages of all lists together stay small, too: what is left of them when a walk stops is read again.
            day_page: (page / status_shards).max(LEAST_PAGE),
            batch: (units / 10).clamp(10, 100),
            // A line is looked up in up to all shards of its product.
            orders: (units / 2 / usize::from(product_shards)).clamp(1, 128),
            walks: (units / 20).clamp(1, 64),
        }
    }
}

/// The least orders in one page of a list: about 20 kilobytes.
const LEAST_PAGE: u8 = 25;

/// The number of orders in one page of a list, at this rate.
pub const fn page_size(read_units: u32) -> u8 {
    if read_units < 1000 { LEAST_PAGE } else { 100 }
}

/// A reader with a limit of read units per second.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    pub(crate) reader: Reader,
    pub(crate) sizes: Sizes,
    meter: ReadMeter,
    bucket: Arc<Mutex<TokenBucket>>,
    start: Instant,
}

impl FromEnvironment for Reads {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let units: u32 = environment.number("RECONCILE_READ_UNITS", 20..=1_000_000)?;
        let meter = ReadMeter::default();
        let status_shards = StatusShards::from_environment(environment)?.0;
        let product_shards = ProductShards::from_environment(environment)?.0;
        let bucket = TokenBucket::new(f64::from(units) * (1.0 - RATE_MARGIN), Duration::ZERO);
        Ok(Self {
            reader: Reader::from_environment(environment)?.metered(&meter),
            sizes: Sizes::of(units, status_shards, product_shards),
            meter,
            bucket: Arc::new(Mutex::new(bucket)),
            start: Instant::now(),
        })
    }
}

impl Reads {
    /// Waits until the expected read units are earned, then reads. If the read consumes more units than expected, the
    /// next read waits for these, too.
    ///
    /// Concurrent reads share the meter, so one may be corrected by the units of another. Together they are right.
    pub(crate) async fn paced<T>(&self, expected: f64, read: impl Future<Output = T>) -> T {
        let now = self.start.elapsed();
        let start = {
            let mut bucket = self.bucket();
            let start = bucket.earliest(expected, now);
            bucket.start(start);
            start
        };
        let wait = start.saturating_sub(now);
        // A sleep takes a millisecond at least.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        let answer = read.await;
        self.bucket().correct(self.meter.take() - expected);
        answer
    }

    fn bucket(&self) -> MutexGuard<'_, TokenBucket> {
        // A poisoned lock can be used: a panic cannot leave the bucket half changed.
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An order with its lines, strongly consistent.
    pub(crate) async fn order(&self, id: &OrderId) -> Result<Option<WholeOrder>, Error> {
        self.paced(1.0, async { self.reader.order(id, Budget::of(ONE_REQUEST)).await }).await
    }

    /// The item's counters; `None` if there is no such item.
    pub(crate) async fn counted(&self, aggregate: &Aggregate) -> Result<Option<Counts>, Error> {
        let reader = &self.reader;
        self.paced(1.0, async {
            let budget = Budget::of(ONE_REQUEST);
            Ok(match aggregate {
                Aggregate::Day(day) => {
                    let key = vec![DayTotals::key_of(day)];
                    reader.batch::<DayTotals>(key, Consistency::Strong, budget).await?.pop().map(Counts::from)
                }
                Aggregate::Customer(id) => {
                    let key = vec![CustomerStats::key_of(id)];
                    reader.batch::<CustomerStats>(key, Consistency::Strong, budget).await?.pop().map(Counts::from)
                }
                Aggregate::Product(id) => {
                    let key = vec![ProductStats::key_of(id)];
                    reader.batch::<ProductStats>(key, Consistency::Strong, budget).await?.pop().map(Counts::from)
                }
            })
        })
        .await
    }

    /// The current headers of these orders. `known` has copies of them that may be out of date.
    ///
    /// An order in a terminal state without an open return is not credited any more, unless a return is requested first.
    /// So such a copy is current, and only the other orders are read, strongly consistent. (A copy that misses both the
    /// request of a return and its receipt would have to be out of date for as long as the goods travel.)
    pub(crate) async fn headers(&self, known: Vec<Order>) -> Result<Vec<Order>, Error> {
        let (mut headers, open): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|order| order.status.is_terminal() && order.returning.is_empty());
        let open: Vec<_> = open.into_iter().map(|order| order.order_id).collect();
        headers.extend(self.batches(&open, Consistency::Strong).await?);
        Ok(headers)
    }

    pub(crate) async fn copies(&self, orders: &[OrderId]) -> Result<Vec<Order>, Error> {
        self.batches(orders, Consistency::Eventual).await
    }

    async fn batches(&self, orders: &[OrderId], consistency: Consistency) -> Result<Vec<Order>, Error> {
        let batches = orders.chunks(self.sizes.batch).map(async |orders| {
            let keys: Vec<_> = orders.iter().map(Order::key_of).collect();
            let each = if consistency == Consistency::Strong { 1.0 } else { 0.5 };
            // At most 100 keys, so the number fits.
            let expected = each * f64::from(u8::try_from(keys.len()).unwrap_or(u8::MAX));
            // The budget begins after the wait.
            let read = async { self.reader.batch::<Order>(keys, consistency, Budget::of(ONE_REQUEST)).await };
            self.paced(expected, read).await
        });
        Ok(try_join_all(batches).await?.into_iter().flatten().collect())
    }
}
