//! Calls with the credentials of functions.

use serde_json::{Value, json};

use crate::Shop;
use crate::queue::url;

impl Shop {
    /// Calls DynamoDB through the fault proxy with the credentials of a function, by its logical id.
    pub async fn dynamodb_as(&self, function: &str, action: &str, request: &Value) -> (u16, Value) {
        self.call_as(function, self.fault_proxy().url(), &format!("DynamoDB_20120810.{action}"), request).await
    }

    pub async fn sqs_as(&self, function: &str, action: &str, queue: &str, mut request: Value) -> (u16, Value) {
        request["QueueUrl"] = json!(url(queue));
        self.call_as(function, self.sqs_url(), &format!("AmazonSQS.{action}"), &request).await
    }

    /// Puts an event with this source on a bus, with the credentials of a function.
    pub async fn put_event_as(&self, function: &str, bus: &str, source: &str) -> (u16, Value) {
        let entry = json!({ "EventBusName": bus, "Source": source, "DetailType": "OrderPlaced", "Detail": "{}" });
        self.call_as(function, self.bus().url(), "AWSEvents.PutEvents", &json!({ "Entries": [entry] })).await
    }
}
