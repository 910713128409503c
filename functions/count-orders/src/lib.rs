//! DynamoDB stream: counts the orders.
//!
//! How the counts stay exact, whatever is delivered however often: the crate `counting`. Here are its reads and
//! writes, and what Lambda is answered.
//!
//! - A batch that cannot be counted to its end now is delivered again from its first record that is not counted.
//! - A record that can never be counted fails the function once it comes first, so that Lambda splits the batch
//!   until the record is alone, and gives it up alone.

mod counter;
mod event;

use std::time::{Duration, SystemTime};

use aws_lambda_events::event::dynamodb::TimeWindowEventResponse;
use aws_lambda_events::event::streams::DynamoDbBatchItemFailure;
use counting::{Batch, Progress};
use key_schema::value::SequenceNumber;
use lambda::Error;
use table::Budget;
use tracing::{error, info};

pub use counter::Counter;
pub use event::StreamEvent;

/// Under which name a window's state holds the shard's mark.
const MARK: &str = "mark";

const NO_SHARD: &str = "the event names no shard: set TumblingWindowInSeconds on the event source, or SINGLE_STREAM_SHARD if \
                        the stream has one shard for ever";

pub async fn handle(counter: Counter, event: StreamEvent, time: Duration) -> Result<TimeWindowEventResponse, Error> {
    let shard = event.shard_id.or_else(|| counter.only_shard.clone()).ok_or(NO_SHARD)?;
    let count = event.records.len();
    let last = event.records.last().map(|record| SystemTime::from(record.change.approximate_creation_date_time));
    let age = last.and_then(|moment| moment.elapsed().ok()).unwrap_or_default();
    let hint = event.state.get(MARK).and_then(|mark| mark.parse().ok()).or_else(|| counter.remembered(&shard));
    let records = event.records.into_iter().map(event::record).collect::<Result<_, _>>()?;

    let mut batch = Batch::new(records, hint);
    let outcome = counter.count(&shard, &mut batch, Budget::of(time)).await;

    let Progress { applied, skipped, steps } = batch.progress();
    info!(records = count, applied, skipped, steps, iterator_age_ms = age.as_millis(), "counted");
    let mut response = TimeWindowEventResponse::default();
    if let Some(mark) = batch.mark() {
        counter.remember(&shard, mark);
        response.time_window_event_response_properties.state.insert(MARK.to_owned(), mark.to_string());
    }
    match outcome {
        Ok(None) => {}
        Ok(Some(stuck)) => {
            let cause = batch.reason(&stuck).map(|reason| lambda::chain(reason)).unwrap_or_default();
            error!(sequence_number = stuck.as_str(), cause, "cannot be counted");
            if batch.first() == Some(&stuck) {
                return Err(format!("record {stuck} cannot be counted: {cause}").into());
            }
            response.batch_item_failures.push(failure(&stuck));
        }
        Err(error) => {
            error!(cause = lambda::chain(&error), "not counted to the end");
            response.batch_item_failures.extend(batch.first_left().map(failure));
        }
    }
    Ok(response)
}

fn failure(number: &SequenceNumber) -> DynamoDbBatchItemFailure {
    let mut failure = DynamoDbBatchItemFailure::default();
    failure.item_identifier = Some(number.to_string());
    failure
}
