//! SQS: places the orders that wait in the queue, no faster than the deployment says.
//!
//! Whatever a message's delivery looks like (twice, late, out of order, after a crash), it is placed by the same transaction as an
//! order that did not wait, whose first condition is that it is not there yet. So nothing here has to remember what was done.
//!
//! - A message that is done with, placed or rejected for a reason that GET shows, is gone.
//! - A message that must wait, because there is no capacity or no time left, is hidden for a while and comes back: the queue's own
//!   count of receipts is no measure of poison here, and its limit is out of a waiting message's reach.
//! - A message whose work fails is sent again with one failure more to its name, and after [`MOST_FAILURES`] becomes a dead letter. One that
//!   cannot be read becomes one at once. The reason is with it and in the log.

mod drain;
mod pace;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt as _;
use lambda::Error;
use queue::{Delay, FAILURES, Received};
use tokio::time::Instant;
use tracing::{error, info, warn};

pub use drain::Drain;
use drain::Fate;

/// A message whose work has failed so often is a dead letter.
const MOST_FAILURES: u32 = 5;

/// How long a message waits for capacity, the first time.
const WAITING: Delay = Delay::of_first(Duration::from_secs(2));

/// How long a message waits after its work failed, the first time.
const FAILED: Delay = Delay::of_first(Duration::from_secs(30));

pub async fn handle(drain: Drain, event: SqsEvent, time: Duration) -> Result<SqsBatchResponse, Error> {
    let end = Instant::now() + time;
    let mut response = SqsBatchResponse::default();
    let mut waiting = Vec::new();
    let mut messages = event.records.into_iter().map(received);
    while let Some(message) = messages.next() {
        let work = AssertUnwindSafe(drain.one(&message, end)).catch_unwind();
        let sent = match work.await.unwrap_or_else(|_| Fate::Failed("it made this function panic".to_owned())) {
            Fate::Done => Ok(()),
            Fate::Waits => {
                waiting.push(message);
                continue;
            }
            Fate::AllWait => {
                waiting.push(message);
                waiting.extend(messages.by_ref());
                continue;
            }
            Fate::Failed(why) if message.failures + 1 < MOST_FAILURES => {
                warn!(message_id = message.id, why, "failed, and will be tried again");
                drain.source.retry(&message, FAILED).await
            }
            Fate::Failed(why) | Fate::Dead(why) => {
                error!(message_id = message.id, why, "dead letter");
                drain.source.bury(&message, &why).await
            }
        };
        if let Err(error) = sent {
            // What could not be sent on comes back when its visibility timeout ends.
            error!(message_id = message.id, cause = lambda::chain(&error), "stays in the queue");
            response.add_failure(message.id);
        }
    }
    if let Err(error) = drain.source.postpone(&waiting, WAITING).await {
        warn!(cause = lambda::chain(&error), "not postponed");
    }
    info!(waiting = waiting.len(), "drained");
    for message in waiting {
        response.add_failure(message.id);
    }
    Ok(response)
}

fn received(record: SqsMessage) -> Received {
    let failures = record.message_attributes.get(FAILURES).and_then(|count| count.string_value.as_deref());
    let times = record.attributes.get("ApproximateReceiveCount");
    Received {
        id: record.message_id.unwrap_or_default(),
        receipt_handle: record.receipt_handle.unwrap_or_default(),
        body: record.body.unwrap_or_default(),
        times: times.and_then(|times| times.parse().ok()).unwrap_or(1),
        failures: failures.and_then(|failures| failures.parse().ok()).unwrap_or(0),
    }
}
