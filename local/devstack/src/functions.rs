//! The functions that a stack runs, as its user hands them in.

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
}

/// The functions of a stack, each with its handler's name.
#[derive(Default)]
pub struct Functions {
    /// Functions that answer routes, started.
    pub handlers: Vec<(String, Invoke)>,
    /// Functions that consume events. Each is started anew for every execution environment.
    pub consumers: Vec<(String, StartConsumer)>,
}
