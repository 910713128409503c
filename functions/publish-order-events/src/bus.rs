//! The bus.

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use events::{Event, SOURCE, event_of};
use lambda::{Client, Environment, Error, FromEnvironment, Misconfigured, Service};
use tracing::warn;

/// What this function may touch: it puts events on one bus.
#[derive(Clone, Debug)]
pub struct Bus {
    client: Client<aws_sdk_eventbridge::Client>,
    name: Arc<str>,
}

/// A change of an order, and the event that tells of it.
pub(crate) struct Change {
    pub(crate) sequence_number: String,
    pub(crate) event: Event,
    detail: String,
    at: DateTime,
}

impl Change {
    /// What a record tells, if anything.
    pub(crate) fn read(record: EventRecord, sequence_number: &str) -> Result<Option<Self>, Error> {
        let EventRecord { event_name, change, .. } = record;
        let Some(event) = event_of(&event_name, change.old_image, change.new_image)? else { return Ok(None) };
        Ok(Some(Self {
            sequence_number: sequence_number.to_owned(),
            detail: event.detail()?,
            event,
            at: DateTime::from_millis(change.approximate_creation_date_time.timestamp_millis()),
        }))
    }
}

impl FromEnvironment for Bus {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::EventBridge, aws_sdk_eventbridge::Client::new)?;
        Ok(Self { client, name: environment.required("EVENT_BUS")?.into() })
    }
}

impl Bus {
    /// Puts these on the bus, in one call. Whether EventBridge has taken each; a call that fails as a whole has
    /// failed for all, although it may have arrived.
    pub(crate) async fn put(&self, changes: &[&Change]) -> Vec<bool> {
        let entries = changes.iter().map(|change| self.entry(change)).collect();
        match self.client.put_events().set_entries(Some(entries)).send().await {
            Ok(answer) => changes
                .iter()
                .zip(answer.entries())
                .map(|(change, entry)| match entry.error_code() {
                    None => true,
                    Some(code) => {
                        warn!(id = change.event.id().as_str(), code, "EventBridge did not take an event");
                        false
                    }
                })
                .collect(),
            Err(error) => {
                warn!(cause = lambda::chain(&error), "EventBridge did not answer");
                vec![false; changes.len()]
            }
        }
    }

    fn entry(&self, change: &Change) -> PutEventsRequestEntry {
        PutEventsRequestEntry::builder()
            .event_bus_name(&*self.name)
            .source(SOURCE)
            .detail_type(change.event.detail_type())
            .detail(&change.detail)
            .time(change.at)
            .build()
    }
}
