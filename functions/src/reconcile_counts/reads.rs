//! Reading, no faster than the deployment says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counting::{Aggregate, Counts};
use key_schema::entity::{CustomerStats, DayTotals, Order, ProductStats};
use key_schema::layout::Consistency;
use key_schema::value::OrderId;
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, ReadMeter, Reader, TokenBucket};
use tokio::time::Instant;

/// How long one request may be tried again.
const ONE_REQUEST: Duration = Duration::from_secs(5);

/// So many keys are read in one batch, so that none is a burst.
const BATCH: usize = 10;

/// Of the rate so much is kept back: a second that holds one request more than its share would otherwise be above it.
pub const KEPT_BACK: f64 = 0.1;

/// A reader with a budget of read units for each second.
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
        let bucket = TokenBucket::new(f64::from(units) * (1.0 - KEPT_BACK), Duration::ZERO);
        Ok(Self {
            reader: Reader::from_environment(environment)?.metered(&meter),
            meter,
            bucket: Arc::new(Mutex::new(bucket)),
            start: Instant::now(),
        })
    }
}

impl Reads {
    /// Reads when what is expected to be consumed is earned. What is consumed beyond that is earned before the next.
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
        // It is whole after every call.
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the counters of the item say, if it is there.
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

    /// The headers of orders as they are now, given what is known of them.
    ///
    /// An order whose way is over changes no more, so whatever copy of it says so is as good as a strong read, at
    /// half the price or none.
    pub(crate) async fn headers(&self, known: Vec<Order>) -> Result<Vec<Order>, Error> {
        let (mut headers, open): (Vec<_>, Vec<_>) = known.into_iter().partition(|order| order.status.is_terminal());
        let open: Vec<_> = open.into_iter().map(|order| order.order_id).collect();
        headers.extend(self.batches(&open, Consistency::Strong).await?);
        Ok(headers)
    }

    /// The headers of these orders, as some copy of the table has them.
    pub(crate) async fn copies(&self, orders: &[OrderId]) -> Result<Vec<Order>, Error> {
        self.batches(orders, Consistency::Eventual).await
    }

    async fn batches(&self, orders: &[OrderId], consistency: Consistency) -> Result<Vec<Order>, Error> {
        let mut headers = Vec::with_capacity(orders.len());
        for orders in orders.chunks(BATCH) {
            let keys: Vec<_> = orders.iter().map(Order::key_of).collect();
            let each = if consistency == Consistency::Strong { 1.0 } else { 0.5 };
            // At most ten.
            let expected = each * f64::from(u8::try_from(keys.len()).unwrap_or(u8::MAX));
            let read = self.reader.batch::<Order>(keys, consistency, Budget::of(ONE_REQUEST));
            headers.extend(self.paced(expected, read).await?);
        }
        Ok(headers)
    }
}
