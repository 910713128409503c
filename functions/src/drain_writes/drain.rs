//! One message.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use key_schema::entity::Rejection;
use key_schema::value::{OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use ordering::{Orders, Placement, Unreadable, Waiting};
use queue::{Delay, Received, Source};
use table::{Budget, Meter, Throttle, WriteUnits};
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::drain_writes::pace::{ENVIRONMENTS, Pace};

/// What placing one order may take. A message for which less is left is not begun.
const ONE_ORDER: Duration = Duration::from_secs(5);

/// What it may take to tell a customer that an order is delayed: less than is kept back for sending.
const TELLING: Duration = Duration::from_secs(2);

/// How long a message waits for capacity, the first time.
pub(crate) const WAITING: Delay = Delay::of_first(Duration::from_secs(2));

/// How long a message waits for which there was no time left, the first time.
const SOON: Delay = Delay::of_first(Duration::from_secs(1));

/// For so long a message is left to another release, if this one cannot read it: time enough to notice that somebody
/// has rolled back, and to roll forward again.
const OTHER_RELEASE: Duration = Duration::from_hours(24);

/// For so long a request may be at work that has sent its order to the queue and has not written it down as accepted:
/// twice as long as any function that does so has.
const ACCEPTING_SECONDS: u64 = 60;

/// SQS serves no more once 120,000 messages of a queue are hidden: then its pollers get nothing, and what can be placed
/// waits as well. A message that waits for capacity is hidden for 675 seconds in the mean at last, so each environment
/// may put off ten messages in as many times 75 ms as there are environments: together they hide 90,000.
const ROUND_OF_EACH: Duration = Duration::from_millis(75);

/// What this function may touch, and what one environment of it remembers: how fast it may go.
#[derive(Clone, Debug)]
pub struct Drain {
    orders: Orders,
    pub(crate) source: Source,
    pace: Arc<Mutex<Pace>>,
    /// The shortest time in which an environment may put off a whole batch.
    pub(crate) shortest_round: Duration,
}

impl FromEnvironment for Drain {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            orders: Orders::from_environment(environment)?,
            source: Source::from_environment(environment)?,
            pace: Arc::new(Mutex::new(Pace::from_environment(environment)?)),
            shortest_round: ROUND_OF_EACH * environment.number("DRAIN_CONCURRENCY", ENVIRONMENTS)?,
        })
    }
}

/// What the messages of a batch share.
#[derive(Debug)]
pub(crate) struct Batch {
    /// When the work has to be done.
    pub(crate) end: Instant,
    /// Whether one of them found that the others would fare no better.
    pub(crate) all_wait: AtomicBool,
    /// Whether DynamoDB denied a request: a permission or the table is missing.
    pub(crate) is_denied: AtomicBool,
    /// For how many seconds the oldest of their orders has waited.
    pub(crate) longest_wait: AtomicU64,
}

/// What becomes of a message.
pub(crate) enum Fate {
    /// It is done with.
    Done,
    /// It comes back after this time.
    Waits(Duration),
    /// It was not done, for this reason.
    Failed(String),
    /// It will never be done, for this reason.
    Dead(String),
}

impl Drain {
    /// Does what the message asks for, if now is the time.
    pub(crate) async fn one(&self, message: &Received, batch: &Batch) -> Fate {
        let waiting = match Waiting::from_message(&message.message) {
            Ok(waiting) if waiting.is_forgotten(Timestamp::now()) => {
                return Fate::Dead("it waited for so long that nobody is told of it any more".to_owned());
            }
            Ok(waiting) => waiting,
            Err(Unreadable::OtherRelease(why)) if since_sent(message) < OTHER_RELEASE => {
                warn!(message_id = message.id, why, "left to another release");
                batch.longest_wait.fetch_max(since_sent(message).as_secs(), Relaxed);
                return Fate::Waits(WAITING.of(message.times));
            }
            Err(unreadable) => return Fate::Dead(unreadable.to_string()),
        };
        batch.longest_wait.fetch_max(waited_seconds(&waiting), Relaxed);
        let no_capacity = Fate::Waits(WAITING.of(message.times));
        if batch.all_wait.load(Relaxed) {
            return no_capacity;
        }
        let expected = waiting.write_units();
        let most = batch.end.saturating_duration_since(Instant::now() + ONE_ORDER);
        // A smaller one may still be in time.
        let Some(wait) = self.pace().reserve(&expected, most) else { return Fate::Waits(SOON.of(message.times)) };
        tokio::time::sleep(wait).await;
        if batch.all_wait.load(Relaxed) {
            self.pace().settle(&expected, &WriteUnits::default());
            return no_capacity;
        }

        let meter = Meter::default();
        let orders = self.orders.clone().metered(&meter);
        let in_time = tokio::time::timeout(ONE_ORDER, place(&orders, &waiting, Budget::of(ONE_ORDER))).await;
        let outcome = in_time.unwrap_or_else(|elapsed| Err(table::Error::Unanswered(elapsed.into())));
        let mut consumed = meter.take();
        if matches!(outcome, Ok("placed") | Err(table::Error::Unanswered(_))) {
            // A commit whose answer was lost is not reported, and neither is it when its repetition is answered.
            consumed = consumed.max(&expected);
        }
        self.pace().settle(&expected, &consumed);
        self.report(&waiting, message, batch, outcome)
    }

