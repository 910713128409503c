//! Reads at no more than the rate that the deployment sets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counting::{Aggregate, Counts};
use key_schema::entity::{CustomerStats, DayTotals, Order, ProductStats};
use key_schema::layout::Consistency;
use key_schema::value::OrderId;
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, ReadMeter, Reader, TokenBucket};
use tokio::time::Instant;

/// The time within which one request is retried.
const ONE_REQUEST: Duration = Duration::from_secs(5);

/// The number of keys in one batch. It is small, so that a batch is not a burst.
const BATCH: usize = 10;

/// The part of the rate that is kept back. Otherwise a second with one request more than its share would exceed the
/// rate.
pub const RATE_MARGIN: f64 = 0.1;

/// A reader with a limit of read units per second.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    pub(crate) reader: Reader,
    meter: ReadMeter,
    bucket: Arc<Mutex<TokenBucket>>,
    start: Instant,
}

impl FromEnvironment for Reads {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let units: u32 = environment.number("RECONCILE_READ_UNITS", 20..=1_000_000)?;
        let meter = ReadMeter::default();
        let bucket = TokenBucket::new(f64::from(units) * (1.0 - RATE_MARGIN), Duration::ZERO);
        Ok(Self {
            reader: Reader::from_environment(environment)?.metered(&meter),
            meter,
            bucket: Arc::new(Mutex::new(bucket)),
            start: Instant::now(),
        })
    }
}

impl Reads {
    /// Waits until the expected read units are earned, then reads. If the read consumes more units than expected, the
    /// next read waits for these, too.
    pub(crate) async fn paced<T>(&self, expected: f64, read: impl Future<Output = T>) -> T {
        let now = self.start.elapsed();
        let start = {
            let mut bucket = self.bucket();
            let start = bucket.earliest(expected, now);
            bucket.start(start);
            start
        };
        tokio::time::sleep(start.saturating_sub(now)).await;
        let answer = read.await;
        self.bucket().correct(self.meter.take() - expected);
        answer
    }

    fn bucket(&self) -> MutexGuard<'_, TokenBucket> {
        // A poisoned lock can be used: a panic cannot leave the bucket half changed.
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The item's counters; `None` if there is no such item.
    pub(crate) async fn counted(&self, aggregate: &Aggregate) -> Result<Option<Counts>, Error> {
        let budget = Budget::of(ONE_REQUEST);
        let reader = &self.reader;
        self.paced(1.0, async {
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

    /// The headers of these orders by an eventually consistent read.
    pub(crate) async fn copies(&self, orders: &[OrderId]) -> Result<Vec<Order>, Error> {
        self.batches(orders, Consistency::Eventual).await
    }

    async fn batches(&self, orders: &[OrderId], consistency: Consistency) -> Result<Vec<Order>, Error> {
        let mut headers = Vec::with_capacity(orders.len());
        for orders in orders.chunks(BATCH) {
            let keys: Vec<_> = orders.iter().map(Order::key_of).collect();
            let each = if consistency == Consistency::Strong { 1.0 } else { 0.5 };
            // At most ten keys, so the number fits.
            let expected = each * f64::from(u8::try_from(keys.len()).unwrap_or(u8::MAX));
            let read = self.reader.batch::<Order>(keys, consistency, Budget::of(ONE_REQUEST));
            headers.extend(self.paced(expected, read).await?);
        }
        Ok(headers)
    }
}
