//! Marking the availability of all products anew, while the shop is open.

use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use futures_util::StreamExt as _;
use lambda::{Environment, Service};
use serde_json::json;
use tokio::time::MissedTickBehavior;

use crate::scan;

/// Sends each product of the table of this environment to the queue of `mark-availability` with this URL, at most so many a
/// second, and returns their number. `progress` receives the number of items read so far.
///
/// `mark-availability` looks at the stock when it takes the message. So a message may come late, or twice.
///
/// # Errors
/// The table cannot be read, or the queue does not answer.
pub async fn mark_availabilities(
    environment: &Environment,
    queue: &str,
    a_second: u32,
    progress: impl Fn(u64),
) -> Result<u64> {
    let client = environment.client(Service::Sqs, aws_sdk_sqs::Client::new)?;
    let mut pace = tokio::time::interval(Duration::from_secs(1) / a_second.max(1));
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut pages = pin!(scan::products(environment, progress).await?);
    let mut sent = 0;
    while let Some(page) = pages.next().await {
        for product in page? {
            pace.tick().await;
            let message = json!({ "detail": { "productId": product } });
            let call = client.send_message().queue_url(queue).message_body(message.to_string());
            call.send().await.map_err(|error| anyhow!(lambda::chain(&error))).context("the queue")?;
            sent += 1;
        }
    }
    Ok(sent)
}
