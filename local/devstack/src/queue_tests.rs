use super::*;
use crate::aws_json::Service;
use crate::iam::Guard;
use crate::resource::queue_url;

struct Bench {
    queues: Queues,
    service: Service,
}

impl Bench {
    /// An SQS with the queue `writes`, whose dead letters go to `dead` after two receives.
    async fn start(data: Option<&Path>) -> Self {
        crate::clock::start();
        let queues = Queues::start(0, data, Guard::of_nobody()).await.unwrap();
        let service = Service::sqs(queues.url()).unwrap();
        let bench = Self { queues, service };
        bench.call("CreateQueue", json!({ "QueueName": "dead" })).await.unwrap();
        let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":2}"#;
        let attributes = json!({ "VisibilityTimeout": "1", "RedrivePolicy": policy });
        bench.call("CreateQueue", json!({ "QueueName": "writes", "Attributes": attributes })).await.unwrap();
        bench
    }

    /// The answer, or the error code.
    async fn call(&self, action: &str, mut request: Value) -> Result<Value, String> {
        if request["QueueUrl"].is_null() {
            request["QueueUrl"] = json!(queue_url("writes"));
        }
        let outcome = self.service.call(action, &request).await.unwrap();
        outcome.map_err(|refusal| refusal.0["__type"].as_str().unwrap().to_owned())
    }

    async fn send(&self, body: &str) {
        self.call("SendMessage", json!({ "MessageBody": body })).await.unwrap();
    }

    /// Receives from `writes` with these members of the request.
    async fn receive(&self, request: Value) -> Vec<Value> {
        let answer = self.call("ReceiveMessage", request).await.unwrap();
        answer["Messages"].as_array().cloned().unwrap_or_default()
    }

    /// The numbers of messages of `writes`: visible, in flight and delayed.
    async fn counts(&self) -> [String; 3] {
        let answer = self.call("GetQueueAttributes", json!({ "AttributeNames": ["All"] })).await.unwrap();
        ["", "NotVisible", "Delayed"].map(|suffix| {
            answer["Attributes"][format!("ApproximateNumberOfMessages{suffix}")].as_str().unwrap().to_owned()
        })
    }
}

#[tokio::test]
async fn a_message_arrives_with_the_requested_attributes() {
    let bench = Bench::start(None).await;
    let attributes = json!({
        "kind": { "DataType": "String", "StringValue": "note" },
        "key": { "DataType": "Binary", "BinaryValue": "AQID" },
    });
    bench.call("SendMessage", json!({ "MessageBody": "one", "MessageAttributes": attributes })).await.unwrap();

    let silent = &bench.receive(json!({ "VisibilityTimeout": 0 })).await[0];
    assert_eq!((silent.get("Attributes"), silent.get("MessageAttributes")), (None, None));

    let asked = json!({ "MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"] });
    let message = &bench.receive(asked).await[0];
    assert_eq!((&message["Body"], &message["MessageAttributes"]), (&json!("one"), &attributes));
    assert_eq!(message["Attributes"]["ApproximateReceiveCount"], "2");
    for name in ["SenderId", "SentTimestamp", "ApproximateFirstReceiveTimestamp"] {
        assert!(message["Attributes"][name].is_string(), "{name}: {message}");
    }
}

#[tokio::test]
async fn a_delayed_message_is_counted_and_comes_later() {
    let bench = Bench::start(None).await;
    bench.call("SendMessage", json!({ "MessageBody": "late", "DelaySeconds": 1 })).await.unwrap();
    assert_eq!(bench.counts().await, ["0", "0", "1"]);
    assert_eq!(bench.receive(json!({})).await.len(), 0);
    assert_eq!(bench.receive(json!({ "WaitTimeSeconds": 3 })).await.len(), 1);
}

