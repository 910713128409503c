//! Measures the whole stack over HTTP.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cpu_time::{ProcessTime, ThreadTime};
use devstack::Stack;
use futures_util::{StreamExt, TryStreamExt, stream};
use local::demo;
use reqwest::Client;
use serde_json::Value;

use super::alone::{Cost, on_a_thread};
use super::subject::Event;

/// The longest wait for the consumers of the stream.
const SETTLING: Duration = Duration::from_mins(5);

/// Sends these events as requests, from this many clients on one thread. The CPU time is that of all other threads,
/// until the stream is counted.
pub(super) async fn drive(stack: &Stack, events: Vec<Event>, clients: u32) -> Result<Cost> {
    let (count, everybody) = (events.len(), ProcessTime::now());
    let (url, token) = visitor(stack)?;
    let (took, theirs) = on_a_thread(move || async move {
        let (http, began, own) = (client()?, Instant::now(), ThreadTime::now());
        let (http, url, token) = (&http, &*url, &*token);
        let sending = stream::iter(&events).map(|event| async move { send(http, url, token, event).await.map(|_| ()) });
        sending.buffer_unordered(clients as usize).try_collect::<()>().await?;
        Ok((began.elapsed(), own.elapsed()))
    })
    .await?;
    stack.settle(SETTLING).await?;
    Cost::of(count, took, everybody.elapsed().saturating_sub(theirs))
}

/// The answer to the first of these.
pub(super) async fn one(stack: &Stack, events: &[Event]) -> Result<Value> {
    let (url, token) = visitor(stack)?;
    let answer = send(&client()?, &url, &token, events.first().context("there is no event")?).await?;
    Ok(serde_json::from_slice(&answer)?)
}

fn visitor(stack: &Stack) -> Result<(String, String)> {
    Ok((stack.url().to_owned(), stack.token(demo::CUSTOMER, http_api::SHOP_SCOPE)?))
}

fn client() -> Result<Client> {
    Client::builder().no_proxy().build().context("cannot make an HTTP client")
}

async fn send(http: &Client, url: &str, token: &str, event: &Event) -> Result<Vec<u8>> {
    let answer = event.request(http, url, token)?.send().await.context("the stack does not answer")?;
    let status = answer.status();
    let body = answer.bytes().await.context("the stack does not answer")?;
    ensure!(status == event.status, "the stack answered {status}: {}", String::from_utf8_lossy(&body));
    Ok(body.to_vec())
}
