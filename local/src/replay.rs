//! Processing again what was given up: records of the stream that were not counted, or whose events were not published.

mod taken;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use consumers::count_orders::{GivenUp, Recounted, Recounter};
use consumers::publish_order_events::{Publisher, Replayed, replay as publish};
use jiff::Timestamp;
use lambda::{Environment, FromEnvironment as _};
use serde_json::{Value, json};
use table::Budget;

pub use self::taken::{Left, Taken, take_from_bucket, take_from_queue};

/// The time for the records of one message or object, of which there are at most a thousand.
const BUDGET: Duration = Duration::from_mins(5);

/// What a file, a message or an object contains.
#[derive(Debug, Default)]
pub struct Found {
    /// The records that were given up together, in order.
    pub batches: Vec<Lost>,
    /// The messages that only say where the records are in the stream.
    pub pointers: Vec<Value>,
    /// The objects with records that messages name.
    pub objects: Vec<Object>,
}

/// Records that were given up together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// The records, in Lambda's format.
    pub records: Vec<Value>,
    /// The shard, if it is known.
    shard: Option<String>,
    origin: Origin,
}

/// Who gave the records up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Origin {
    /// Unknown. Nobody knows whether they are counted.
    #[default]
    Unknown,
    /// The function, whose checkpoint lists them.
    Function,
    /// Lambda: they are a whole batch.
    Lambda,
}

/// An object in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The bucket's name.
    pub bucket: String,
    /// The object's key.
    pub key: String,
}

/// Reads the records of a text, which has any of these:
///
/// - a message of the queue of lost records;
/// - the answer of `aws sqs receive-message` for that queue;
/// - the answer of `aws dynamodbstreams get-records`;
/// - the object that Lambda puts into a bucket for a batch that it gave up: its `payload` is an event.
///
/// A message may also name such an object.
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
        let mut payload = match payload.take() {
            Value::String(text) => serde_json::from_str(&text).context("the payload is no JSON")?,
            payload => payload,
        };
        let mut lost = lost(&mut payload).context("its payload has no records")?;
        lost.origin = Origin::Lambda;
        // An event of a source without windows does not name it.
        lost.shard = value["DDBStreamBatchInfo"]["shardId"].as_str().map(str::to_owned).or(lost.shard);
        found.batches.push(lost);
    } else if let Some(lost) = lost(&mut value) {
        found.batches.push(lost);
    } else if let Some(pointer) = value.get("DDBStreamBatchInfo") {
        found.pointers.push(pointer.clone());
    } else if let (Some(bucket), Some(key)) =
        (value["detail"]["bucket"]["name"].as_str(), value["detail"]["object"]["key"].as_str())
    {
        found.objects.push(Object { bucket: bucket.to_owned(), key: key.to_owned() });
    } else if value["sequenceNumber"].is_string() {
        // A record that was too large for the queue.
        found.pointers.push(value);
    } else {
        bail!("it has no records");
    }
    Ok(())
}

/// The records of an event, or of a message of the function.
fn lost(event: &mut Value) -> Option<Lost> {
    let Value::Array(records) = event.get_mut("Records")? else { return None };
    if records.is_empty() {
        return None;
    }
    records.iter_mut().for_each(seconds);
    let records = std::mem::take(records);
    let origin = if event["listed"] == true { Origin::Function } else { Origin::Unknown };
    Some(Lost { records, shard: event["shardId"].as_str().map(str::to_owned), origin })
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
pub async fn replay(environment: &Environment, batches: Vec<Lost>) -> Result<Replayed> {
    let publisher = Publisher::from_environment(environment)?;
    let mut all = Replayed::default();
    for Lost { records, .. } in batches {
        let batch = serde_json::from_value(json!({ "Records": records })).context("a record has no sequence number")?;
        all.add(publish(&publisher, batch, BUDGET).await);
    }
    Ok(all)
}

/// Counts these records, each once, however often this is repeated. A record of which nobody knows whether it is counted is
/// left.
///
/// # Errors
/// The environment lacks a variable, a record has no sequence number, or the table does not answer.
pub async fn count(environment: &Environment, batches: Vec<Lost>) -> Result<Recounted> {
    let recounter = Recounter::from_environment(environment)?;
    let mut all = Recounted::default();
    for Lost { records, shard, origin } in batches {
        let shard = shard.filter(|_| origin != Origin::Unknown).with_context(|| {
            "nobody can tell whether these records are counted, because neither a function nor Lambda \
             says that it gave them up: compare and repair the counts"
        })?;
        let by_lambda = origin == Origin::Lambda;
        let given_up = GivenUp { shard: shard.parse().context("shardId")?, by_lambda, records };
        let counted = recounter.count(&given_up, Budget::of(BUDGET)).await;
        all.add(counted.map_err(|error| anyhow::anyhow!("{}", lambda::chain(&*error)))?);
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
            let records: Vec<_> = found.batches.into_iter().map(|lost| lost.records).collect();
            assert_eq!(records, [vec![record(&json!(1_795_255_870))]], "{kept}");
            assert!(found.pointers.is_empty(), "{kept}");
        }
    }

    #[test]
    fn the_shard_and_who_gave_up_are_known_from_messages_and_objects() {
        let event = json!({ "Records": [record(&json!(1))], "shardId": "s" });
        let object = json!({ "DDBStreamBatchInfo": { "shardId": "s" }, "payload": event.to_string() });
        let bare = json!({ "DDBStreamBatchInfo": { "shardId": "s" }, "payload": { "Records": event["Records"] } });
        let listed = json!({ "Records": event["Records"], "shardId": "s", "listed": true });
        for (kept, expected) in
            [(object, Origin::Lambda), (bare, Origin::Lambda), (listed, Origin::Function), (event, Origin::Unknown)]
        {
            let [lost] = &read(&kept.to_string()).expect("records").batches[..] else { panic!("{kept}") };
            assert_eq!((lost.shard.as_deref(), lost.origin), (Some("s"), expected), "{kept}");
        }
        let told = json!({ "source": "aws.s3", "detail": { "bucket": { "name": "b" }, "object": { "key": "k" } } });
        let object = Object { bucket: "b".to_owned(), key: "k".to_owned() };
        assert_eq!(read(&told.to_string()).expect("an object").objects, [object]);
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
