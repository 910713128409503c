//! From a handler to a Lambda.

use std::future::Future;
use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, Runtime, service_fn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::time::context;
use crate::{Environment, FromEnvironment, log};

/// Runs a function's whole life, on one thread: one event at a time needs no more, and more would only wake each other.
///
/// `handle` takes what the function may touch, and an event.
///
/// # Errors
/// The environment lacks something, or Lambda's own interface does not answer.
pub fn run<D, E, R, F, Fut>(handle: F) -> Result<(), Error>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    F: Fn(D, LambdaEvent<E>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, Error>> + Send + 'static,
{
    log::start();
    let life = async move {
        let environment = Environment::of_process();
        let deps = D::from_environment(&environment)?;
        environment.warmed_up().await;
        // Without the runtime's span around each event: what is logged of a request names it, and what is logged of a
        // batch names its orders and messages.
        Runtime::new(service_fn(|event| Box::pin(handle(deps.clone(), event)))).run().await
    };
    // As a task, which is woken in memory. What `block_on` itself runs is woken by a write and a read of the kernel's,
    // twice an event.
    let life = async { tokio::spawn(life).await? };
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(life)
}

/// The event that Lambda would make of this payload.
///
/// # Errors
/// The payload is none of the function's.
pub fn event<E: DeserializeOwned>(payload: Value, timeout: Duration) -> Result<LambdaEvent<E>, Error> {
    Ok(LambdaEvent::new(serde_json::from_value(payload)?, context(timeout)?))
}
