//! Sending, postponing, burying.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::config;
use aws_sdk_sqs::types::{BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, MessageAttributeValue};
use lambda::{Client, CountWrites, Environment, FromEnvironment, Misconfigured, Service};
use tracing::warn;

use crate::Error;

/// The attribute that counts how often a message's work has failed.
pub const FAILURES: &str = "failures";

/// The attribute that says of a dead letter why it is one.
pub const REASON: &str = "reason";

/// A reason is cut to so many characters.
const LONGEST_REASON: usize = 256;

/// SQS hides no message for longer.
const LONGEST: Duration = Duration::from_mins(15);

/// May send to the queue.
#[derive(Clone, Debug)]
pub struct Queue {
    client: Client<aws_sdk_sqs::Client>,
    url: Arc<str>,
}

/// May do with what was received from the queue all that a consumer does: see it again later, or never.
#[derive(Clone, Debug)]
pub struct Source {
    queue: Queue,
    dead_letters: Queue,
}

/// A message: all that says which order it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its text.
    pub body: String,
    /// What is told beside it. It stays with the message, also through a release that does not know it.
    pub attributes: BTreeMap<String, String>,
}

/// A message as it was received, as far as it matters to what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Names it.
    pub id: String,
    /// Names this receipt of it.
    pub receipt_handle: String,
    /// What was sent.
    pub message: Message,
    /// When it was sent to the queue, in milliseconds since 1970.
    pub sent_at: Option<i64>,
    /// How often it was received, this time included.
    pub times: u32,
    /// How often its work has failed.
    pub failures: u32,
}

/// A time to wait: doubled with each time, and at random, so that those who waited together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    first: Duration,
}

impl FromEnvironment for Queue {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Self::named(environment, "QUEUE_URL")
    }
}

impl FromEnvironment for Source {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let queue = Queue::from_environment(environment)?;
        Ok(Self { dead_letters: Queue::named(environment, "DEAD_LETTERS_URL")?, queue })
    }
}

impl Queue {
    /// The queue whose URL is in this variable.
    ///
    /// # Errors
    /// The variable is missing, or what every client of AWS needs.
    pub fn named(environment: &Environment, variable: &str) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::Sqs, |config| {
            aws_sdk_sqs::Client::from_conf(config::Builder::from(config).interceptor(CountWrites).build())
        })?;
        Ok(Self { client, url: environment.required(variable)?.into() })
    }

    /// Sends a message. One request.
    ///
    /// # Errors
    /// It is not known whether SQS took it. Sent again, it may arrive twice.
    pub async fn send(&self, message: &Message) -> Result<(), Error> {
        self.send_with(message, None, None).await
    }

    async fn send_with(
        &self,
        Message { body, attributes }: &Message,
        more: Option<(&str, &str, &str)>,
        delay: Option<Duration>,
    ) -> Result<(), Error> {
        let mut call = self.client.send_message().queue_url(&*self.url).message_body(body);
        let is_new = |name: &str| more.is_some_and(|(other, ..)| other == name);
        let told = attributes.iter().filter(|(name, _)| *name != FAILURES && !is_new(name));
        let told = told.map(|(name, value)| (name.as_str(), "String", value.as_str()));
        for (attribute, kind, value) in told.chain(more) {
            let value = MessageAttributeValue::builder().data_type(kind).string_value(value).build()?;
            call = call.message_attributes(attribute, value);
        }
        call.set_delay_seconds(delay.map(seconds)).send().await?;
        Ok(())
    }
}

impl Source {
    /// Hides each message for so long. One request for each ten.
    ///
    /// It is a courtesy: what cannot be hidden comes back when the queue's own visibility timeout ends.
    pub async fn postpone(&self, messages: &[(Received, Duration)]) {
        for some in messages.chunks(10) {
            let failed = match self.hide(some).await {
                Ok(failed) => failed,
                Err(error) => {
                    warn!(messages = some.len(), cause = lambda::chain(&error), "not postponed");
                    continue;
                }
            };
            for entry in failed {
                warn!(code = entry.code, "a message is not postponed");
            }
        }
    }

    async fn hide(&self, messages: &[(Received, Duration)]) -> Result<Vec<BatchResultErrorEntry>, Error> {
        let mut call = self.queue.client.change_message_visibility_batch().queue_url(&*self.queue.url);
        for (at, (message, delay)) in messages.iter().enumerate() {
            let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(at.to_string());
            let entry = entry.receipt_handle(&message.receipt_handle).visibility_timeout(seconds(*delay));
            call = call.entries(entry.build()?);
        }
        Ok(call.send().await?.failed)
    }

    /// Puts a message whose work has failed back into the queue, with one more failure to its name. What was
    /// received is to be deleted after that.
    pub async fn retry(&self, message: &Received, delay: Delay) -> Result<(), Error> {
        let failures = message.failures + 1;
        let delay = delay.of(failures);
        let failures = failures.to_string();
        self.queue.send_with(&message.message, Some((FAILURES, "Number", &failures)), Some(delay)).await
    }

    /// Puts a message among the dead letters, where somebody looks at the reason. What was received is to be
    /// deleted after that.
    pub async fn bury(&self, message: &Received, reason: &str) -> Result<(), Error> {
        // It may quote the message, whose characters SQS need not take.
        let printable = |character: &char| character.is_ascii_graphic() || *character == ' ';
        let reason: String = reason.chars().filter(printable).take(LONGEST_REASON).collect();
        self.dead_letters.send_with(&message.message, Some((REASON, "String", &reason)), None).await
    }
}

impl Delay {
    /// So long at first.
    pub const fn of_first(first: Duration) -> Self {
        Self { first }
    }

    /// Between half and the whole of the first time, doubled with each time after the first, up to 15 minutes.
    pub fn of(self, times: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << times.saturating_sub(1).min(16)).min(LONGEST);
        doubled.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// Whole seconds, rounded up.
fn seconds(delay: Duration) -> i32 {
    // At most 900.
    i32::try_from(delay.as_millis().div_ceil(1000)).unwrap_or(900)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_longer_is_asked_less_often_and_nobody_waits_beyond_what_sqs_allows() {
        let delay = Delay::of_first(Duration::from_secs(2));
        for times in 1..40 {
            let longest = Duration::from_secs(2_u64.saturating_pow(times)).min(LONGEST);
            for _ in 0..100 {
                let wait = delay.of(times);
                assert!(longest / 2 <= wait && wait <= longest, "{times}: {wait:?}");
            }
        }
        assert_eq!(seconds(LONGEST), 900);
        assert_eq!(seconds(Duration::from_millis(1)), 1);
    }

    /// One that only waits is a dead letter at last, before its queue would forget it, and not for a week.
    #[test]
    fn who_only_waits_is_not_taken_for_poison_for_a_week_and_is_not_forgotten() {
        let delay = Delay::of_first(Duration::from_secs(2));
        let days = |receives: u32| (1..=receives).map(|times| delay.of(times)).sum::<Duration>().as_secs() / 86_400;
        // The queue's `maxReceiveCount` and retention, which a test of the template compares with these.
        assert!((7..14).contains(&days(1000)), "{}", days(1000));
    }
}