#[tokio::test]
async fn a_returned_message_is_counted_as_visible() {
    let bench = Bench::start(None).await;
    bench.send("one").await;
    let message = &bench.receive(json!({})).await[0];
    assert_eq!(bench.counts().await, ["0", "1", "0"]);

    let entry = json!({ "Id": "a", "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0 });
    let answer = bench.call("ChangeMessageVisibilityBatch", json!({ "Entries": [entry] })).await.unwrap();
    assert_eq!(answer["Successful"], json!([{ "Id": "a" }]));
    assert_eq!(bench.counts().await, ["1", "0", "0"]);
}

#[tokio::test]
async fn a_message_that_is_received_too_often_is_a_dead_letter() {
    let bench = Bench::start(None).await;
    bench.send("poison").await;
    for _ in 0..2 {
        assert_eq!(bench.receive(json!({ "VisibilityTimeout": 0 })).await.len(), 1);
    }
    assert_eq!(bench.receive(json!({})).await.len(), 0);
    assert_eq!(bench.receive(json!({ "QueueUrl": queue_url("dead") })).await[0]["Body"], "poison");
}

#[tokio::test]
async fn a_bad_entry_fails_alone() {
    let bench = Bench::start(None).await;
    let long = "x".repeat(MAX_MESSAGE_BYTES);
    let entries = json!([{ "Id": "a", "MessageBody": "one" }, { "Id": "b", "MessageBody": "" }]);
    let answer = bench.call("SendMessageBatch", json!({ "Entries": entries })).await.unwrap();
    assert_eq!((&answer["Successful"][0]["Id"], &answer["Failed"][0]["Id"]), (&json!("a"), &json!("b")));

    let handle = bench.receive(json!({})).await[0]["ReceiptHandle"].clone();
    let entries = json!([{ "Id": "a", "ReceiptHandle": "nonsense" }, { "Id": "b", "ReceiptHandle": handle }]);
    let answer = bench.call("DeleteMessageBatch", json!({ "Entries": entries })).await.unwrap();
    assert_eq!(answer["Successful"], json!([{ "Id": "b" }]));
    assert_eq!(answer["Failed"][0]["Code"], "ReceiptHandleIsInvalid");
    assert_eq!(bench.counts().await, ["0", "0", "0"]);

    let entry = |id: &str, body: &str| json!({ "Id": id, "MessageBody": body });
    for (entries, code) in [
        (json!([]), "EmptyBatchRequest"),
        (json!([entry("a", "one"), entry("a", "two")]), "BatchEntryIdsNotDistinct"),
        (json!([entry("a", "one"), entry("b", &long)]), "BatchRequestTooLong"),
        (json!(vec![entry("a", "one"); 11]), "TooManyEntriesInBatchRequest"),
    ] {
        let refused = bench.call("SendMessageBatch", json!({ "Entries": entries })).await;
        assert_eq!(refused, Err(format!("AWS.SimpleQueueService.{code}")));
    }
}

#[tokio::test]
async fn a_message_has_at_most_a_mebibyte_with_its_attributes() {
    let bench = Bench::start(None).await;
    let body = "x".repeat(MAX_MESSAGE_BYTES - 20);
    let attribute = |value: &str| json!({ "note": { "DataType": "String", "StringValue": value } });
    let fits = json!({ "MessageBody": body, "MessageAttributes": attribute("0123456789") });
    assert!(bench.call("SendMessage", fits).await.is_ok());
    let long = json!({ "MessageBody": body, "MessageAttributes": attribute("0123456789+") });
    assert_eq!(bench.call("SendMessage", long).await, Err("InvalidParameterValue".to_owned()));
}

#[tokio::test]
async fn values_out_of_range_and_unknown_queues_are_refused() {
    let bench = Bench::start(None).await;
    let invalid = Err("InvalidParameterValue".to_owned());
    assert_eq!(bench.call("ReceiveMessage", json!({ "MaxNumberOfMessages": 11 })).await, invalid);
    assert_eq!(bench.call("SendMessage", json!({ "MessageBody": "one", "DelaySeconds": 901 })).await, invalid);
    let nowhere = json!({ "QueueUrl": queue_url("nowhere"), "Entries": [{ "Id": "a", "MessageBody": "one" }] });
    let refused = bench.call("SendMessageBatch", nowhere).await;
    assert_eq!(refused, Err("AWS.SimpleQueueService.NonExistentQueue".to_owned()));
}

#[tokio::test]
async fn messages_survive_a_restart_and_messages_in_flight_come_back() {
    let data = std::env::temp_dir().join(format!("devstack-queues-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir(&data).unwrap();
    let bench = Bench::start(Some(&data)).await;
    let attributes = json!({ "key": { "DataType": "Binary", "BinaryValue": "AQID" } });
    bench.call("SendMessage", json!({ "MessageBody": "one", "MessageAttributes": attributes })).await.unwrap();
    bench.receive(json!({})).await;
    bench.queues.shutdown(Duration::from_millis(100)).await.unwrap();

    let bench = Bench::start(Some(&data)).await;
    assert_eq!(bench.counts().await, ["0", "1", "0"]);
    let asked = json!({ "WaitTimeSeconds": 3, "AttributeNames": ["All"], "MessageAttributeNames": ["k.*"] });
    let message = &bench.receive(asked).await[0];
    assert_eq!((&message["Body"], &message["MessageAttributes"]), (&json!("one"), &attributes));
    assert_eq!(message["Attributes"]["ApproximateReceiveCount"], "2");
    std::fs::remove_dir_all(&data).unwrap();
}

#[tokio::test]
async fn a_killed_process_loses_no_message_and_restores_no_deleted_one() {
    let data = std::env::temp_dir().join(format!("devstack-queues-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir(&data).unwrap();
    for round in 0..3 {
        let bench = Bench::start(Some(&data)).await;
        bench.call("SendMessage", json!({ "MessageBody": format!("deleted {round}") })).await.unwrap();
        let handle = &bench.receive(json!({})).await[0]["ReceiptHandle"];
        bench.call("DeleteMessage", json!({ "ReceiptHandle": handle })).await.unwrap();
        bench.call("SendMessage", json!({ "MessageBody": format!("kept {round}") })).await.unwrap();
        bench.receive(json!({})).await;
        // Like SIGKILL: nothing is written at the end.
        drop(bench);
        let bench = Bench::start(Some(&data)).await;
        let kept = &bench.receive(json!({})).await[0];
        assert_eq!(kept["Body"], format!("kept {round}"), "what was only received comes back");
        bench.call("DeleteMessage", json!({ "ReceiptHandle": kept["ReceiptHandle"] })).await.unwrap();
        assert_eq!(bench.receive(json!({})).await.len(), 0);
    }
    std::fs::remove_dir_all(&data).unwrap();
}

#[tokio::test]
async fn a_message_is_kept_for_the_queue_s_retention_period() {
    let bench = Bench::start(None).await;
    let attributes = json!({ "MessageRetentionPeriod": "1" });
    bench.call("CreateQueue", json!({ "QueueName": "brief", "Attributes": attributes })).await.unwrap();
    let url = queue_url("brief");
    bench.call("SendMessage", json!({ "QueueUrl": url, "MessageBody": "one" })).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(bench.receive(json!({ "QueueUrl": url })).await.len(), 0);
}
