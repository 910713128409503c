//! SQS: places the orders that wait in the queue, no faster than the deployment says.
//!
//! Whatever a message's delivery looks like (twice, late, out of order, after a crash), it is placed by the same
//! transaction as an order that did not wait, whose first condition is that it is not there yet. So nothing here
//! has to remember what was done.
//!
//! - A message that is done with, placed or rejected for a reason that GET shows, is gone.
//! - A message that must wait, because there is no capacity or no time left, is hidden for a while and comes back:
//!   the queue's own count of receipts is no measure of poison here, and its limit is days out of a waiting
//!   message's reach.
//! - A message whose work fails is sent again with one failure more to its name, and after five failures is a dead
//!   letter. One that no release can have written is one at once; one that another release may have written waits for
//!   that release for a day. The reason is with it and in the log, and its order shows as delayed.
//! - A message whose order nobody accepted is a dead letter after a minute: its sender died, or was refused by the table.

mod drain;
mod pace;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use key_schema::access::Access;
use lambda::{Error, Grant, Measure};
use queue::{Delay, FAILURES, Message, Received};
use tokio::time::Instant;
use tracing::{error, info, warn};

pub use drain::Drain;
use drain::{Batch, Fate};

/// What it asks of the table.
pub const ACCESS: &[&[Access]] = &[ordering::PLACE, ordering::PLACE_WAITING];

/// What it asks of the queues.
pub const GRANTS: &[Grant] = &[
    Grant::new(
        &[
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
            "sqs:SendMessage",
        ],
        "!GetAtt WriteQueue.Arn",
    ),
    Grant::new(&["sqs:SendMessage"], "!GetAtt DeadLetters.Arn"),
];

/// A message whose work has failed so often is a dead letter.
const MOST_FAILURES: u32 = 5;

/// So many orders are under way at once in one environment, so that the rate holds although each takes its time.
const AT_A_TIME: usize = 4;

/// How many messages the event source passes on at a time.
const BATCH: u32 = 10;

/// Kept back of the function's time, to send on what failed and to postpone what waits.
const SENDING: Duration = Duration::from_secs(4);

/// How long a message waits after its work failed, the first time.
const FAILED: Delay = Delay::of_first(Duration::from_secs(30));

pub async fn handle(drain: Drain, event: SqsEvent, time: Duration) -> Result<SqsBatchResponse, Error> {
    let begin = Instant::now();
    let end = begin + time.saturating_sub(SENDING);
    let batch = Batch {
        end,
        all_wait: AtomicBool::new(false),
        is_denied: AtomicBool::new(false),
        longest_wait: AtomicU64::new(0),
    };
    let (drain, batch) = (&drain, &batch);
    let outcomes = stream::iter(event.records.into_iter().map(received)).map(async |message| {
        let work = AssertUnwindSafe(drain.one(&message, batch)).catch_unwind();
        let fate = work.await.unwrap_or_else(|_| Fate::Failed("it made this function panic".to_owned()));
        let outcome = settle(drain, &message, fate).await;
        (message, outcome)
    });

    let mut response = SqsBatchResponse::default();
    let (mut done, mut retried, mut dead, mut waiting) = (0, 0, 0, Vec::new());
    for (message, outcome) in outcomes.buffer_unordered(AT_A_TIME).collect::<Vec<_>>().await {
        match outcome {
            Outcome::Done => done += 1,
            Outcome::Retried => retried += 1,
            Outcome::Buried => dead += 1,
            Outcome::HiddenFor(delay) => {
                response.add_failure(&message.id);
                waiting.push((message, delay));
            }
            Outcome::Stays => response.add_failure(&message.id),
        }
    }
    let longest_wait = batch.longest_wait.load(Relaxed);
    info!(done, retried, dead, waiting = waiting.len(), longest_wait, "drained");
    lambda::metrics(&[
        ("OrdersDrained", Measure::Count(done)),
        ("OrdersRetried", Measure::Count(retried)),
        ("OrdersBuried", Measure::Count(dead)),
        ("OrdersPostponed", Measure::Count(waiting.len() as u64)),
        ("LongestWait", Measure::Seconds(longest_wait)),
        ("DrainDenied", Measure::Count(batch.is_denied.load(Relaxed).into())),
    ]);
    drain.source.postpone(&waiting).await;
    tokio::time::sleep_until(end.min(begin + round(drain.shortest_round, waiting.len()))).await;
    Ok(response)
}

/// How long an invocation lasts at least that puts off so many messages: ten in a whole round.
fn round(whole: Duration, put_off: usize) -> Duration {
    whole * u32::try_from(put_off).unwrap_or(u32::MAX) / BATCH
}

/// What becomes of a message in the queue.
enum Outcome {
    /// Lambda deletes it: there is nothing left to do.
    Done,
    /// Lambda deletes it: it was sent again, to be tried again.
    Retried,
    /// Lambda deletes it: it was sent on, as a dead letter.
    Buried,
    /// It comes back after this time.
    HiddenFor(Duration),
    /// It comes back when the queue's visibility timeout ends.
    Stays,
}

/// Sends on what failed.
async fn settle(drain: &Drain, message: &Received, fate: Fate) -> Outcome {
    let id = &message.id;
    let (sent, outcome) = match fate {
        Fate::Done => return Outcome::Done,
        Fate::Waits(delay) => return Outcome::HiddenFor(delay),
        Fate::Failed(why) if message.failures + 1 < MOST_FAILURES => {
            warn!(message_id = id, why, "failed, and will be tried again");
            (drain.source.retry(message, FAILED).await, Outcome::Retried)
        }
        Fate::Failed(why) | Fate::Dead(why) => {
            error!(message_id = id, why, "dead letter");
            drain.tell_of_delay(message).await;
            (drain.source.bury(message, &why).await, Outcome::Buried)
        }
    };
    if let Err(error) = sent {
        error!(message_id = id, cause = lambda::chain(&error), "stays in the queue");
        return Outcome::Stays;
    }
    outcome
}

fn received(record: SqsMessage) -> Received {
    let told = record.message_attributes.into_iter();
    let attributes: BTreeMap<_, _> = told.filter_map(|(name, value)| Some((name, value.string_value?))).collect();
    let failures = attributes.get(FAILURES).and_then(|failures| failures.parse().ok());
    let times = record.attributes.get("ApproximateReceiveCount");
    let sent_at = record.attributes.get("SentTimestamp");
    Received {
        id: record.message_id.unwrap_or_default(),
        receipt_handle: record.receipt_handle.unwrap_or_default(),
        message: Message { body: record.body.unwrap_or_default(), attributes },
        sent_at: sent_at.and_then(|sent_at| sent_at.parse().ok()),
        times: times.and_then(|times| times.parse().ok()).unwrap_or(1),
        failures: failures.unwrap_or(0),
    }
}
