//! Publishing again what was given up: records of the stream whose events were not published.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use consumers::publish_order_events::{Bus, Replayed, replay as publish};
use jiff::Timestamp;
use lambda::{Environment, FromEnvironment as _};
use serde_json::{Value, json};
use table::Reader;

/// The time for the records of one message, of which there are at most a thousand.
const BUDGET: Duration = Duration::from_mins(5);

/// The records of a file, and how many of its messages have none.
#[derive(Debug, Default)]
pub struct Found {
    /// The records of each message, in order.
    pub batches: Vec<Vec<Value>>,
    /// The messages that only say where the records are in the stream.
    pub pointers: Vec<Value>,
}

/// Reads the records of a file, which has any of these:
///
/// - a message of the queue of lost records;
/// - the answer of `aws sqs receive-message` for that queue;
/// - the answer of `aws dynamodbstreams get-records`;
/// - a record of an invocation that failed, as Lambda puts it into a bucket: its `payload` is an event.
///
/// # Errors
/// The text has none of these.
pub fn read(text: &str) -> Result<Found> {
    let mut found = Found::default();
    collect(serde_json::from_str(text).context("it is no JSON")?, &mut found)?;
    Ok(found)
}

fn collect(mut value: Value, found: &mut Found) -> Result<()> {
    if let Some(messages) = value["Messages"].as_array() {
        for message in messages {
            let body = message["Body"].as_str().context("a message has no Body")?;
            collect(serde_json::from_str(body).context("a message is no JSON")?, found)?;
        }
    } else if let Some(payload) = value.get_mut("payload") {
        let payload = match payload.take() {
            Value::String(text) => serde_json::from_str(&text).context("the payload is no JSON")?,
            payload => payload,
        };
        collect(payload, found)?;
    } else if let Some(Value::Array(records)) = value.get_mut("Records").filter(|records| **records != json!([])) {
        records.iter_mut().for_each(seconds);
        found.batches.push(std::mem::take(records));
    } else if let Some(pointer) = value.get("DDBStreamBatchInfo") {
        found.pointers.push(pointer.clone());
    } else if value["sequenceNumber"].is_string() {
        // A record that was too large for the queue.
        found.pointers.push(value);
    } else {
        bail!("it has no records");
    }
    Ok(())
}

/// Changes the time of a record to seconds, as Lambda delivers it. The AWS CLI prints it as a text.
fn seconds(record: &mut Value) {
    let Some(time) = record.pointer_mut("/dynamodb/ApproximateCreationDateTime") else { return };
    let seconds = time.as_str().and_then(|text| text.parse::<Timestamp>().ok()).map(Timestamp::as_second);
    if let Some(seconds) = seconds {
        *time = json!(seconds);
    }
}

/// Publishes the events of these records on the bus of this environment, each under the id that it has had from the
/// beginning. So it may be repeated: receivers drop what they have.
///
/// # Errors
/// The environment lacks a variable, or a batch is no batch of records.
pub async fn replay(environment: &Environment, batches: Vec<Vec<Value>>) -> Result<Replayed> {
    let (bus, table) = (Bus::from_environment(environment)?, Reader::from_environment(environment)?);
    let mut all = Replayed::default();
    for records in batches {
        let batch = serde_json::from_value(json!({ "Records": records })).context("a record has no sequence number")?;
        all.add(publish(&bus, &table, batch, BUDGET).await);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time: &Value) -> Value {
        json!({ "eventName": "INSERT", "dynamodb": { "SequenceNumber": "7", "ApproximateCreationDateTime": time } })
    }

    #[test]
    fn records_are_found_in_every_form_in_which_they_are_kept() {
        let event = json!({ "Records": [record(&json!(1_795_255_870))] });
        let message = json!({ "reason": "r", "sequenceNumber": "7", "Records": event["Records"] });
        for kept in [
            event.clone(),
            message.clone(),
            json!({ "Messages": [{ "Body": message.to_string(), "ReceiptHandle": "h" }] }),
            json!({ "requestContext": {}, "DDBStreamBatchInfo": {}, "payload": event.to_string() }),
            json!({ "requestContext": {}, "DDBStreamBatchInfo": {}, "payload": event }),
            json!({ "Records": [record(&json!("2026-11-21T10:11:10+00:00"))], "NextShardIterator": "n" }),
        ] {
            let found = read(&kept.to_string()).expect("records");
            assert_eq!(found.batches, [vec![record(&json!(1_795_255_870))]], "{kept}");
            assert!(found.pointers.is_empty(), "{kept}");
        }
    }

    #[test]
    fn a_message_without_records_says_where_they_are() {
        let pointer = json!({ "DDBStreamBatchInfo": { "shardId": "s", "startSequenceNumber": "7" } });
        let large = json!({ "reason": "r", "sequenceNumber": "7", "Records": [] });
        for kept in [pointer, large] {
            let messages = json!({ "Messages": [{ "Body": kept.to_string() }] });
            let found = read(&messages.to_string()).expect("a pointer");
            assert_eq!((found.batches.len(), found.pointers.len()), (0, 1), "{kept}");
        }
        for text in ["", "{}", "[]", "7", r#"{"Messages":[{}]}"#, r#"{"Records":7}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
