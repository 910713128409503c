//! The wire between the functions and the simulated services.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use dynoxide::Database;
use dynoxide::errors::DynoxideError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::locks::{HELD, Locks};
use super::partitions::Partitions;
use super::queue::Queue;

/// The time until a request is at the service, and the time of its answer's way back.
const ONE_WAY: Duration = Duration::from_micros(2_500);

/// The time that a transaction takes besides its locks and the way.
const COORDINATION: Duration = Duration::from_millis(3);

/// The simulated services.
pub(super) struct Services {
    pub(super) database: Database,
    pub(super) queue: Queue,
    locks: Mutex<Locks>,
    partitions: Mutex<Partitions>,
}

/// A connector that leads to them.
pub(super) struct Wire(pub(super) Arc<Services>);

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wire")
    }
}

impl HttpConnector for Wire {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let services = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move {
            sleep(ONE_WAY).await;
            let target = request.headers().get("x-amz-target").unwrap_or_default();
            let (service, action) = target.split_once('.').unwrap_or_default();
            let body = request.body().bytes().unwrap_or_default();
            let (status, text) = match service {
                "AmazonSQS" => {
                    let request = serde_json::from_slice(body).unwrap_or_default();
                    match services.queue.answer(action, &request) {
                        Some(answer) => (200, answer.to_string()),
                        None => (400, unknown(action)),
                    }
                }
                _ => match services.dynamodb(action, body).await {
                    Ok(text) => (200, text),
                    Err(text) => (400, text),
                },
            };
            sleep(ONE_WAY).await;
            let status = status.try_into().unwrap_or_else(|_| unreachable!("200 and 400 are statuses"));
            Ok(HttpResponse::new(status, SdkBody::from(text)))
        })
    }
}

impl Services {
    pub(super) fn new(database: Database) -> Self {
        Self { database, queue: Queue::default(), locks: Mutex::default(), partitions: Mutex::default() }
    }

    /// Answers a request to DynamoDB: a body, or the body of an error.
    async fn dynamodb(&self, action: &str, body: &[u8]) -> Result<String, String> {
        let mut request: Value = serde_json::from_slice(body).unwrap_or_default();
        match action {
            "BatchGetItem" => {
                let unprocessed = self.throttle_reads(&mut request)?;
                let mut answer: Value = read(&self.run(request, Database::batch_get_item)?);
                answer["UnprocessedKeys"] = unprocessed;
                Ok(answer.to_string())
            }
            "Query" => self.run(request, Database::query),
            "TransactGetItems" => {
                let gets = request["TransactItems"].as_array().into_iter().flatten();
                let items: Vec<_> = gets.map(|get| place(&get["Get"]["Key"])).collect();
                let held: Vec<_> = items.iter().map(|(_, item)| self.locks().is_held(item)).collect();
                if held.contains(&true) {
                    return Err(cancelled(&held, "TransactionConflict"));
                }
                self.run(request, Database::transact_get_items)
            }
            "TransactWriteItems" => {
                self.prepare(&request).await?;
                let answer = self.run(request, Database::transact_write_items);
                sleep(COORDINATION).await;
                answer
            }
            "PutItem" | "UpdateItem" | "DeleteItem" => {
                let (partition, item) = place(if action == "PutItem" { &request["Item"] } else { &request["Key"] });
                if self.locks().is_held(&item) {
                    return Err(error_of("TransactionConflictException", "Transaction is ongoing for the item"));
                }
                if !self.partitions().write(&partition, 1.0) {
                    return Err(hot("Write"));
                }
                match action {
                    "PutItem" => self.run(request, Database::put_item),
                    "UpdateItem" => self.run(request, Database::update_item),
                    _ => self.run(request, Database::delete_item),
                }
            }
            other => Err(unknown(other)),
        }
    }

