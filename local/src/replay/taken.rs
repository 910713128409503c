//! Takes what was given up from where it is kept: messages of a queue, and the objects of a bucket.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow};
use aws_sdk_sqs::types::Message;
use lambda::{Environment, Service};
use objects::Bucket;

use super::{Found, Lost, Object, read};

/// The time for which a message is hidden from others, in seconds: long enough for its records.
const HIDDEN: i32 = 15 * 60;

/// What was taken and processed, and what was left where it is.
#[derive(Debug, Default)]
pub struct Taken {
    /// The number of messages and objects that were processed, and deleted after that.
    pub done: usize,
    /// What was left, with the reason.
    pub left: Vec<Left>,
}

/// A message or an object that was left where it is.
#[derive(Debug)]
pub struct Left {
    /// Its id, or its place.
    pub what: String,
    /// The reason.
    pub why: String,
}

impl Taken {
    fn leave(&mut self, what: impl Into<String>, error: &anyhow::Error) {
        self.left.push(Left { what: what.into(), why: format!("{error:#}") });
    }
}

/// Takes each message of a queue: processes its records, or those of the object that it names, and then deletes the object
/// and the message. A message whose records cannot all be processed stays, visible again at the end.
pub async fn take_from_queue(
    environment: &Environment,
    url: &str,
    mut process: impl AsyncFnMut(Vec<Lost>) -> Result<()>,
) -> Result<Taken> {
    let client = environment.client(Service::Sqs, aws_sdk_sqs::Client::new)?;
    let (mut taken, mut seen, mut hidden) = (Taken::default(), BTreeSet::new(), Vec::new());
    loop {
        let call = client.receive_message().queue_url(url).max_number_of_messages(10).visibility_timeout(HIDDEN);
        let messages = call.send().await.map_err(|error| anyhow!(lambda::chain(&error))).context("the queue")?.messages;
        let messages = messages.unwrap_or_default();
        if messages.is_empty() {
            break;
        }
        for Message { message_id, body, receipt_handle, .. } in messages {
            let (id, handle) = (message_id.unwrap_or_default(), receipt_handle.unwrap_or_default());
            if !seen.insert(id.clone()) {
                continue;
            }
            match of_message(environment, &body.unwrap_or_default(), &mut process).await {
                Ok(()) => {
                    let deleted = client.delete_message().queue_url(url).receipt_handle(handle).send().await;
                    match deleted {
                        Ok(_) => taken.done += 1,
                        Err(error) => taken.leave(
                            id,
                            &anyhow!("its records are processed, but it was not deleted: {}", lambda::chain(&error)),
                        ),
                    }
                }
                Err(error) => {
                    taken.leave(format!("message {id}"), &error);
                    hidden.push(handle);
                }
            }
        }
    }
    for handle in hidden {
        // Otherwise it comes back by itself.
        _ = client.change_message_visibility().queue_url(url).receipt_handle(handle).visibility_timeout(0).send().await;
    }
    Ok(taken)
}

/// Takes each object of a bucket that Lambda has put there: processes its records, and then deletes it.
pub async fn take_from_bucket(
    environment: &Environment,
    bucket: &str,
    mut process: impl AsyncFnMut(Vec<Lost>) -> Result<()>,
) -> Result<Taken> {
    let keys = Bucket::open(environment, bucket)?.list("aws/lambda/").await.context("the bucket")?;
    let mut taken = Taken::default();
    for key in keys {
        let object = Object { bucket: bucket.to_owned(), key };
        match of_object(environment, &object, &mut process).await {
            Ok(()) => taken.done += 1,
            Err(error) => taken.leave(format!("s3://{bucket}/{}", object.key), &error),
        }
    }
    Ok(taken)
}

async fn of_message(
    environment: &Environment,
    body: &str,
    process: &mut impl AsyncFnMut(Vec<Lost>) -> Result<()>,
) -> Result<()> {
    let Found { batches, pointers, objects } = read(body)?;
    if let Some(pointer) = pointers.first() {
        return Err(anyhow!("it has no records, only their place: {pointer}"));
    }
    if !batches.is_empty() {
        process(batches).await?;
    }
    for object in &objects {
        of_object(environment, object, process).await?;
    }
    Ok(())
}

/// Processes an object's records and deletes it. An object that does not exist was processed before.
async fn of_object(
    environment: &Environment,
    object: &Object,
    process: &mut impl AsyncFnMut(Vec<Lost>) -> Result<()>,
) -> Result<()> {
    let bucket = Bucket::open(environment, &object.bucket)?;
    let Some(found) = bucket.get(&object.key).await? else { return Ok(()) };
    let text = String::from_utf8(found).context("it is no text")?;
    process(read(&text)?.batches).await?;
    Ok(bucket.delete(&object.key).await?)
}
