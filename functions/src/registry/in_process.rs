//! Runs all functions in one process: on a laptop, and in tests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_api::{Description, Handler, Route};
use key_schema::access::Access;
use lambda::{Environment, FromEnvironment, Grant, Misconfigured};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A function in an execution environment: takes an event, and returns the answer or the error's text.
pub type Invoke = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send>> + Send + Sync>;

/// Starts a function in a new execution environment, with the time limit of one invocation.
type Start = fn(&Environment, Duration) -> Result<Invoke, Misconfigured>;

/// A function that answers a route.
pub struct Function {
    pub(crate) module: &'static str,
    /// The program that contains the function.
    pub program: &'static str,
    /// The declaration of its route.
    pub route: &'static Route,
    /// The description of its route.
    pub describe: fn() -> Description,
    pub(crate) start: Start,
}

impl Function {
    /// The function's name: the `Handler` in the template, and the name of its file in `events/`.
    pub fn name(&self) -> String {
        super::name_of(self.module)
    }

    /// Starts the function in a new execution environment, with the time limit of one invocation.
    ///
    /// # Errors
    /// A variable of the environment is missing or invalid.
    pub fn start(&self, environment: &Environment, timeout: Duration) -> Result<Invoke, Misconfigured> {
        (self.start)(environment, timeout)
    }
}

/// A function that consumes events.
pub struct Consumer {
    pub(crate) module: &'static str,
    /// The function's access to the table.
    pub access: &'static [&'static [Access]],
    /// The function's permissions on other services.
    pub grants: &'static [Grant],
    pub(crate) start: Start,
}

impl Consumer {
    /// The function's name: the `Handler` in the template, and the name of its file in `events/`.
    pub fn name(&self) -> String {
        super::name_of(self.module)
    }

    /// Starts the function in a new execution environment, with the time limit of one invocation.
    ///
    /// # Errors
    /// A variable of the environment is missing or invalid.
    pub fn start(&self, environment: &Environment, timeout: Duration) -> Result<Invoke, Misconfigured> {
        (self.start)(environment, timeout)
    }
}

pub(crate) fn start<D, Parts, H>(
    route: &'static Route,
    handle: H,
    environment: &Environment,
    timeout: Duration,
) -> Result<Invoke, Misconfigured>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    Parts: 'static,
    H: Handler<D, Parts>,
{
    let deps = D::from_environment(environment)?;
    Ok(Arc::new(move |event| {
        let deps = deps.clone();
        Box::pin(async move {
            let response = http_api::invoke(route, &deps, handle, event, timeout).await;
            response.map_err(|error| error.to_string())
        })
    }))
}

pub(crate) fn consume<D, E, R, F, Fut>(
    handle: F,
    environment: &Environment,
    timeout: Duration,
) -> Result<Invoke, Misconfigured>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send,
    R: Serialize + Send,
    F: Fn(D, E, Duration) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<R, lambda::Error>> + Send,
{
    let deps = D::from_environment(environment)?;
    Ok(Arc::new(move |event| {
        let deps = deps.clone();
        Box::pin(async move {
            let answer = lambda::invoke(&deps, &handle, event, timeout).await;
            answer.map_err(|error| error.to_string())
        })
    }))
}
