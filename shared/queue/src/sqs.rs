//! Sending, retrying, postponing and burying messages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::config;
use aws_sdk_sqs::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, MessageAttributeValue, QueueAttributeName,
};
use lambda::{Client, CountWrites, Environment, FromEnvironment, Misconfigured, Service};
use tracing::warn;

use crate::Error;

/// The attribute with the number of times that a message's work has failed.
pub const FAILURES: &str = "failures";

/// The attribute with the reason why a message is in the dead-letter queue. A message that was redriven keeps it.
pub const REASON: &str = "reason";

/// The most characters of a reason. The rest is cut off.
const LONGEST_REASON: usize = 256;

/// The longest delay of a message: the maximum of `DelaySeconds`.
const LONGEST_DELAY: Duration = Duration::from_mins(15);

/// The attributes that make up the [length](Queue::length) of a queue.
const LENGTH: [QueueAttributeName; 3] = [
    QueueAttributeName::ApproximateNumberOfMessages,
    QueueAttributeName::ApproximateNumberOfMessagesDelayed,
    QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
];

/// Sends messages to a queue.
#[derive(Clone, Debug)]
pub struct Queue {
    client: Client<aws_sdk_sqs::Client>,
    url: Arc<str>,
}

/// Handles the messages that a consumer received: postpones, retries or buries them.
#[derive(Clone, Debug)]
pub struct Source {
    queue: Queue,
    dead_letters: Queue,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The text.
    pub body: String,
    /// The attributes. They stay with the message when it is retried, including those that this release does not know.
    pub attributes: BTreeMap<String, String>,
    /// The message group: if one group's messages occupy most of the consumers, SQS delivers the messages of other groups
    /// first (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>). Up to
    /// 128 printable characters. A message without a group is a group of its own.
    pub group: Option<String>,
}

/// A message as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The message's id.
    pub id: String,
    /// The id of this receipt.
    pub receipt_handle: String,
    /// The content.
    pub message: Message,
    /// The time at which the message was sent to the queue, in milliseconds since 1970.
    pub sent_at: Option<i64>,
    /// The number of receipts, including this one.
    pub times: u32,
    /// The number of times that the message's work has failed.
    pub failures: u32,
}

/// An exponential backoff with jitter, so that messages that were delayed together do not return together.
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
    /// The variable, the region or the credentials are missing.
    pub fn named(environment: &Environment, variable: &str) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::Sqs, |config| {
            aws_sdk_sqs::Client::from_conf(config::Builder::from(config).interceptor(CountWrites).build())
        })?;
        Ok(Self { client, url: environment.required(variable)?.into() })
    }

    /// Sends a message. One request.
    ///
    /// # Errors
    /// SQS may have accepted the message all the same. A message that is sent again may arrive twice.
    pub async fn send(&self, message: &Message) -> Result<(), Error> {
        self.send_with(message, None, None).await
    }

    /// The number of messages in the queue, also those that are hidden or delayed. One request. SQS counts approximately,
    /// and up to a minute late.
    ///
    /// # Errors
    /// Those of any request.
    pub async fn length(&self) -> Result<u64, Error> {
        let call = self.client.get_queue_attributes().queue_url(&*self.url).set_attribute_names(Some(LENGTH.into()));
        let attributes = call.send().await?.attributes.unwrap_or_default();
        Ok(LENGTH.iter().filter_map(|name| attributes.get(name)?.parse::<u64>().ok()).sum())
    }

    async fn send_with(
        &self,
        Message { body, attributes, group }: &Message,
        added: Option<(&str, &str, &str)>,
        delay: Option<Duration>,
    ) -> Result<(), Error> {
        let mut call = self.client.send_message().queue_url(&*self.url).message_body(body);
        call = call.set_message_group_id(group.clone());
        let is_replaced = |name: &str| added.is_some_and(|(other, ..)| other == name);
        let kept = attributes.iter().filter(|(name, _)| *name != FAILURES && !is_replaced(name));
        let kept = kept.map(|(name, value)| (name.as_str(), "String", value.as_str()));
        for (attribute, data_type, value) in kept.chain(added) {
            let value = MessageAttributeValue::builder().data_type(data_type).string_value(value).build()?;
            call = call.message_attributes(attribute, value);
        }
        call.set_delay_seconds(delay.map(seconds)).send().await?;
        Ok(())
    }
}

impl Source {
    /// Hides each message for its delay. One request for every ten messages.
    ///
    /// A failure is only logged: the message then returns when the queue's own visibility timeout ends.
    pub async fn postpone(&self, messages: &[(Received, Duration)]) {
        for batch in messages.chunks(10) {
            let failed = match self.hide(batch).await {
                Ok(failed) => failed,
                Err(error) => {
                    warn!(messages = batch.len(), cause = lambda::chain(&error), "not postponed");
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

    /// Sends a copy of a message whose work has failed, with its number of failures increased by one. The caller
    /// deletes the received message afterwards.
    pub async fn retry(&self, message: &Received, delay: Delay) -> Result<(), Error> {
        let failures = message.failures + 1;
        let delay = delay.of(failures);
        let failures = failures.to_string();
        self.queue.send_with(&message.message, Some((FAILURES, "Number", &failures)), Some(delay)).await
    }

    /// Sends a copy of a message to the dead-letter queue, with the reason for an operator. The caller deletes the
    /// received message afterwards.
    pub async fn bury(&self, message: &Received, reason: &str) -> Result<(), Error> {
        // The reason may quote the message, with characters that SQS does not accept.
        let printable = |character: &char| character.is_ascii_graphic() || *character == ' ';
        let reason: String = reason.chars().filter(printable).take(LONGEST_REASON).collect();
        self.dead_letters.send_with(&message.message, Some((REASON, "String", &reason)), None).await
    }
}

impl Delay {
    /// A backoff whose first delay is `first`.
    pub const fn of_first(first: Duration) -> Self {
        Self { first }
    }

    /// The delay after this number of times, counted from 1. The longest delay is `first`, doubled with each further
    /// time up to 15 minutes; the delay is a random one between half of that and all of it.
    pub fn of(self, times: u32) -> Duration {
        let longest = self.first.saturating_mul(1 << times.saturating_sub(1).min(16)).min(LONGEST_DELAY);
        longest.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// Whole seconds, rounded up.
fn seconds(delay: Duration) -> i32 {
    // A delay is at most 900 seconds.
    i32::try_from(delay.as_millis().div_ceil(1000)).unwrap_or(900)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_doubles_each_time_up_to_the_longest_that_sqs_allows() {
        let delay = Delay::of_first(Duration::from_secs(2));
        for times in 1..40 {
            let longest = Duration::from_secs(2_u64.saturating_pow(times)).min(LONGEST_DELAY);
            for _ in 0..100 {
                let wait = delay.of(times);
                assert!(longest / 2 <= wait && wait <= longest, "{times}: {wait:?}");
            }
        }
        assert_eq!(seconds(LONGEST_DELAY), 900);
        assert_eq!(seconds(Duration::from_millis(1)), 1);
    }

    /// A message that is only ever postponed must reach the dead-letter queue before its retention ends, but not within
    /// a week.
    #[test]
    fn a_message_that_is_always_postponed_becomes_a_dead_letter_after_one_to_two_weeks() {
        let delay = Delay::of_first(Duration::from_secs(2));
        let days = |receives: u32| (1..=receives).map(|times| delay.of(times)).sum::<Duration>().as_secs() / 86_400;
        // 1000 is the queue's `maxReceiveCount`, 14 days its retention. A test compares both with the template.
        assert!((7..14).contains(&days(1000)), "{}", days(1000));
    }
}
