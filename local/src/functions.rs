//! The functions, linked in: the same handlers that run on Lambda.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use functions::{CONSUMERS, ROUTES};
use lambda::Environment;

use crate::gateway::Invoke;
use crate::sandbox::StartConsumer;
use crate::template::Template;

/// Where the functions find AWS.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// DynamoDB's base URL.
    pub dynamodb: String,
    /// The base URL of SQS.
    pub sqs: String,
    /// The base URL of EventBridge.
    pub eventbridge: String,
}

/// What runs in a stack, named by the binaries.
#[derive(Default)]
pub struct Functions {
    /// What answers routes, started.
    pub handlers: Vec<(String, Invoke)>,
    /// What consumes events, started once for every execution environment.
    pub consumers: Vec<(String, StartConsumer)>,
}

/// Starts every function of the template with the environment it has there, against these endpoints. A consumer
/// waits for its event sources, but is started once here, so that what its environment lacks is known now.
///
/// # Errors
/// The template names a function that this build does not have, or lacks a variable that one needs.
pub fn start_all(endpoints: &Endpoints, template: &Template) -> Result<Functions> {
    let process = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoints.dynamodb.as_str()),
        ("AWS_ENDPOINT_URL_SQS", endpoints.sqs.as_str()),
        ("AWS_ENDPOINT_URL_EVENTBRIDGE", endpoints.eventbridge.as_str()),
    ];
    let process = process.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // One client for all of them: on Lambda each has its own, here they share a process.
    let environment = Environment::of(process);

    let mut functions = Functions::default();
    for declared in &template.functions {
        let name = &declared.handler;
        // What Lambda has of the function's role: whoever is called knows by it which function calls.
        let credentials = [("AWS_ACCESS_KEY_ID".to_owned(), declared.logical_id.clone())];
        let environment = environment.clone().with(credentials).with(declared.environment.clone());
        let timeout = Duration::from_secs(declared.timeout_seconds);
        let misfit = || format!("template.yaml: the environment of {}", declared.logical_id);

        if let Some(function) = ROUTES.iter().find(|function| function.name() == *name) {
            let invoke = function.start(&environment, timeout).with_context(misfit)?;
            functions.handlers.push((name.clone(), invoke));
        } else {
            let consumer = CONSUMERS.iter().find(|consumer| consumer.name() == *name);
            let consumer = consumer.with_context(|| format!("template.yaml: {name} is not in this build"))?;
            consumer.start(&environment, timeout).with_context(misfit)?;
            functions.consumers.push((name.clone(), Arc::new(move || Ok(consumer.start(&environment, timeout)?))));
        }
    }
    Ok(functions)
}

/// The API's description, as JSON.
pub fn open_api() -> Result<String> {
    let named: Vec<_> = ROUTES.iter().map(|function| (function.name(), (function.describe)())).collect();
    let open_api = order_events::describe(http_api::open_api(named));
    Ok(open_api.to_pretty_json()?)
}
