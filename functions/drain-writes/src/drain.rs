//! One message.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use key_schema::value::{OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use ordering::{Orders, Placement, Waiting};
use queue::{Received, Source};
use table::{Budget, Meter, Throttle};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::pace::Pace;

/// What placing one order may take. A message for which less is left is not begun.
const ONE_ORDER: Duration = Duration::from_secs(5);

/// What this function may touch, and what one environment of it remembers: how fast it may go.
#[derive(Clone, Debug)]
pub struct Drain {
    orders: Orders,
    pub(crate) source: Source,
    pace: Arc<Mutex<Pace>>,
}

impl FromEnvironment for Drain {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            orders: Orders::from_environment(environment)?,
            source: Source::from_environment(environment)?,
            pace: Arc::new(Mutex::new(Pace::from_environment(environment)?)),
        })
    }
}

/// What the messages of a batch share.
#[derive(Debug)]
pub(crate) struct Batch {
    /// When the function's time is over.
    pub(crate) end: Instant,
    /// Whether one of them found that all must wait.
    pub(crate) all_wait: AtomicBool,
}

/// What becomes of a message.
pub(crate) enum Fate {
    /// It is done with.
    Done,
    /// It comes back later.
    Waits,
    /// It comes back later, and so does all that follows in its batch: it would fare no better.
    AllWait,
    /// It was not done, for this reason.
    Failed(String),
    /// It will never be done, for this reason.
    Dead(String),
}

impl Drain {
    /// Does what the message asks for, if now is the time.
    pub(crate) async fn one(&self, message: &Received, batch: &Batch) -> Fate {
        let waiting = match Waiting::from_message(&message.body) {
            Ok(waiting) => waiting,
            Err(unreadable) => return Fate::Dead(unreadable.to_string()),
        };
        let order_id = OrderId::of(&waiting.order.customer, &waiting.order.key);
        let expected = waiting.order.basket.write_units();
        let most = batch.end.saturating_duration_since(Instant::now() + ONE_ORDER);
        let Some(wait) = self.pace().reserve(&expected, most) else { return Fate::AllWait };
        tokio::time::sleep(wait).await;
        let meter = Meter::default();
        if batch.all_wait.load(Relaxed) {
            self.pace().settle(&expected, &meter.take());
            return Fate::AllWait;
        }

        let orders = self.orders.clone().metered(&meter);
        let in_time = tokio::time::timeout(ONE_ORDER, place(&orders, &waiting, Budget::of(ONE_ORDER))).await;
        let outcome = in_time.unwrap_or_else(|elapsed| Err(table::Error::Unanswered(elapsed.into())));
        let consumed = meter.take();
        let mut pace = self.pace();
        pace.settle(&expected, &consumed);
        let waited = Timestamp::now().as_second() - waiting.queued_at.as_second();
        match outcome {
            Ok(outcome) => {
                pace.go_on();
                info!(%order_id, outcome, waited_seconds = waited, write_units = consumed.table, "done");
                Fate::Done
            }
            Err(table::Error::Throttled { by: Throttle::Capacity | Throttle::Account, .. }) => {
                pace.pause();
                info!(%order_id, "no capacity");
                Fate::AllWait
            }
            Err(error @ (table::Error::Throttled { .. } | table::Error::Unanswered(_))) => {
                warn!(%order_id, cause = lambda::chain(&error), "not now");
                Fate::Waits
            }
            Err(error) => Fate::Failed(lambda::chain(&error)),
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        // It is whole after every call.
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Places the order, or writes down why not.
async fn place(orders: &Orders, waiting: &Waiting, budget: Budget) -> Result<&'static str, table::Error> {
    match orders.place(&waiting.order, budget).await? {
        Placement::Placed(_) => Ok("placed"),
        Placement::Replayed(_) => Ok("was placed"),
        Placement::Rejected(rejection) => {
            orders.refuse(waiting, rejection, budget).await?;
            Ok("rejected")
        }
    }
}
