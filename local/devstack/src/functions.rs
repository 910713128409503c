//! The functions that a stack runs, as its user hands them in.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::gateway::Invoke;
use crate::resource::{REGION, queue_url};
use crate::sandbox::StartConsumer;
use crate::template::Template;

/// Base URLs at which the functions call AWS services.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// DynamoDB's base URL.
    pub dynamodb: String,
    /// The base URL of SQS.
    pub sqs: String,
    /// The base URL of EventBridge.
    pub eventbridge: String,
    /// The base URL of Secrets Manager.
    pub secretsmanager: String,
    /// The base URL of S3, if the template has buckets. They are the first part of the path.
    pub s3: Option<String>,
}

impl Endpoints {
    /// The environment variables with which AWS's SDKs call these services, but for the caller's access key: a service
    /// recognises a function by its logical id there.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let variables = [
            ("AWS_REGION", REGION),
            ("AWS_SECRET_ACCESS_KEY", "local"),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.as_str()),
            ("AWS_ENDPOINT_URL_SQS", self.sqs.as_str()),
            ("AWS_ENDPOINT_URL_EVENTBRIDGE", self.eventbridge.as_str()),
            ("AWS_ENDPOINT_URL_SECRETS_MANAGER", self.secretsmanager.as_str()),
        ];
        let s3 = self.s3.iter().map(|url| ("AWS_ENDPOINT_URL_S3", &**url));
        variables.into_iter().chain(s3).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// What a command needs to reach the stack's services: DynamoDB's own URL; the environment variables of each function, and
/// the queues, all by their logical ids.
pub(crate) fn connection(dynamodb: &str, endpoints: &Endpoints, template: &Template) -> Value {
    let functions = template.functions.iter().map(|function| {
        let mut variables = endpoints.variables();
        let own = [("_HANDLER", &function.handler), ("AWS_ACCESS_KEY_ID", &function.logical_id)];
        variables.extend(own.map(|(name, value)| (name.to_owned(), value.clone())));
        variables.extend(function.environment.clone());
        (&function.logical_id, variables)
    });
    let functions: BTreeMap<_, _> = functions.collect();
    let queues: BTreeMap<_, _> =
        template.queues.iter().map(|queue| (&queue.logical_id, queue_url(&queue.name))).collect();
    json!({ "dynamodb": dynamodb, "functions": functions, "queues": queues })
}

/// The functions of a stack, each with its handler's name.
#[derive(Default)]
pub struct Functions {
    /// Functions that answer routes, started.
    pub handlers: Vec<(String, Invoke)>,
    /// Functions that consume events. Each is started anew for every execution environment.
    pub consumers: Vec<(String, StartConsumer)>,
}

impl Functions {
    /// Refuses a second function under the same handler's name, which nothing would ever call.
    pub(crate) fn ensure_each_once(&self) -> Result<()> {
        ensure_each_once("handlers", self.handlers.iter().map(|(name, _)| name))?;
        ensure_each_once("consumers", self.consumers.iter().map(|(name, _)| name))
    }
}

fn ensure_each_once<'a>(list: &str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        ensure!(seen.insert(name), "Functions::{list} has two functions {name}: each name may come once");
    }
    Ok(())
}
