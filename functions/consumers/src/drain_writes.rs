//! SQS: places the orders that wait in the queue, at no more than the rate that the deployment sets.
//!
//! A message may be delivered twice, late, out of order, or again after a crash. Its order is placed by the same
//! transaction as an order that did not wait, and the first condition of that transaction is that the order does not
//! exist yet. So the drain keeps no record of what it has done.
//!
//! - If an order is placed, or rejected with a reason that `GET /orders/{orderId}` shows, its message is deleted.
//! - If an order must wait, because there is no capacity or no time left, its message is hidden for a while and comes
//!   back. So a high receive count does not mean that the message is poison. The queue's limit of receives is so high
//!   that a message has to wait for days to reach it.
//! - If the work on a message fails, a copy with an increased number of failures is sent to the queue; after five
//!   failures the copy goes to the dead-letter queue. A message that no release can have written goes there at once. A
//!   message that another release may have written first waits a day for that release. The reason is in an attribute of
//!   the dead letter and in the log, and the order shows as delayed.
//! - If an order was not accepted a minute after its message was sent, the message goes to the dead-letter queue: its
//!   request crashed, or could not write to the table.

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
use ordering::OrderMessage;
use queue::{Delay, FAILURES, Message, Received};
use tokio::time::Instant;
use tracing::{error, info, warn};

pub use drain::Drain;
use drain::{Batch, Work};

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[ordering::PLACE, ordering::PLACE_FOR_CUSTOMER, ordering::PLACE_WAITING];

/// The function's permissions on the queues, and on the secret of the tax engine.
pub const GRANTS: &[Grant] = &[
    ordering::READ_TAX_SECRET,
    Grant::new(
        &[
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
            "sqs:SendMessage",
        ],
        "WriteQueue",
    ),
    Grant::new(&["sqs:SendMessage"], "DeadLetters"),
];

/// The number of failures after which a message goes to the dead-letter queue.
const MOST_FAILURES: u32 = 5;

/// The number of orders that one environment places concurrently. One at a time would be slower than the rate allows.
const CONCURRENCY: usize = 4;

/// The number of messages in a batch of the event source.
const BATCH: u32 = 10;

/// The part of the function's time that is reserved for sending failed messages on and postponing the waiting ones.
const SENDING: Duration = Duration::from_secs(4);

/// The backoff of a message whose work failed.
const FAILURE_BACKOFF: Delay = Delay::of_first(Duration::from_secs(30));

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
    let messages = stream::iter(event.records.into_iter().map(received)).map(async |message| {
        let disposition = lambda::trail_of_part(async {
            let work = AssertUnwindSafe(drain.work_on(&message, batch)).catch_unwind().await;
            let work = work.unwrap_or_else(|_| Work::Failed("the function panicked over this message".to_owned()));
            settle(drain, &message, work).await
        });
        let disposition = disposition.await;
        (message, disposition)
    });

    let mut response = SqsBatchResponse::default();
    let (mut done, mut retried, mut dead, mut waiting) = (0, 0, 0, Vec::new());
    for (message, disposition) in messages.buffer_unordered(CONCURRENCY).collect::<Vec<_>>().await {
        match disposition {
            Disposition::Done => done += 1,
            Disposition::Retried => retried += 1,
            Disposition::Buried => dead += 1,
            Disposition::HiddenFor(delay) => {
                response.add_failure(&message.id);
                waiting.push((message, delay));
            }
            Disposition::Stays => response.add_failure(&message.id),
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

/// The shortest duration of an invocation that postpones this number of messages: `whole` for a full batch.
fn round(whole: Duration, put_off: usize) -> Duration {
    whole * u32::try_from(put_off).unwrap_or(u32::MAX) / BATCH
}

/// What happens to a message in the queue.
enum Disposition {
    /// Lambda deletes the message, because its work is done.
    Done,
    /// Lambda deletes the message, because a copy was sent to the queue.
    Retried,
    /// Lambda deletes the message, because a copy was sent to the dead-letter queue.
    Buried,
    /// The message comes back after this time.
    HiddenFor(Duration),
    /// The message comes back when the queue's visibility timeout ends.
    Stays,
}

/// Sends a failed message on, to the queue or to the dead-letter queue.
async fn settle(drain: &Drain, message: &Received, work: Work) -> Disposition {
    let id = &message.id;
    let (sent, disposition) = match work {
        Work::Done => return Disposition::Done,
        Work::Postponed(delay) => return Disposition::HiddenFor(delay),
        Work::Failed(why) if message.failures + 1 < MOST_FAILURES => {
            warn!(message_id = id, why, "a message failed, and is retried");
            (drain.source.retry(message, FAILURE_BACKOFF).await, Disposition::Retried)
        }
        Work::Failed(why) | Work::Impossible(why) => {
            error!(message_id = id, why, "dead letter");
            drain.mark_as_delayed(message).await;
            (drain.source.bury(message, &why).await, Disposition::Buried)
        }
    };
    if let Err(error) = sent {
        error!(message_id = id, cause = lambda::chain(&error), "cannot be sent on, stays in the queue");
        return Disposition::Stays;
    }
    disposition
}

fn received(record: SqsMessage) -> Received {
    let told = record.message_attributes.into_iter();
    let attributes: BTreeMap<_, _> = told.filter_map(|(name, value)| Some((name, value.string_value?))).collect();
    let failures = attributes.get(FAILURES).and_then(|failures| failures.parse().ok());
    let body = record.body.unwrap_or_default();
    let times = record.attributes.get("ApproximateReceiveCount");
    let sent_at = record.attributes.get("SentTimestamp");
    Received {
        id: record.message_id.unwrap_or_default(),
        receipt_handle: record.receipt_handle.unwrap_or_default(),
        message: Message { group: OrderMessage::group_of(&body), body, attributes },
        sent_at: sent_at.and_then(|sent_at| sent_at.parse().ok()),
        times: times.and_then(|times| times.parse().ok()).unwrap_or(1),
        failures: failures.unwrap_or(0),
    }
}
