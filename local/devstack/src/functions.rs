//! The functions that a stack runs, as its user hands them in.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::gateway::Invoke;
use crate::sandbox::StartConsumer;

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
