//! Placing the order of one message.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use key_schema::entity::Rejection;
use key_schema::value::{OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use ordering::{OrderMessage, Orders, PlacingOutcome, TaxEngineError, UnreadableMessage};
use queue::{Delay, Received, Source};
use table::{Budget, Meter, Throttle, WriteUnits};
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::drain_writes::pace::{ENVIRONMENTS, Pace};

/// The time limit for placing one order. With less time left, no further message is begun.
const ONE_ORDER: Duration = Duration::from_secs(5);

/// The time limit for marking an order as delayed. It is shorter than the time reserved for sending messages.
const MARK_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) const CAPACITY_BACKOFF: Delay = Delay::of_first(Duration::from_secs(2));

/// The backoff of a message for which there was not enough time left.
const TIME_BACKOFF: Delay = Delay::of_first(Duration::from_secs(1));

/// The time for which a message that this release cannot read is left to another release: long enough to notice that
/// the shop was rolled back, and to roll forward again.
const OTHER_RELEASE: Duration = Duration::from_hours(24);

/// The age at which an order without an acceptance in the table counts as not accepted, in seconds. A request sends the
/// message before it writes the acceptance; this is twice the time limit of any function that does so.
const ACCEPTING_SECONDS: u64 = 60;

/// The shortest duration, for each of the environments, of an invocation that postpones a full batch.
///
/// SQS delivers nothing more from a queue with 120,000 hidden messages, so even orders that could be placed would wait.
/// A message that waits for capacity is in the end hidden for 675 seconds on average. If each of N environments
/// postpones ten messages in N × 75 ms, they hide 90,000 messages together.
const ROUND_PER_ENVIRONMENT: Duration = Duration::from_millis(75);

/// The function's dependencies, and the pace of this execution environment.
#[derive(Clone, Debug)]
pub struct Drain {
    orders: Orders,
    pub(crate) source: Source,
    pace: Arc<Mutex<Pace>>,
    /// The shortest duration of an invocation that postpones a full batch.
    pub(crate) shortest_round: Duration,
}

impl FromEnvironment for Drain {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            orders: Orders::from_environment(environment)?,
            source: Source::from_environment(environment)?,
            pace: Arc::new(Mutex::new(Pace::from_environment(environment)?)),
            shortest_round: ROUND_PER_ENVIRONMENT * environment.number("DRAIN_CONCURRENCY", ENVIRONMENTS)?,
        })
    }
}

/// The state that the messages of a batch share.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The moment at which the work must be done.
    pub(crate) end: Instant,
    /// Whether a message found that no other message's order can be placed now either.
    pub(crate) all_wait: AtomicBool,
    /// Whether DynamoDB denied a request: a permission or the table is missing.
    pub(crate) is_denied: AtomicBool,
    /// The seconds for which the oldest of their orders has waited.
    pub(crate) longest_wait: AtomicU64,
}

/// The result of the work on a message.
pub(crate) enum Work {
    /// The work is done.
    Done,
    /// The message has to wait for this time.
    Postponed(Duration),
    /// The work failed, for this reason. A retry may succeed.
    Failed(String),
    /// The work can never succeed, for this reason.
    Impossible(String),
}

/// What became of the order of a message.
#[derive(Clone, Debug)]
enum Outcome {
    Placed,
    /// An earlier delivery, or the request itself, placed it.
    PlacedBefore,
    Rejected,
    /// An earlier delivery refused it; or its key belongs to another order, so it was never accepted.
    RefusedBefore,
    /// The table holds another acceptance than the message's, whose own may not be written yet.
    OtherAcceptance,
    /// The table holds no acceptance. It may not be written yet.
    NotAccepted,
    /// The message holds another request than the one that was accepted.
    Mismatch,
    /// The shop's tax engine did not answer with the taxes.
    Untaxed(TaxEngineError),
}

impl Drain {
    /// Places the message's order, unless it has to wait.
    pub(crate) async fn work_on(&self, message: &Received, batch: &Batch) -> Work {
        let waiting = OrderMessage::from_message(&message.message);
        if let Ok(OrderMessage { request, request_id, .. }) = &waiting {
            lambda::note("order_id", OrderId::of(&request.customer, &request.key).as_str());
            if let Some(id) = request_id {
                lambda::note_request(id);
            }
        }
        let waiting = match waiting {
            Ok(waiting) if waiting.is_forgotten(Timestamp::now()) => {
                return Work::Impossible("the order waited until its item in the table expired".to_owned());
            }
            Ok(waiting) => waiting,
            Err(UnreadableMessage::OtherRelease(why)) if since_sent(message) < OTHER_RELEASE => {
                warn!(message_id = message.id, why, "left to another release");
                batch.longest_wait.fetch_max(since_sent(message).as_secs(), Relaxed);
                return Work::Postponed(CAPACITY_BACKOFF.of(message.times));
            }
            Err(unreadable) => return Work::Impossible(unreadable.to_string()),
        };
        batch.longest_wait.fetch_max(waited_seconds(&waiting), Relaxed);
        let no_capacity = Work::Postponed(CAPACITY_BACKOFF.of(message.times));
        if batch.all_wait.load(Relaxed) {
            return no_capacity;
        }
        let expected = waiting.write_units();
        let most = batch.end.saturating_duration_since(Instant::now() + ONE_ORDER);
        // Only this message waits: a smaller order may still be in time.
        let Some(wait) = self.pace().reserve(&expected, most) else {
            return Work::Postponed(TIME_BACKOFF.of(message.times));
        };
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
        if matches!(outcome, Ok(Outcome::Placed) | Err(table::Error::Unanswered(_))) {
            // If the answer to a commit is lost, its consumption is never reported, not even in the answer to a retry.
            consumed = consumed.max(&expected);
        }
        self.pace().settle(&expected, &consumed);
        self.report(&waiting, message, batch, outcome)
    }

