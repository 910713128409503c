//! Runs the handler of an event source's batches as a Lambda function.

use std::future::Future;
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Environment, FromEnvironment, Invoke, Misconfigured, run, start, time_left, trace_id, trail};

/// The event of a schedule. Its content does not matter.
#[derive(Debug, Deserialize)]
pub struct ScheduledEvent {}

/// Runs the function on Lambda, one batch at a time, until Lambda ends the process.
///
/// `handle` takes the function's dependencies, the event, and the time left for it.
///
/// # Errors
/// The environment lacks something, or Lambda's Runtime API does not answer.
pub fn consume<D, E, R, F, Fut>(handle: F) -> Result<(), Error>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    F: Fn(D, E, Duration) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Error>> + Send + 'static,
{
    run(D::from_environment, move |deps, event| answer(deps, handle, event))
}

/// Starts the function in this process, beside others.
///
/// # Errors
/// A variable of the environment is missing or invalid.
pub fn start_consumer<D, E, R, F, Fut>(
    handle: F,
    environment: &Environment,
    timeout: Duration,
) -> Result<Invoke, Misconfigured>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    F: Fn(D, E, Duration) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Error>> + Send + 'static,
{
    start(D::from_environment, move |deps, event| answer(deps, handle, event), environment, timeout)
}

async fn answer<D, E, R, F, Fut>(deps: D, handle: F, event: LambdaEvent<E>) -> Result<R, Error>
where
    F: Fn(D, E, Duration) -> Fut,
    Fut: Future<Output = Result<R, Error>>,
{
    let LambdaEvent { payload, context } = event;
    trail(&context.request_id, trace_id(&context), handle(deps, payload, time_left(&context))).await
}
