//! Functions that run in one process with others: on a laptop, and in tests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_api::{Answer, Description, Request, Route};
use lambda::{Environment, FromEnvironment, Misconfigured};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A function in an execution environment: takes an event, and gives an answer or the error's text.
pub type Invoke = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send>> + Send + Sync>;

/// Starts a function in a fresh execution environment, with the time that one invocation may take.
type Start = fn(&Environment, Duration) -> Result<Invoke, Misconfigured>;

/// A function that answers a route.
pub struct Function {
    module: &'static str,
    /// The route, as the code declares it.
    pub route: Route,
    /// The route's description.
    pub describe: fn() -> Description,
    start: Start,
}

impl Function {
    pub(crate) const fn new(module: &'static str, route: Route, describe: fn() -> Description, start: Start) -> Self {
        Self { module, route, describe, start }
    }

    /// Its name: the handler of the template, and the file in `events/`.
    pub fn name(&self) -> String {
        super::name_of(self.module)
    }

    /// Starts it in a fresh execution environment, with the time that one invocation may take.
    ///
    /// # Errors
    /// The environment lacks something.
    pub fn start(&self, environment: &Environment, timeout: Duration) -> Result<Invoke, Misconfigured> {
        (self.start)(environment, timeout)
    }
}

/// A function that consumes events: it answers no route.
pub struct Consumer {
    module: &'static str,
    start: Start,
}

impl Consumer {
    pub(crate) const fn new(module: &'static str, start: Start) -> Self {
        Self { module, start }
    }

    /// Its name: the handler of the template, and the file in `events/`.
    pub fn name(&self) -> String {
        super::name_of(self.module)
    }

    /// Starts it in a fresh execution environment, with the time that one invocation may take.
    ///
    /// # Errors
    /// The environment lacks something.
    pub fn start(&self, environment: &Environment, timeout: Duration) -> Result<Invoke, Misconfigured> {
        (self.start)(environment, timeout)
    }
}

pub(crate) fn start<D, F, Fut>(
    route: Route,
    handle: F,
    environment: &Environment,
    timeout: Duration,
) -> Result<Invoke, Misconfigured>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    F: Fn(D, Request) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send,
{
    let deps = D::from_environment(environment)?;
    Ok(Arc::new(move |event| {
        let (route, deps) = (route.clone(), deps.clone());
        Box::pin(async move {
            let response = http_api::invoke(&route, &deps, &handle, event, timeout).await;
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
