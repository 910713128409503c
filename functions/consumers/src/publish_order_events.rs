//! DynamoDB stream: publishes what happens to orders, products and customers on an EventBridge bus.
//!
//! - At least once: the response names the first record whose event may not be on the bus, and Lambda delivers again
//!   from there. A receiver recognizes duplicates by the event's id, which is a pure function of the change.
//! - Ordered per order, per product and per customer: an event is published only after EventBridge accepted the earlier ones of its
//!   subject.
//! - If a record can never be published, it alone is given up: it is sent to the queue of lost records, and the records
//!   behind it are published. If the queue does not accept it, the records behind it wait for the next delivery.

mod batch;
mod bus;

use std::time::Duration;

use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use catalogue::FewLeft;
use key_schema::access::Access;
use key_schema::layout::PRODUCTS_OF_ORDER;
use key_schema::value::SequenceNumber;
use lambda::{Budget, Error, Grant};
use order_events::next_call;
use stream::LostRecords;
use table::Reader;
use tokio::time::timeout;
use tracing::info;

use batch::{Batch, Finished};
pub use bus::Bus;

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[&[Access::query(PRODUCTS_OF_ORDER)]];

/// The function's permissions on the bus, on the stream, on the queue of lost records, and on the bucket of lost batches.
/// The permission to list a bucket is one of those that Lambda needs to put an object there.
pub const GRANTS: &[Grant] = &[
    Grant::new(&["events:PutEvents"], "OrderEvents")
        .only("events:source", &["till.orders", "till.products", "till.customers"]),
    stream::READ[0],
    stream::READ[1],
    Grant::new(&["sqs:SendMessage"], "LostEvents"),
    Grant::new(&["s3:ListBucket"], "LostEventsBucket"),
    Grant::new(&["s3:PutObject"], "LostEventsBucket/aws/lambda/*"),
];

/// What publishing takes.
#[derive(Clone, Debug)]
pub struct Publisher {
    bus: Bus,
    table: Reader,
    few_left: FewLeft,
}

lambda::from_environment!(Publisher { bus, table, few_left });

pub async fn handle(
    (Publisher { bus, table, few_left }, lost): (Publisher, LostRecords),
    event: stream::Batch,
    time: Duration,
) -> Result<DynamoDbEventResponse, Error> {
    let mut batch = Batch::new(event.records, few_left);
    let work = async {
        batch.read_lines(&table).await;
        batch.give_up(&lost).await;
        publish(&bus, &mut batch, Budget::of(time)).await;
    };
    // If the timeout interrupts a call, the call may or may not take effect, so its events stay in the batch.
    _ = timeout(time, work).await;
    let Finished { published, given_up } = batch.finished();
    info!(published, given_up, waiting = batch.unfinished(), "order events published");

    let mut response = DynamoDbEventResponse::default();
    if let Some(number) = batch.first_left() {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(number.to_string());
        response.batch_item_failures.push(failure);
    }
    Ok(response)
}

/// The result of publishing records that were given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The number of events that the bus accepted.
    pub published: usize,
    /// The records that can never be published by this release, with the reason.
    pub unreadable: Vec<(SequenceNumber, String)>,
    /// The number of events that the bus did not accept in time, or whose orders could not be read.
    pub waiting: usize,
}

impl Replayed {
    /// Adds the result of other records.
    pub fn add(&mut self, other: Self) {
        self.published += other.published;
        self.unreadable.extend(other.unreadable);
        self.waiting += other.waiting;
    }
}

/// Publishes the events of records that were given up, under their own ids. Whatever cannot be published is returned, and
/// the records behind it are published all the same.
pub async fn replay(publisher: &Publisher, event: stream::Batch, time: Duration) -> Replayed {
    let Publisher { bus, table, few_left } = publisher;
    let mut batch = Batch::new(event.records, *few_left);
    let mut unreadable = Vec::new();
    let work = async {
        batch.read_lines(table).await;
        unreadable = batch.set_unreadable_aside();
        publish(bus, &mut batch, Budget::of(time)).await;
    };
    _ = timeout(time, work).await;
    Replayed { published: batch.finished().published, unreadable, waiting: batch.unfinished() }
}

/// Publishes call by call. Stops if a call still has events that are not accepted when the budget ends.
async fn publish(bus: &Bus, batch: &mut Batch, budget: Budget) {
    loop {
        let mut call = next_call(batch.waiting());
        if call.is_empty() {
            return;
        }
        let mut retries = budget.retries();
        loop {
            let entries: Vec<_> = call.iter().filter_map(|position| batch.ready(*position)).collect();
            let accepted = bus.put(&entries).await;
            for (position, _) in call.iter().zip(accepted).filter(|(_, accepted)| *accepted) {
                batch.published(*position);
            }
            call.retain(|position| batch.ready(*position).is_some());
            if call.is_empty() {
                break;
            }
            if !retries.pause().await {
                return;
            }
        }
    }
}
