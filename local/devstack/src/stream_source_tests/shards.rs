use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::Options;
use crate::listen::{free_port, url_of};
use crate::test_stack::{Bench, Call, stream_template};

/// The shards of the fake stream: id, parent, and the keys of their records. All but the last are closed.
const SHARDS: [(&str, Option<&str>, &[&str]); 3] =
    [("child", Some("parent"), &["c"]), ("parent", Some("trimmed"), &["a", "b"]), ("open", Some("child"), &["d"])];

/// A fake `DynamoDB` with a stream of several shards, whose iterators expire after one use.
async fn other_dynamodb() -> String {
    let listener = free_port().await.unwrap();
    let url = url_of(&listener).unwrap();
    let router = Router::new().fallback(answer).with_state(Arc::new(AtomicBool::new(false)));
    tokio::spawn(axum::serve(listener, router).into_future());
    url
}

async fn answer(State(expired): State<Arc<AtomicBool>>, headers: HeaderMap, body: String) -> (StatusCode, String) {
    let request: Value = serde_json::from_str(&body).unwrap();
    let action = headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap();
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    let answer = match action {
        "DescribeTable" => json!({ "Table": { "TableStatus": "ACTIVE", "LatestStreamArn": "arn:of:the:stream" } }),
        "ListStreams" => json!({ "Streams": [{ "StreamArn": "arn:of:the:stream" }] }),
        "DescribeStream" => {
            // One at a time.
            let last = SHARDS.iter().position(|(id, ..)| *id == text("ExclusiveStartShardId"));
            let next = last.map_or(0, |last| last + 1);
            let (id, parent, _) = SHARDS[next];
            let mut description = json!({ "Shards": [{ "ShardId": id, "ParentShardId": parent }] });
            if next + 1 < SHARDS.len() {
                description["LastEvaluatedShardId"] = json!(id);
            }
            json!({ "StreamDescription": description })
        }
        "GetShardIterator" => {
            let from = if text("ShardIteratorType") == "TRIM_HORIZON" { "" } else { text("SequenceNumber") };
            json!({ "ShardIterator": format!("{} {from}", text("ShardId")) })
        }
        "GetRecords" => {
            let (shard, after) = text("ShardIterator").split_once(' ').unwrap();
            if !after.is_empty() && !expired.swap(true, Ordering::Relaxed) {
                let refusal = json!({ "__type": "ExpiredIteratorException", "message": "too late" });
                return (StatusCode::BAD_REQUEST, refusal.to_string());
            }
            let (id, _, keys) = SHARDS.iter().find(|(id, ..)| *id == shard).unwrap();
            let key = keys.iter().find(|key| **key > after);
            let records: Vec<_> = key.map(|key| record(key)).into_iter().collect();
            let open = key.is_some() || *id == "open";
            let next = open.then(|| format!("{shard} {}", key.unwrap_or(&after)));
            json!({ "Records": records, "NextShardIterator": next })
        }
        _ => json!({}),
    };
    (StatusCode::OK, answer.to_string())
}

fn record(key: &str) -> Value {
    let written =
        json!({ "Keys": { "PK": { "S": key } }, "SequenceNumber": key, "ApproximateCreationDateTime": 1.8e9 });
    json!({ "eventName": "INSERT", "dynamodb": written })
}

#[tokio::test]
async fn every_shard_is_read_parents_first_even_if_iterators_expire() {
    let endpoint = Some(other_dynamodb().await);
    let options = Options { dynamodb_endpoint: endpoint, ..Options::new(stream_template(|_| {})) };
    let bench = Bench::start_with(options, |_| async { Ok(Value::Null) }).await;
    let calls = bench.after(4).await;
    assert_eq!(calls.iter().map(Call::keys).collect::<String>(), "abcd");
    assert_eq!(calls.last().unwrap().environment, 0, "an environment goes from shard to shard");
}
