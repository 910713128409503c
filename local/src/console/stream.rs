//! The stream of the table, and the events that its consumers published.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Context as _, Result};
use axum::http::StatusCode;
use axum::response::Response;
use devstack::Service;
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::table::{link, plain, values};
use super::{Shown, shell};

const HERE: &str = "/_local/stream";

/// The most records and events that the page shows.
const MOST: usize = 50;

/// The most requests with which the page catches up with a shard. Each reads up to a thousand records.
const MOST_READS: usize = 20;

/// The newest records of a table's stream.
#[derive(Default)]
pub struct Tail(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    /// The last record that was read of each shard.
    positions: BTreeMap<String, String>,
    records: VecDeque<Value>,
}

impl Tail {
    /// Reads what was written since the last time. Returns the newest records, the newest first.
    async fn newest(&self, dynamodb: &Service, streams: &Service, table: &str) -> Result<Vec<Value>> {
        let mut inside = self.0.lock().await;
        let described = dynamodb.succeed("DescribeTable", &json!({ "TableName": table })).await?;
        let stream = described["Table"]["LatestStreamArn"].as_str().context("the table has no stream")?;
        let shards = streams.succeed("DescribeStream", &json!({ "StreamArn": stream })).await?;
        for shard in shards["StreamDescription"]["Shards"].as_array().into_iter().flatten() {
            let id = shard["ShardId"].as_str().context("a shard has no id")?;
            let mut request = json!({ "StreamArn": stream, "ShardId": id, "ShardIteratorType": "TRIM_HORIZON" });
            if let Some(position) = inside.positions.get(id) {
                request["ShardIteratorType"] = json!("AFTER_SEQUENCE_NUMBER");
                request["SequenceNumber"] = json!(position);
            }
            let mut next = streams.succeed("GetShardIterator", &request).await?["ShardIterator"].take();
            for _ in 0..MOST_READS {
                if next.is_null() {
                    break;
                }
                let mut page = streams.succeed("GetRecords", &json!({ "ShardIterator": next })).await?;
                let records = page["Records"].as_array_mut().map(std::mem::take).unwrap_or_default();
                let Some(last) = records.last() else { break };
                let position = last["dynamodb"]["SequenceNumber"].as_str().context("a record has no number")?;
                inside.positions.insert(id.to_owned(), position.to_owned());
                inside.records.extend(records);
                let surplus = inside.records.len().saturating_sub(MOST);
                inside.records.drain(..surplus);
                next = page["NextShardIterator"].take();
            }
        }
        Ok(inside.records.iter().rev().cloned().collect())
    }
}

pub(super) async fn page(stack: Shown) -> Response {
    let table = &stack.tables[0].name;
    let (records, events) =
        match tokio::try_join!(stack.tail.newest(&stack.dynamodb, &stack.streams, table), stack.look("/_local/events"))
        {
            Ok(found) => found,
            Err(error) => return shell::refusal(StatusCode::BAD_GATEWAY, HERE, &format!("{error:#}")),
        };
    let events: Vec<_> = events["items"].as_array().into_iter().flatten().rev().take(MOST).cloned().collect();
    let content = html! {
        h1 { "Stream and events" }
        p.quiet {
            "Each write of " code { (table) } " is a record of its stream. Consumers count the orders from it, and publish the events. "
            "The newest are first, at most " (MOST) " of each."
        }
        div.columns {
            section {
                h2 { "Stream records" }
                @if records.is_empty() { p { "Nothing was written yet." } }
                ul.log { @for record in &records { (of_record(record)) } }
            }
            section {
                h2 { "Events" }
                @if events.is_empty() { p { "No event yet. Place an order on the " a href="/" { "first page" } "." } }
                ul.log { @for event in &events { (of_event(event)) } }
            }
        }
    };
    shell::page(HERE, "Stream and events", &content)
}

fn of_record(record: &Value) -> Markup {
    let written = &record["dynamodb"];
    let [old, new] = ["OldImage", "NewImage"].map(|image| plain(written[image].clone()).unwrap_or_default());
    let now = if new.is_empty() { &old } else { &new };
    let text = |name: &str| now.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = text("EntityType");
    let event = match record["eventName"].as_str() {
        Some("INSERT") => "put",
        Some("REMOVE") => "deleted",
        _ => "changed",
    };
    html! {
        li class={ "k-" (kind) } {
            p {
                span.kind { (kind) } " " (event) " "
                a href=(link(super::table::HERE, &[("partition", text("PK"))])) { code { (text("PK")) } } " "
                @if text("SK") != text("PK") { code { (text("SK")) } }
            }
            @if event == "changed" { p.what { (changes(&old, &new)) } }
        }
    }
}

/// The attributes that a write changed, from what to what.
fn changes(old: &Map<String, Value>, new: &Map<String, Value>) -> Markup {
    let changed = new.iter().filter(|(name, value)| old.get(*name) != Some(value) && *name != "requestId");
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    html! {
        @for (name, value) in changed {
            span { i { (name) } " " @if let Some(old) = old.get(name) { (values::shown(name, old)) " → " } (values::shown(name, value)) }
        }
        @for name in removed { span { i { (name) } " removed" } }
    }
}

fn of_event(event: &Value) -> Markup {
    let detail = &event["detail"];
    let named = |prefix: &str, name: &str| Some(format!("{prefix}{}", detail[name].as_str()?));
    let about = named("o#", "orderId").or_else(|| named("p#", "productId"));
    html! {
        li.event {
            p {
                b { (event["detail-type"].as_str().unwrap_or_default()) } " "
                @if let Some(about) = &about {
                    a href=(link(super::table::HERE, &[("partition", about)])) { code { (about) } }
                }
                " " span.quiet { (values::shown("time", &event["time"])) }
            }
            details { summary { "JSON" } pre { (serde_json::to_string_pretty(event).unwrap_or_default()) } }
        }
    }
}
