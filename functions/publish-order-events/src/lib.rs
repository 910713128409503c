//! DynamoDB stream: tells the world what happens to orders, on an EventBridge bus.
//!
//! - At least once: what is not certain to be on the bus is answered as failed, and Lambda delivers it again. A
//!   receiver drops copies by the event's id, which is a pure function of the change.
//! - Order per order: an event is published when the earlier ones of its order are taken. What failed is the lowest
//!   sequence number that was not, and Lambda goes on from there.
//! - A record that cannot be read holds up those behind it until Lambda gives it up, as the template says. To pass
//!   it over would be to lose an event without a word.

mod bus;

use std::collections::BTreeMap;
use std::time::Duration;

use aws_lambda_events::event::dynamodb::{Event, EventRecord};
use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use events::next_call;
use lambda::{Budget, Error};
use tokio::time::timeout;
use tracing::{error, info};

pub use bus::Bus;
use bus::Change;

/// The changes of a batch that are to be published, by their place in it.
type Waiting = BTreeMap<usize, Change>;

pub async fn handle(bus: Bus, event: Event, time: Duration) -> Result<DynamoDbEventResponse, Error> {
    let (mut waiting, unreadable) = read(event.records);
    let changes = waiting.len();
    // Whether a call that is under way when the time is over arrives is not known, so its changes stay.
    _ = timeout(time, publish(&bus, &mut waiting, Budget::of(time))).await;
    info!(published = changes - waiting.len(), waiting = waiting.len(), "order events");

    let lowest = waiting.into_values().next().map(|change| change.sequence_number).or(unreadable);
    let mut response = DynamoDbEventResponse::default();
    if let Some(sequence_number) = lowest {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(sequence_number);
        response.batch_item_failures.push(failure);
    }
    Ok(response)
}

/// The changes that the records tell of, up to the first that cannot be read; and the sequence number of that one.
fn read(records: Vec<EventRecord>) -> (Waiting, Option<String>) {
    let mut waiting = Waiting::new();
    for (position, mut record) in records.into_iter().enumerate() {
        // An answer with an empty one means the whole batch.
        let sequence_number = record.change.sequence_number.take().unwrap_or_default();
        match Change::read(record, &sequence_number) {
            Ok(change) => waiting.extend(change.map(|change| (position, change))),
            Err(error) => {
                error!(sequence_number, cause = lambda::chain(&*error), "a record cannot be read");
                return (waiting, Some(sequence_number));
            }
        }
    }
    (waiting, None)
}

/// Publishes call by call, and takes out of `waiting` what EventBridge has taken. It stops at a call of which
/// something is left when the time is over.
async fn publish(bus: &Bus, waiting: &mut Waiting, budget: Budget) {
    while !waiting.is_empty() {
        let mut call = next_call(waiting.iter().map(|(position, change)| (*position, change.event.order_id())));
        let mut attempt = 1;
        loop {
            let changes: Vec<_> = call.iter().filter_map(|position| waiting.get(position)).collect();
            let taken = bus.put(&changes).await;
            for (position, _) in call.iter().zip(taken).filter(|(_, taken)| *taken) {
                waiting.remove(position);
            }
            call.retain(|position| waiting.contains_key(position));
            if call.is_empty() {
                break;
            }
            if !budget.wait(attempt).await {
                return;
            }
            attempt += 1;
        }
    }
}
