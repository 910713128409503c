//! From a handler of an event source's batches to a Lambda.

use std::future::Future;
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Environment, FromEnvironment, context, run, time_left};

/// Runs the function on Lambda, one batch at a time, until Lambda ends it. It is what `main` does.
///
/// `handle` takes what the function may touch, the event, and the time it has for it.
///
/// # Errors
/// The environment lacks something, or Lambda's own interface does not answer.
pub fn consume<D, E, R, F, Fut>(handle: F) -> Result<(), Error>
where
    D: FromEnvironment + Clone + Send + Sync,
    E: DeserializeOwned + Send,
    R: Serialize,
    F: Fn(D, E, Duration) -> Fut + Send + Sync,
    Fut: Future<Output = Result<R, Error>> + Send,
{
    run(async {
        let deps = D::from_environment(&Environment::of_process())?;
        let answer = |event: LambdaEvent<E>| handle(deps.clone(), event.payload, time_left(Some(&event.context)));
        lambda_runtime::run(service_fn(answer)).await
    })
}

/// Runs the function on one event, as Lambda would.
///
/// # Errors
/// The event is not one of this function's, or the function fails.
pub async fn invoke<D, E, R, F, Fut>(deps: &D, handle: &F, event: Value, timeout: Duration) -> Result<Value, Error>
where
    D: Clone,
    E: DeserializeOwned,
    R: Serialize,
    F: Fn(D, E, Duration) -> Fut,
    Fut: Future<Output = Result<R, Error>>,
{
    let context = context("", timeout)?;
    let answer = handle(deps.clone(), serde_json::from_value(event)?, time_left(Some(&context))).await?;
    Ok(serde_json::to_value(answer)?)
}
