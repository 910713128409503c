//! The EventBridge bus.

use std::sync::Arc;

use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use lambda::{Client, Environment, Error, FromEnvironment, Misconfigured, Service};
use order_events::{Event, Subject};
use tracing::warn;

/// Publishes events on one bus.
#[derive(Clone, Debug)]
pub struct Bus {
    client: Client<aws_sdk_eventbridge::Client>,
    name: Arc<str>,
}

/// An event that is ready to be published.
pub(crate) struct Entry {
    pub(crate) event: Event,
    pub(crate) detail: String,
    at: DateTime,
}

impl Entry {
    /// An entry for the event of a change that was written at this time, in seconds since 1970.
    pub(crate) fn new(event: Event, written_at: i64) -> Result<Self, Error> {
        Ok(Self { detail: event.detail()?, event, at: DateTime::from_secs(written_at) })
    }

    /// Writes lines about the event, with the ids by which it and its request are found.
    pub(crate) fn tell(&self, lines: impl FnOnce(&Event)) {
        let event = &self.event;
        lambda::trail_of_step(|| {
            event.request_id().into_iter().for_each(lambda::note_request);
            match event.subject() {
                Subject::Order(order) => lambda::note("order_id", order.as_str()),
                Subject::Product(product) => lambda::note("product_id", product.as_str()),
                Subject::Customer(_) => {}
            }
            lambda::note("event", event.detail_type());
            lambda::note("event_id", event.id().as_str());
            lines(event);
        });
    }
}

impl FromEnvironment for Bus {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::EventBridge, aws_sdk_eventbridge::Client::new)?;
        Ok(Self { client, name: environment.required("EVENT_BUS")?.into() })
    }
}

impl Bus {
    /// Puts these events on the bus, in one call. Returns for each whether EventBridge accepted it. If the call fails
    /// as a whole, no event counts as accepted, although they may have arrived.
    pub(crate) async fn put(&self, entries: &[&Entry]) -> Vec<bool> {
        let requests = entries.iter().map(|entry| self.request(entry)).collect();
        match self.client.put_events().set_entries(Some(requests)).send().await {
            Ok(answer) => entries
                .iter()
                .zip(answer.entries())
                .map(|(entry, result)| match result.error_code() {
                    None => true,
                    Some(code) => {
                        entry.tell(|_| warn!(code, "EventBridge did not accept an event"));
                        false
                    }
                })
                .collect(),
            Err(error) => {
                let cause = lambda::chain(&error);
                for entry in entries {
                    entry.tell(|_| warn!(cause, "EventBridge did not answer"));
                }
                vec![false; entries.len()]
            }
        }
    }

    fn request(&self, entry: &Entry) -> PutEventsRequestEntry {
        PutEventsRequestEntry::builder()
            .event_bus_name(&*self.name)
            .source(entry.event.subject().source())
            .detail_type(entry.event.detail_type())
            .detail(&entry.detail)
            .time(entry.at)
            .build()
    }
}
