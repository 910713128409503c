//! SQS: copies or compares the items of one segment of a run, while the shop migrates from one table to another.
//!
//! A message names a run and a segment (`copying::Assignment`). The function works on that segment until shortly before
//! its time is over, and then sends the same message again. So work that goes on for hours consists of short invocations,
//! and a message that fails five times in a row has had no success in between.
//!
//! - The progress of the segment is in the table. So a message that comes late, or after the segment is done, does
//!   nothing; and after a crash the work goes on after the last page that was saved.
//! - If two messages have the same segment, both invocations do the same page, and one of them saves it. The other one ends
//!   and sends nothing. So messages do not multiply.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use copying::{Assignment, Copier, Pace};
use key_schema::access::Access;
use lambda::{Environment, Error, FromEnvironment, Grant, Misconfigured};
use queue::{Message, Queue};
use table::Pairs;
use tokio::time::Instant;
use tracing::{error, info};

/// The function's access to the tables.
pub const ACCESS: &[&[Access]] = copying::COPY;

/// The function's permissions: the only one to scan a table, and those on its queue.
pub const GRANTS: &[Grant] = &[
    Grant::new(&["dynamodb:Scan"], "Table"),
    Grant::new(&["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage", "sqs:SendMessage"], "CopyQueue"),
];

/// With less time left, no further page is begun.
const ONE_PAGE: Duration = Duration::from_mins(1);

/// The function's dependencies.
#[derive(Clone, Debug)]
pub struct Copying {
    copier: Copier,
    queue: Queue,
}

impl FromEnvironment for Copying {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let (pairs, pace) = <(Pairs, Pace)>::from_environment(environment)?;
        Ok(Self { copier: Copier::new(pairs, pace), queue: Queue::named(environment, "COPY_QUEUE_URL")? })
    }
}

/// Works on the segments that the messages name: the event source sends one at a time. A message that fails comes back
/// after its visibility timeout, and in the end goes to the dead-letter queue.
pub async fn handle(copying: Copying, event: SqsEvent, time: Duration) -> Result<SqsBatchResponse, Error> {
    let until = Instant::now() + time.saturating_sub(ONE_PAGE);
    let mut response = SqsBatchResponse::default();
    for message in event.records {
        if let Err(cause) = copying.work_on(message.body.as_deref().unwrap_or_default(), until).await {
            error!(body = message.body, cause = lambda::chain(&*cause), "a segment is not worked on");
            response.add_failure(message.message_id.unwrap_or_default());
        }
    }
    Ok(response)
}

impl Copying {
    async fn work_on(&self, body: &str, until: Instant) -> Result<(), Error> {
        let assignment = Assignment::of_message(body)?;
        let Assignment { run, segment } = assignment;
        let Some(progress) = self.copier.progress_of(assignment).await? else {
            info!(run, segment, "nothing is left to do");
            return Ok(());
        };
        let progress = match self.copier.clone().work(progress, Some(until), |_| {}).await {
            Ok(progress) => progress,
            Err(error @ copying::Error::Superseded) => {
                info!(run, segment, cause = %error, "no longer worked on here");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        info!(run, segment, pages = progress.pages, items = progress.items, done = progress.is_done, "worked on");
        if !progress.is_done {
            self.queue.send(&Message { body: assignment.message(), attributes: BTreeMap::new(), group: None }).await?;
        }
        Ok(())
    }
}
