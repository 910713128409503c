//! What the functions' roles allow, in the hands of a test.

use serde_json::{Value, json};

use crate::shop::Shop;

impl Shop {
    /// Calls DynamoDB over the wire with the credentials of a function, named as in the template.
    pub async fn dynamodb_as(&self, function: &str, action: &str, request: &Value) -> (u16, Value) {
        call(self.wire().url(), function, &format!("DynamoDB_20120810.{action}"), request).await
    }

    /// Calls SQS with the credentials of a function.
    pub async fn sqs_as(&self, function: &str, action: &str, queue: &str, mut request: Value) -> (u16, Value) {
        request["QueueUrl"] = json!(format!("https://sqs.us-east-1.amazonaws.com/000000000000/{queue}"));
        call(self.sqs_url(), function, &format!("AmazonSQS.{action}"), &request).await
    }

    /// Tells a bus of one event, from this source, with the credentials of a function.
    pub async fn put_event_as(&self, function: &str, bus: &str, source: &str) -> (u16, Value) {
        let entry = json!({ "EventBusName": bus, "Source": source, "DetailType": "OrderPlaced", "Detail": "{}" });
        call(self.bus().url(), function, "AWSEvents.PutEvents", &json!({ "Entries": [entry] })).await
    }
}

async fn call(url: &str, function: &str, target: &str, request: &Value) -> (u16, Value) {
    let signature = format!(
        "AWS4-HMAC-SHA256 Credential={function}/20260101/us-east-1/any/aws4_request, SignedHeaders=host, Signature=0"
    );
    let call = reqwest::Client::new()
        .post(url)
        .header("x-amz-target", target)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", signature)
        .body(request.to_string());
    let answer = call.send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}
