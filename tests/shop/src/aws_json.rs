//! Calls services in AWS's JSON protocol, with any access key.

use reqwest::Client as Http;
use serde_json::{Value, json};

use crate::Shop;

/// The access key of a caller that is not a function. It may do anything.
pub const OPERATOR: &str = "operator";

/// Calls an action such as `DynamoDB_20120810.GetItem`, and returns the status and the answer.
pub async fn call(http: &Http, url: &str, access_key: &str, target: &str, request: &Value) -> (u16, Value) {
    // Local services require a signature, but do not check it.
    let signature = format!(
        "AWS4-HMAC-SHA256 Credential={access_key}/20260101/us-east-1/any/aws4_request, SignedHeaders=host, Signature=0"
    );
    let call = http
        .post(url)
        .header("x-amz-target", target)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", signature)
        .body(request.to_string());
    let answer = call.send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Calls an action as the operator. The call must succeed.
pub async fn expect(http: &Http, url: &str, target: &str, request: &Value) -> Value {
    let (status, body) = call(http, url, OPERATOR, target, request).await;
    assert_eq!(status, 200, "{target}: {body}");
    body
}

/// Every item of a table, in the sequence of a scan.
pub async fn scan(http: &Http, url: &str, table: &str) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let mut start = Value::Null;
    loop {
        let mut scan = json!({ "TableName": table, "ConsistentRead": true });
        if !start.is_null() {
            scan["ExclusiveStartKey"] = start;
        }
        let answer = expect(http, url, "DynamoDB_20120810.Scan", &scan).await;
        items.extend(answer["Items"].as_array().expect("items").iter().cloned());
        start = answer["LastEvaluatedKey"].clone();
        if start.is_null() {
            break;
        }
    }
    items
}

impl Shop {
    /// Calls the engine directly.
    pub async fn dynamodb(&self, action: &str, request: &Value) -> Value {
        self.call_dynamodb(&format!("DynamoDB_20120810.{action}"), request).await
    }

    /// Calls the engine's streams.
    pub async fn dynamodb_streams(&self, action: &str, request: &Value) -> Value {
        self.call_dynamodb(&format!("DynamoDBStreams_20120810.{action}"), request).await
    }

    async fn call_dynamodb(&self, target: &str, request: &Value) -> Value {
        expect(&self.http, self.stack.dynamodb_url(), target, request).await
    }

    /// Calls a service at this base URL with the credentials of a function, by its logical id.
    pub async fn call_as(&self, function: &str, url: &str, target: &str, request: &Value) -> (u16, Value) {
        call(&self.http, url, function, target, request).await
    }

    pub async fn call_sqs(&self, action: &str, request: &Value) -> Value {
        expect(&self.http, self.sqs_url(), &format!("AmazonSQS.{action}"), request).await
    }
}
