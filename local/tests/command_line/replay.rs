//! Publishing again what was given up.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::{LOCAL, Running, refused};

#[tokio::test]
async fn a_replay_publishes_events_and_names_what_it_cannot_publish() {
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let event: Value = serde_json::from_str(include_str!("../../../events/publish-order-events.json")).unwrap();
    let message = |record: &Value| {
        let number = &record["dynamodb"]["SequenceNumber"];
        let body = json!({ "reason": "r", "sequenceNumber": number, "Records": [record] });
        json!({ "MessageId": "m", "Body": body.to_string() })
    };
    let records = event["Records"].as_array().unwrap();
    let mut messages: Vec<_> = records.iter().map(message).collect();
    let pointer = json!({ "DDBStreamBatchInfo": { "shardId": "shardId-1", "startSequenceNumber": "7" } });
    messages.push(json!({ "MessageId": "m", "Body": pointer.to_string() }));
    let file = std::env::temp_dir().join(format!("till-replay-{}.json", uuid::Uuid::new_v4()));
    std::fs::write(&file, json!({ "Messages": messages }).to_string()).unwrap();

    let replay = || Command::new(LOCAL).args(["replay", file.to_str().unwrap(), "--port", running.port()]).output();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut published = Vec::new();
    for _ in 0..2 {
        let Output { status, stdout, .. } = replay().unwrap();
        let printed = String::from_utf8(stdout).unwrap();
        // The table has no order, so the lines of the one that was placed are missing.
        let placed = records[0]["dynamodb"]["SequenceNumber"].as_str().unwrap();
        assert!(printed.contains(&format!("record {placed} cannot be published: ")), "{printed}");
        assert!(printed.contains("a message has no records, only their place: "), "{printed}");
        assert_eq!(status.code(), Some(1), "{printed}");
        let number: usize =
            printed.strip_prefix("published ").and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
        assert!(number > 0, "{printed}");

        let events = client.get(format!("{}/_local/events", running.url)).send().await.unwrap().text().await.unwrap();
        let events: Value = serde_json::from_str(&events).unwrap();
        published.push((number, events["items"].as_array().unwrap().clone()));
    }
    std::fs::remove_file(&file).unwrap();
    let [(first, once), (second, twice)] = &published[..] else { panic!("two replays") };
    assert_eq!((first, once.len(), twice.len()), (second, *first, first + second));
    let id = |event: &Value| event["detail"]["id"].clone();
    let repeated = twice.iter().filter(|event| once.iter().any(|known| id(known) == id(event))).count();
    assert_eq!(repeated, first + second, "a repeated event has its own id");
}

#[test]
fn a_replay_without_files_takes_the_queue_of_the_running_stack() {
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    for (more, expected) in [
        (None, "published 0 events\n0 messages or objects are processed and deleted\n"),
        (
            Some("--counts"),
            "counted 0 records; 0 were counted before\n0 messages or objects are processed and deleted\n",
        ),
    ] {
        let replay = Command::new(LOCAL).args(["replay", "--port", running.port()]).args(more).output();
        let Output { status, stdout, stderr } = replay.unwrap();
        assert_eq!(String::from_utf8(stdout).unwrap(), expected, "{}", String::from_utf8_lossy(&stderr));
        assert!(status.success());
    }
}

#[test]
fn a_replay_on_a_deployed_bus_needs_the_table_and_the_bus() {
    let file = std::env::temp_dir().join(format!("till-no-replay-{}.json", uuid::Uuid::new_v4()));
    std::fs::write(&file, "{}").unwrap();
    let name = file.to_str().unwrap();
    let error = refused(&["replay", name, "--table", "orders"]);
    assert!(error.contains("--table needs --bus"), "{error}");
    for more in [&["--bus", "orders"][..], &["--counts"]] {
        let error = refused(&[&["replay", "--table", "orders"], more].concat());
        assert!(error.contains("--table needs --queue, --bucket or files"), "{error}");
    }
    let error = refused(&["replay", name, "--port", "1"]);
    assert!(error.contains("it has no records"), "{error}");
    std::fs::remove_file(&file).unwrap();
}