    fn report(
        &self,
        waiting: &OrderMessage,
        message: &Received,
        batch: &Batch,
        outcome: Result<Outcome, table::Error>,
    ) -> Work {
        let later = Work::Postponed(CAPACITY_BACKOFF.of(message.times));
        let error = match outcome {
            Ok(Outcome::Mismatch) => {
                let why = "another request was accepted at this moment under its idempotency key";
                return Work::Impossible(why.to_owned());
            }
            Ok(Outcome::NotAccepted | Outcome::OtherAcceptance) if waited_seconds(waiting) < ACCEPTING_SECONDS => {
                return later;
            }
            Ok(Outcome::NotAccepted) => {
                let why = "nobody accepted it: redrive it only if the table was restored to a moment before";
                return Work::Impossible(why.to_owned());
            }
            // An engine that fails says nothing about the order, also if it refuses: no order is lost over it.
            Ok(Outcome::Untaxed(untaxed)) => {
                warn!(cause = lambda::chain(&untaxed), "the order cannot be taxed now");
                return later;
            }
            Ok(outcome) => {
                info!(?outcome, waited_seconds = waited_seconds(waiting), "done");
                self.pace().go_on();
                return Work::Done;
            }
            Err(error) => error,
        };
        let cause = lambda::chain(&error);
        match &error {
            table::Error::Throttled { by: Throttle::Capacity, .. } => {
                info!(cause, "no capacity");
                self.pace().pause();
                batch.all_wait.store(true, Relaxed);
                later
            }
            table::Error::Throttled { by: Throttle::CapacityOrHotKey, .. } => {
                info!(cause, "no capacity, or a hot key");
                self.pace().pause();
                later
            }
            // DynamoDB would refuse every other request as well, and the message is not the cause.
            table::Error::Throttled { by: Throttle::Account, .. } | table::Error::Denied(_) | table::Error::NoTable => {
                error!(cause, "DynamoDB refuses all requests");
                batch.is_denied.fetch_or(!matches!(error, table::Error::Throttled { .. }), Relaxed);
                self.pace().pause();
                batch.all_wait.store(true, Relaxed);
                later
            }
            table::Error::Throttled { .. } | table::Error::Unanswered(_) => {
                warn!(cause, "the order cannot be placed now");
                later
            }
            table::Error::Refused(_)
            | table::Error::Inconsistent(_)
            | table::Error::Item(_)
            | table::Error::Cursor(_) => Work::Failed(cause),
        }
    }

    /// Marks the order of a dead letter as delayed, so that its customer learns of it. If that fails, the message
    /// becomes a dead letter all the same.
    pub(crate) async fn mark_as_delayed(&self, message: &Received) {
        let Ok(waiting) = OrderMessage::from_message(&message.message) else { return };
        let told = tokio::time::timeout(MARK_TIMEOUT, self.orders.delay(&waiting, Budget::of(MARK_TIMEOUT))).await;
        if let Err(error) = told.unwrap_or_else(|elapsed| Err(table::Error::Unanswered(elapsed.into()))) {
            warn!(message_id = message.id, cause = lambda::chain(&error), "the order is not marked as delayed");
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        // A poisoned lock can be used: a panic cannot leave the pace half changed.
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn waited_seconds(waiting: &OrderMessage) -> u64 {
    let waited = Timestamp::now().as_second() - waiting.queued_at.as_second();
    // Clocks differ. An order that seems to be accepted in the future has not waited.
    u64::try_from(waited).unwrap_or_default()
}

fn since_sent(message: &Received) -> Duration {
    let now = Timestamp::now().as_second();
    let sent_at = message.sent_at.map_or(now, |milliseconds| milliseconds / 1000);
    Duration::from_secs(u64::try_from(now - sent_at).unwrap_or_default())
}

/// Places the order, or writes the reason why it is rejected.
async fn place(orders: &Orders, waiting: &OrderMessage, budget: Budget) -> Result<Outcome, table::Error> {
    Ok(match orders.place_waiting(waiting, budget).await? {
        PlacingOutcome::Placed(_) => Outcome::Placed,
        PlacingOutcome::Replayed(_) => Outcome::PlacedBefore,
        PlacingOutcome::RefusedBefore | PlacingOutcome::Rejected(Rejection::KeyReused) => Outcome::RefusedBefore,
        PlacingOutcome::OtherAcceptance => Outcome::OtherAcceptance,
        PlacingOutcome::Mismatch => Outcome::Mismatch,
        PlacingOutcome::NotAccepted => Outcome::NotAccepted,
        PlacingOutcome::Untaxed(untaxed) => Outcome::Untaxed(untaxed),
        PlacingOutcome::Rejected(rejection) => {
            let is_own = orders.refuse(waiting, rejection, budget).await?;
            if is_own { Outcome::Rejected } else { Outcome::OtherAcceptance }
        }
        PlacingOutcome::AlreadyQueued(_) | PlacingOutcome::Waits { .. } => {
            return Err(table::Error::Inconsistent("an order from the queue was told to wait in the queue"));
        }
    })
}
