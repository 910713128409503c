//! Runs a handler as a Lambda function, or starts it in a process beside others.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, Runtime, service_fn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::time::context;
use crate::{Environment, Invoke, Misconfigured, log};

/// Initializes the function and serves its events until Lambda ends the process, all on one thread: Lambda sends one
/// event at a time, and further threads would only wake each other.
///
/// `prepare` makes the function's dependencies. `handle` takes them, and an event.
///
/// # Errors
/// The environment lacks something, or Lambda's Runtime API does not answer.
pub fn run<D, E, R, P, F, Fut>(prepare: P, handle: F) -> Result<(), Error>
where
    D: Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    P: FnOnce(&Environment) -> Result<D, Misconfigured> + Send + 'static,
    F: Fn(D, LambdaEvent<E>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Error>> + Send + 'static,
{
    log::start();
    let serve = async move {
        let environment = Environment::of_process();
        let deps = prepare(&environment)?;
        environment.run_warm_ups().await;
        // `Runtime::new` adds no span around each event. None is needed: a request's log lines name the request, and a
        // batch's name their orders and messages.
        Runtime::new(service_fn(|event| Box::pin(handle(deps.clone(), event)))).run().await
    };
    // Spawned: waking a task costs no system call. Waking the future that `block_on` runs costs two per event.
    let serve = async { tokio::spawn(serve).await? };
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve)
}

/// Starts the function in this process, beside others. Its events have this time limit.
///
/// `prepare` and `handle` are as for [`run`].
///
/// # Errors
/// A variable of the environment is missing or invalid.
pub fn start<D, E, R, P, F, Fut>(
    prepare: P,
    handle: F,
    environment: &Environment,
    timeout: Duration,
) -> Result<Invoke, Misconfigured>
where
    D: Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    P: FnOnce(&Environment) -> Result<D, Misconfigured>,
    F: Fn(D, LambdaEvent<E>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Error>> + Send + 'static,
{
    let deps = prepare(environment)?;
    Ok(Arc::new(move |payload| {
        let deps = deps.clone();
        Box::pin(async move {
            let answer = invoke(handle, deps, payload, timeout).await;
            answer.map_err(|error| error.to_string())
        })
    }))
}

async fn invoke<D, E, R, F, Fut>(handle: F, deps: D, payload: Value, timeout: Duration) -> Result<Value, Error>
where
    E: DeserializeOwned,
    R: Serialize,
    F: Fn(D, LambdaEvent<E>) -> Fut,
    Fut: Future<Output = Result<R, Error>>,
{
    let event = LambdaEvent::new(serde_json::from_value(payload)?, context(timeout)?);
    Ok(serde_json::to_value(handle(deps, event).await?)?)
}