    /// Takes the units and the locks of a transaction, and holds the locks for as long as DynamoDB does.
    async fn prepare(&self, request: &Value) -> Result<(), String> {
        let writes: Vec<_> = request["TransactItems"].as_array().into_iter().flatten().map(written).collect();
        let items: Vec<_> = writes.iter().map(|(_, item, _)| item.clone()).collect();
        let throttled: Vec<_> = {
            let mut partitions = self.partitions();
            let writes = writes.iter().map(|(partition, _, entries)| {
                let is_throttled = !partitions.write(partition, 2.0);
                entries.iter().fold(is_throttled, |throttled, entry| !partitions.write(entry, 1.0) || throttled)
            });
            writes.collect()
        };
        if throttled.contains(&true) {
            return Err(cancelled(&throttled, "ThrottlingError"));
        }
        let locked = self.locks().lock(&items);
        sleep(HELD).await;
        match locked {
            Ok(()) => Ok(()),
            Err(held) => {
                sleep(COORDINATION).await;
                Err(cancelled(&held, "TransactionConflict"))
            }
        }
    }

    /// Takes the keys out of a batch whose partitions have no read units left, and returns them as unprocessed.
    fn throttle_reads(&self, request: &mut Value) -> Result<Value, String> {
        let Some((table, batch)) = request["RequestItems"].as_object_mut().and_then(|tables| tables.iter_mut().next())
        else {
            return Ok(json!({}));
        };
        let units = if batch["ConsistentRead"] == true { 1.0 } else { 0.5 };
        let keys = batch["Keys"].as_array().cloned().unwrap_or_default();
        let mut partitions = self.partitions();
        let (processed, throttled): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| partitions.read(&place(key).0, units));
        if processed.is_empty() {
            return Err(hot("Read"));
        }
        batch["Keys"] = json!(processed);
        if throttled.is_empty() {
            return Ok(json!({}));
        }
        let mut rest = batch.clone();
        rest["Keys"] = json!(throttled);
        Ok(json!({ table.clone(): rest }))
    }

    /// Has the engine answer.
    fn run<I: DeserializeOwned, O: Serialize>(
        &self,
        request: Value,
        action: fn(&Database, I) -> Result<O, DynoxideError>,
    ) -> Result<String, String> {
        let request =
            serde_json::from_value(request).map_err(|error| error_of("SerializationException", &error.to_string()))?;
        match action(&self.database, request) {
            Ok(answer) => Ok(serde_json::to_string(&answer).unwrap_or_default()),
            Err(error) => Err(error.to_json()),
        }
    }

    fn locks(&self) -> MutexGuard<'_, Locks> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn partitions(&self) -> MutexGuard<'_, Partitions> {
        self.partitions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The partition of an item, and its name among all items.
fn place(item: &Value) -> (String, String) {
    let part = |name: &str| item[name]["S"].as_str().unwrap_or_default();
    (part("PK").to_owned(), format!("{} {}", part("PK"), part("SK")))
}

/// The partition and the name of what a part of a transaction writes, and the partitions of its entries in the indexes.
fn written(part: &Value) -> (String, String, Vec<String>) {
    let (action, write) = part.as_object().and_then(|part| part.iter().next()).map_or(("", part), |(a, w)| (a, w));
    let item = if action == "Put" { &write["Item"] } else { &write["Key"] };
    let (partition, name) = place(item);
    let indexes = ["GSI1", "GSI2"].into_iter();
    let entries = indexes.filter_map(|index| Some(format!("{index} {}", item[format!("{index}PK")]["S"].as_str()?)));
    (partition, name, entries.collect())
}

fn error_of(code: &str, message: &str) -> String {
    json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message }).to_string()
}

/// The error of an action that the simulation lacks.
fn unknown(action: &str) -> String {
    error_of("UnknownOperationException", action)
}

/// The error of a request to a partition without units.
fn hot(kind: &str) -> String {
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException",
        "message": "Throughput exceeds the current capacity of a partition",
        "throttlingReasons": [{ "reason": format!("Table{kind}KeyRangeThroughputExceeded"), "resource": "table" }],
    })
    .to_string()
}

/// The error of a transaction that is cancelled because of these items.
fn cancelled(because_of: &[bool], code: &str) -> String {
    let reasons: Vec<_> =
        because_of.iter().map(|because| json!({ "Code": if *because { code } else { "None" } })).collect();
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons",
        "CancellationReasons": reasons,
    })
    .to_string()
}