    fn report(&self, waiting: &Waiting, message: &Received, batch: &Batch, outcome: Placed) -> Fate {
        let order_id = OrderId::of(&waiting.order.customer, &waiting.order.key);
        let later = Fate::Waits(WAITING.of(message.times));
        let error = match outcome {
            Ok(MISMATCH) => {
                return Fate::Dead("another request was accepted at this moment under its idempotency key".to_owned());
            }
            Ok(NOT_ACCEPTED | STALE) if waited_seconds(waiting) < ACCEPTING_SECONDS => return later,
            Ok(NOT_ACCEPTED) => {
                let why = "nobody accepted it: redrive it only if the table was restored to a moment before";
                return Fate::Dead(why.to_owned());
            }
            Ok(outcome) => {
                info!(%order_id, outcome, waited_seconds = waited_seconds(waiting), "done");
                self.pace().go_on();
                return Fate::Done;
            }
            Err(error) => error,
        };
        let cause = lambda::chain(&error);
        match &error {
            table::Error::Throttled { by: Throttle::Capacity, .. } => {
                info!(%order_id, cause, "no capacity");
                self.pace().pause();
                batch.all_wait.store(true, Relaxed);
                later
            }
            table::Error::Throttled { by: Throttle::CapacityOrHotKey, .. } => {
                info!(%order_id, cause, "no capacity, or a hot key");
                self.pace().pause();
                later
            }
            // Whatever is asked next would be refused as well, and it is no fault of the message.
            table::Error::Throttled { by: Throttle::Account, .. } | table::Error::Denied(_) => {
                error!(%order_id, cause, "DynamoDB serves nobody");
                batch.is_denied.fetch_or(matches!(error, table::Error::Denied(_)), Relaxed);
                self.pace().pause();
                batch.all_wait.store(true, Relaxed);
                later
            }
            table::Error::Throttled { .. } | table::Error::Unanswered(_) => {
                warn!(%order_id, cause, "not now");
                later
            }
            table::Error::Refused(_)
            | table::Error::Inconsistent(_)
            | table::Error::Item(_)
            | table::Error::Cursor(_) => Fate::Failed(cause),
        }
    }

    /// Tells the customer of a dead letter that the order is delayed. If that cannot be written, it is a dead letter all
    /// the same.
    pub(crate) async fn tell_of_delay(&self, message: &Received) {
        let Ok(waiting) = Waiting::from_message(&message.message) else { return };
        let told = tokio::time::timeout(TELLING, self.orders.delay(&waiting, Budget::of(TELLING))).await;
        if let Err(error) = told.unwrap_or_else(|elapsed| Err(table::Error::Unanswered(elapsed.into()))) {
            warn!(message_id = message.id, cause = lambda::chain(&error), "its customer is not told of the delay");
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        // It is whole after every call.
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long ago it was accepted.
fn waited_seconds(waiting: &Waiting) -> u64 {
    let waited = Timestamp::now().as_second() - waiting.queued_at.as_second();
    // Clocks differ: one that was accepted in the future has not waited.
    u64::try_from(waited).unwrap_or_default()
}

/// For how long the message has been in the queue.
fn since_sent(message: &Received) -> Duration {
    let now = Timestamp::now().as_second();
    let sent_at = message.sent_at.map_or(now, |milliseconds| milliseconds / 1000);
    Duration::from_secs(u64::try_from(now - sent_at).unwrap_or_default())
}

type Placed = Result<&'static str, table::Error>;

const MISMATCH: &str = "is not what was accepted";
const NOT_ACCEPTED: &str = "is not accepted";
const STALE: &str = "is stale";

/// Places the order, or writes down why not.
async fn place(orders: &Orders, waiting: &Waiting, budget: Budget) -> Placed {
    match orders.place_waiting(waiting, budget).await? {
        Placement::Placed(_) => Ok("placed"),
        Placement::Replayed(_) => Ok("was placed"),
        // If its key is another order's, it was never accepted.
        Placement::Void | Placement::Rejected(Rejection::KeyReused) => Ok("is void"),
        Placement::Stale => Ok(STALE),
        Placement::Mismatch => Ok(MISMATCH),
        Placement::NotAccepted => Ok(NOT_ACCEPTED),
        Placement::Rejected(rejection) => {
            Ok(if orders.refuse(waiting, rejection, budget).await? { "rejected" } else { STALE })
        }
        // Only a request that does not come from the queue has these outcomes.
        Placement::Waits(_) | Placement::NoCapacity { .. } => Ok("waits"),
    }
}
