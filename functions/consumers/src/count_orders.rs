//! DynamoDB stream: counts the orders.
//!
//! The crate `counting` keeps the counts exact, however often records are delivered. This module makes the reads and
//! writes for it, and answers Lambda.
//!
//! - If a batch cannot be counted to its end now, Lambda delivers it again from the first record that is not counted.
//! - If transactions meet those of other shards twice, the rest of the batch is parked: its counts are put into items of its
//!   own. Then this consumer folds what it and others have parked, or waits until another one has folded it.
//! - If a record can never be counted, it alone is given up: it is sent to the queue of lost records, and the
//!   checkpoint moves past it together with the records behind it. If the queue does not accept it, Lambda delivers it
//!   again.

mod counter;
mod folder;
mod replay;

use std::mem::take;
use std::time::{Duration, SystemTime};

use aws_lambda_events::event::dynamodb::TimeWindowEventResponse;
use aws_lambda_events::event::streams::DynamoDbBatchItemFailure;
use counting::{Change, Progress, Record, Uncountable};
use key_schema::access::Access;
use key_schema::entity::{CustomerStats, DayTotals, FoldLease, ParkedCounts, ProductStats, StreamCheckpoint};
use key_schema::layout::{COUNTS_PARKED, PRODUCTS_OF_ORDER};
use key_schema::value::SequenceNumber;
use lambda::{Error, Grant};
use stream::{Batch, Delivered};
use table::Budget;
use tracing::{error, info};

pub use counter::Counter;
pub use folder::Folder;
pub use replay::{GivenUp, Recounted, Recounter};

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[&[
    Access::batch_get::<StreamCheckpoint>(),
    Access::query(PRODUCTS_OF_ORDER),
    Access::put::<StreamCheckpoint>().in_transactions(),
    Access::update::<CustomerStats>().in_transactions(),
    Access::update::<ProductStats>().in_transactions(),
    Access::update::<DayTotals>().in_transactions(),
    Access::put::<ParkedCounts>().in_transactions(),
    Access::exists::<ParkedCounts>(),
    Access::batch_get::<FoldLease>(),
    Access::put::<FoldLease>(),
    Access::delete::<FoldLease>(),
    Access::query(COUNTS_PARKED),
    Access::delete::<ParkedCounts>().in_transactions(),
]];

/// The function's permissions on the stream, on the queue of lost records, and on the bucket of lost batches. The
/// permission to list a bucket is one of those that Lambda needs to put an object there.
pub const GRANTS: &[Grant] = &[
    stream::READ[0],
    stream::READ[1],
    Grant::new(&["sqs:SendMessage"], "LostCounts"),
    Grant::new(&["s3:ListBucket"], "LostCountsBucket"),
    Grant::new(&["s3:PutObject"], "LostCountsBucket/aws/lambda/*"),
];

/// The key of the shard's checkpoint in a window's state.
const CHECKPOINT: &str = "checkpoint";

const NO_SHARD: &str = "the event names no shard: set TumblingWindowInSeconds on the event source, or SINGLE_STREAM_SHARD if \
                        the stream has one shard forever";

pub async fn handle(counter: Counter, event: Batch, time: Duration) -> Result<TimeWindowEventResponse, Error> {
    let mut delivered = event.records;
    let shard = event.shard_id.or_else(|| counter.only_shard.clone()).ok_or(NO_SHARD)?;
    let told = event.state.get(CHECKPOINT).and_then(|text| serde_json::from_str::<StreamCheckpoint>(text).ok());
    let mut known = told.filter(|known| known.shard_id == shard).or_else(|| counter.remembered(&shard));
    let hint = known.as_ref().map(|known| known.mark.clone());
    let age = delivered.last().map(age).unwrap_or_default();

    let mut batch = counting::Batch::new(delivered.iter_mut().map(record).collect(), hint);
    batch = batch.with_most_counters(counter.most_counters()).in_zone(counter.zone.clone());
    let outcome = counter.count(&shard, &mut batch, &delivered, &mut known, Budget::of(time)).await;

    let Progress { applied, skipped, given_up, steps, parked } = batch.progress();
    let (records, iterator_age_ms) = (delivered.len(), age.as_millis());
    info!(records, applied, skipped, given_up, steps, parked, iterator_age_ms, "counted");
    let mut response = TimeWindowEventResponse::default();
    if let Some(known) = known {
        let state = &mut response.time_window_event_response_properties.state;
        state.insert(CHECKPOINT.to_owned(), serde_json::to_string(&known)?);
        counter.remember(&known);
    }
    if let Err(error) = outcome {
        error!(cause = lambda::chain(&*error), "a batch is not counted to its end");
        response.batch_item_failures.extend(batch.first_left().map(failure));
    }
    Ok(response)
}

/// Converts a delivered record for counting, and takes its images.
fn record(delivered: &mut Delivered) -> Record {
    let change = match &mut delivered.record {
        Ok(record) => Change::read(&record.name, record.written_at, take(&mut record.old), take(&mut record.new)),
        Err(error) => Err(Uncountable::Record(error.to_string())),
    };
    Record { number: delivered.number.clone(), change }
}

fn age(delivered: &Delivered) -> Duration {
    let written_at = delivered.record.as_ref().map_or(0, |record| record.written_at.as_second());
    let since_1970 = Duration::from_secs(u64::try_from(written_at).unwrap_or_default());
    (SystemTime::UNIX_EPOCH + since_1970).elapsed().unwrap_or_default()
}

fn failure(number: &SequenceNumber) -> DynamoDbBatchItemFailure {
    let mut failure = DynamoDbBatchItemFailure::default();
    failure.item_identifier = Some(number.to_string());
    failure
}
