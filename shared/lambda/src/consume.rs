//! Runs the handler of an event source's batches as a Lambda function.

use std::future::Future;
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{FromEnvironment, event, run, time_left};

/// Runs the function on Lambda, one batch at a time, until Lambda ends the process. `main` calls this.
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
    run(move |deps, event| answer(deps, handle, event))
}

/// Runs the function on one event in this process, as Lambda would.
///
/// # Errors
/// The payload is not an event of this function, or the function fails.
pub async fn invoke<D, E, R, F, Fut>(deps: &D, handle: &F, payload: Value, timeout: Duration) -> Result<Value, Error>
where
    D: Clone,
    E: DeserializeOwned,
    R: Serialize,
    F: Fn(D, E, Duration) -> Fut,
    Fut: Future<Output = Result<R, Error>>,
{
    Ok(serde_json::to_value(answer(deps.clone(), handle, event(payload, timeout)?).await?)?)
}

async fn answer<D, E, R, F, Fut>(deps: D, handle: F, event: LambdaEvent<E>) -> Result<R, Error>
where
    F: Fn(D, E, Duration) -> Fut,
    Fut: Future<Output = Result<R, Error>>,
{
    handle(deps, event.payload, time_left(&event.context)).await
}
