//! A layer in front of the library, for behaviour of SQS that the library lacks.
//!
//! A batch is split into single calls, because in the library one bad entry fails all of them. Sizes and ranges are
//! checked. Binary attributes are stored as text, because the library drops bytes. A receive returns only the requested
//! attributes, so that a function that forgets to request one fails here, and not only on AWS.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use winterbaume_core::{MockRequest, MockService};
use winterbaume_sqs::SqsService;

use super::MAX_MESSAGE_BYTES;

/// The most entries of a batch, and the most messages of a receive.
const MAX_ENTRIES: usize = 10;

const MAX_DELAY_SECONDS: i64 = 900;

/// An answer, or the code and the message of an error.
pub(super) type Outcome = Result<Value, Fault>;

/// An error of SQS.
pub(super) struct Fault {
    pub(super) code: String,
    pub(super) message: String,
}

impl Fault {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterValue", message)
    }
}

/// Handles one call.
pub(super) async fn answer(library: &SqsService, action: &str, request: Value) -> Outcome {
    match action.strip_suffix("Batch") {
        Some(single) => batch(library, single, &request).await,
        None => single(library, action, request).await,
    }
}

async fn single(library: &SqsService, action: &str, request: Value) -> Outcome {
    match action {
        "SendMessage" => send(library, request).await,
        "ReceiveMessage" => receive(library, &request).await,
        _ => pass(library, action, &request).await,
    }
}

async fn batch(library: &SqsService, action: &str, request: &Value) -> Outcome {
    let entries = request["Entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    ensure_sound(entries)?;

    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for entry in entries {
        let mut call = entry.clone();
        call["QueueUrl"] = request["QueueUrl"].clone();
        match single(library, action, call).await {
            Ok(answer) => {
                let mut answer = answer.as_object().cloned().unwrap_or_default();
                answer.insert("Id".to_owned(), entry["Id"].clone());
                successful.push(answer);
            }
            Err(fault) if fault.code.ends_with("NonExistentQueue") => return Err(fault),
            Err(Fault { code, message }) => {
                failed.push(json!({ "Id": entry["Id"], "SenderFault": true, "Code": code, "Message": message }));
            }
        }
    }
    Ok(json!({ "Successful": successful, "Failed": failed }))
}

fn ensure_sound(entries: &[Value]) -> Result<(), Fault> {
    let ids: BTreeSet<_> = entries.iter().filter_map(|entry| entry["Id"].as_str()).collect();
    let bytes: usize = entries.iter().map(size).sum();
    let (code, message) = if entries.is_empty() {
        ("EmptyBatchRequest", "There should be at least one entry in the request.".to_owned())
    } else if entries.len() > MAX_ENTRIES {
        let message =
            format!("Maximum number of entries per request are {MAX_ENTRIES}. You have sent {}.", entries.len());
        ("TooManyEntriesInBatchRequest", message)
    } else if ids.len() < entries.len() {
        ("BatchEntryIdsNotDistinct", "Every entry needs an Id of its own.".to_owned())
    } else if bytes > MAX_MESSAGE_BYTES {
        let message =
            format!("Batch requests cannot be longer than {MAX_MESSAGE_BYTES} bytes. You have sent {bytes} bytes.");
        ("BatchRequestTooLong", message)
    } else {
        return Ok(());
    };
    Err(Fault::new(&format!("AWS.SimpleQueueService.{code}"), message))
}

async fn send(library: &SqsService, mut request: Value) -> Outcome {
    if size(&request) > MAX_MESSAGE_BYTES {
        let reason = format!("Message must be shorter than {MAX_MESSAGE_BYTES} bytes.");
        return Err(Fault::invalid(format!("One or more parameters are invalid. Reason: {reason}")));
    }
    if let Some(delay) = request["DelaySeconds"].as_i64().filter(|delay| !(0..=MAX_DELAY_SECONDS).contains(delay)) {
        let reason = format!("DelaySeconds must be >= 0 and <= {MAX_DELAY_SECONDS}.");
        return Err(Fault::invalid(format!("Value {delay} for parameter DelaySeconds is invalid. Reason: {reason}")));
    }
    rename_binary(&mut request["MessageAttributes"], "BinaryValue", "StringValue");
    pass(library, "SendMessage", &request).await
}

/// A message's size: its body, and the name, type and value of each attribute.
fn size(message: &Value) -> usize {
    let text = |value: &Value| value.as_str().map_or(0, str::len);
    let attributes = message["MessageAttributes"].as_object().into_iter().flatten().map(|(name, attribute)| {
        // Four base64 characters are three bytes.
        let bytes = text(&attribute["BinaryValue"]) / 4 * 3;
        name.len() + text(&attribute["DataType"]) + text(&attribute["StringValue"]) + bytes
    });
    text(&message["MessageBody"]) + attributes.sum::<usize>()
}

async fn receive(library: &SqsService, request: &Value) -> Outcome {
    let wanted = request["MaxNumberOfMessages"].as_u64().unwrap_or(1);
    if !(1..=MAX_ENTRIES as u64).contains(&wanted) {
        let reason = format!("Must be between 1 and {MAX_ENTRIES}, if provided.");
        let message = format!("Value {wanted} for parameter MaxNumberOfMessages is invalid. Reason: {reason}");
        return Err(Fault::invalid(message));
    }

    let mut answer = pass(library, "ReceiveMessage", request).await?;
    for message in answer["Messages"].as_array_mut().into_iter().flatten() {
        rename_binary(&mut message["MessageAttributes"], "StringValue", "BinaryValue");
        retain(message, "MessageAttributes", &[&request["MessageAttributeNames"]]);
        retain(message, "Attributes", &[&request["AttributeNames"], &request["MessageSystemAttributeNames"]]);
        // The library treats zero as absent, and uses the queue's visibility timeout.
        if request["VisibilityTimeout"] == 0 {
            let seen = json!({
                "QueueUrl": request["QueueUrl"],
                "ReceiptHandle": message["ReceiptHandle"],
                "VisibilityTimeout": 0,
            });
            pass(library, "ChangeMessageVisibility", &seen).await?;
        }
    }
    Ok(answer)
}

/// Renames the field that holds the value of every binary attribute.
fn rename_binary(attributes: &mut Value, from: &str, to: &str) {
    for attribute in attributes.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        let binary = attribute.get("DataType").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("Binary"));
        if binary && let Some(value) = attribute.remove(from) {
            attribute.insert(to.to_owned(), value);
        }
    }
}

