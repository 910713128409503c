//! DynamoDB stream: publishes what happens to orders and products on an EventBridge bus.
//!
//! - At least once: the answer names the first record that is not certain to be on the bus, and Lambda delivers from
//!   there again. A receiver drops copies by the event's id, which is a pure function of the change.
//! - Ordered per order and per product: an event is published only after EventBridge accepted the earlier ones of its
//!   subject.
//! - A record that can never be published is given up alone: the queue of lost records takes it, and those behind it go
//!   on. If the queue does not take it, it holds up those behind it until the next delivery.

mod batch;
mod bus;

use std::time::Duration;

use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use key_schema::access::Access;
use key_schema::layout::ProductsOfOrder;
use lambda::{Budget, Error, Grant};
use order_events::next_call;
use stream::LostRecords;
use table::Reader;
use tokio::time::timeout;
use tracing::info;

use batch::Batch;
pub use bus::Bus;

/// What it asks of the table.
pub const ACCESS: &[&[Access]] = &[&[Access::query::<ProductsOfOrder>()]];

/// What it asks of the stream, of the bus, and of the queue of lost records.
pub const GRANTS: &[Grant] = &[
    Grant::new(&["events:PutEvents"], "!GetAtt OrderEvents.Arn")
        .only("events:source", &["till.orders", "till.products"]),
    stream::READ[0],
    stream::READ[1],
    Grant::new(&["sqs:SendMessage"], "!GetAtt LostEvents.Arn"),
];

pub async fn handle(
    (bus, table, lost): (Bus, Reader, LostRecords),
    event: stream::Batch,
    time: Duration,
) -> Result<DynamoDbEventResponse, Error> {
    let mut batch = Batch::new(event.records);
    let events = batch.len();
    let work = async {
        batch.complete(&table).await;
        batch.give_up(&lost).await;
        publish(&bus, &mut batch, Budget::of(time)).await;
    };
    // A call that is under way when the time is over may arrive or not, so its events stay in the batch.
    _ = timeout(time, work).await;
    info!(done = events - batch.len(), waiting = batch.len(), "order events");

    let mut response = DynamoDbEventResponse::default();
    if let Some(number) = batch.first_left() {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(number.to_string());
        response.batch_item_failures.push(failure);
    }
    Ok(response)
}

/// Publishes call by call. It stops at a call of which something is left when the time is over.
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
