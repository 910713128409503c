//! One message.

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
    meter: Meter,
    pace: Arc<Mutex<Pace>>,
}

impl FromEnvironment for Drain {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let meter = Meter::default();
        Ok(Self {
            orders: Orders::from_environment(environment)?.metered(&meter),
            source: Source::from_environment(environment)?,
            pace: Arc::new(Mutex::new(Pace::from_environment(environment)?)),
            meter,
        })
    }
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
    pub(crate) async fn one(&self, message: &Received, end: Instant) -> Fate {
        let waiting = match Waiting::from_message(&message.body) {
            Ok(waiting) => waiting,
            Err(unreadable) => return Fate::Dead(unreadable.to_string()),
        };
        let order_id = OrderId::of(&waiting.order.customer, &waiting.order.key);
        if !self.may_start(&waiting, end).await {
            return Fate::AllWait;
        }

        let budget = Budget::of(ONE_ORDER.min(end.saturating_duration_since(Instant::now())));
        let outcome = self.place(&waiting, budget).await;
        let consumed = self.meter.take();
        self.pace().take(&consumed);
        let waited = Timestamp::now().as_second() - waiting.queued_at.as_second();
        match outcome {
            Ok(outcome) => {
                self.pace().go_on();
                info!(%order_id, outcome, waited_seconds = waited, write_units = consumed.table, "done");
                Fate::Done
            }
            Err(table::Error::Throttled { by: Throttle::Capacity | Throttle::Account, .. }) => {
                self.pace().pause();
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

    /// Waits until the order may start, if that is in time.
    async fn may_start(&self, waiting: &Waiting, end: Instant) -> bool {
        let expected = waiting.order.basket.write_units();
        loop {
            let wait = self.pace().wait(&expected);
            if Instant::now() + wait + ONE_ORDER > end {
                return false;
            }
            if wait.is_zero() {
                return true;
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Places the order, or writes down why not.
    async fn place(&self, waiting: &Waiting, budget: Budget) -> Result<&'static str, table::Error> {
        match self.orders.place(&waiting.order, budget).await? {
            Placement::Placed(_) => Ok("placed"),
            Placement::Replayed(_) => Ok("was placed"),
            Placement::Rejected(rejection) => {
                self.orders.refuse(waiting, rejection, budget).await?;
                Ok("rejected")
            }
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        // It is whole after every call.
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