/// Keeps the attributes of a message that a receive requests: by name, by `prefix.*`, or all.
fn retain(message: &mut Value, property: &str, lists: &[&Value]) {
    let asked: Vec<_> = lists.iter().filter_map(|list| list.as_array()).flatten().filter_map(Value::as_str).collect();
    let wanted = |name: &str| {
        asked.iter().any(|asked| match asked.strip_suffix(".*") {
            Some(prefix) => name.starts_with(prefix),
            None => *asked == "All" || *asked == name,
        })
    };
    let Some(attributes) = message[property].as_object_mut() else {
        // Indexing has created the property.
        message.as_object_mut().and_then(|message| message.remove(property));
        return;
    };
    attributes.retain(|name, _| wanted(name));
    if attributes.is_empty() {
        message.as_object_mut().and_then(|message| message.remove(property));
    }
}

async fn pass(library: &SqsService, action: &str, request: &Value) -> Outcome {
    let target = format!("AmazonSQS.{action}").parse();
    let target = target.map_err(|_| Fault::new("InvalidAction", "The action is not a name."))?;
    let call = MockRequest {
        method: "POST".to_owned(),
        uri: "/".to_owned(),
        headers: [(axum::http::HeaderName::from_static("x-amz-target"), target)].into_iter().collect(),
        body: request.to_string().into(),
    };
    let response = library.handle(call).await;
    let body: Value = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
    if response.status < 400 {
        return Ok(body);
    }
    let text = |field: &str| body[field].as_str().unwrap_or("InternalError").to_owned();
    Err(Fault { code: text("__type"), message: text("message") })
}
