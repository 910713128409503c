//! From a handler to a Lambda.

use std::future::Future;
use std::time::{Duration, Instant};

use lambda::{Environment, Error, FromEnvironment};
use lambda_http::http::Response;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Body, LambdaEvent, Service as _, service_fn};
use serde_json::Value;

use crate::{Answer, Problem, Request, Route, reply, telemetry};

/// Runs the function on Lambda, one event at a time, until Lambda ends it. It is what `main` does.
///
/// # Errors
/// The environment lacks something, or Lambda's own interface does not answer.
pub fn serve<D, F, Fut>(route: &Route, handle: F) -> Result<(), Error>
where
    D: FromEnvironment + Clone + Send + Sync,
    F: Fn(D, Request) -> Fut + Send + Sync,
    Fut: Future<Output = Answer> + Send,
{
    lambda::run(async {
        let deps = D::from_environment(&Environment::of_process())?;
        lambda_http::run(service_fn(|request| answer(route, &deps, &handle, request))).await
    })
}

/// Runs the function on one event, as Lambda would: an API Gateway event of payload version 2.0 in, its response out.
///
/// # Errors
/// The event is none.
pub async fn invoke<D, F, Fut>(
    route: &Route,
    deps: &D,
    handle: &F,
    event: Value,
    timeout: Duration,
) -> Result<Value, Error>
where
    D: Clone + Send + Sync,
    F: Fn(D, Request) -> Fut + Send + Sync,
    Fut: Future<Output = Answer> + Send,
{
    let context = lambda::context(event["requestContext"]["requestId"].as_str().unwrap_or_default(), timeout)?;
    let event: LambdaRequest = serde_json::from_value(event)?;
    let mut service = Adapter::from(service_fn(|request| answer(route, deps, handle, request)));
    let response = service.call(LambdaEvent::new(event, context)).await?;
    Ok(serde_json::to_value(response)?)
}

async fn answer<D, F, Fut>(
    route: &Route,
    deps: &D,
    handle: &F,
    raw: lambda_http::Request,
) -> Result<Response<Body>, Error>
where
    D: Clone,
    F: Fn(D, Request) -> Fut,
    Fut: Future<Output = Answer>,
{
    let start = Instant::now();
    let request_id = telemetry::request_id(&raw);
    let answer = match Request::authorize(raw, route) {
        Ok(request) => {
            let time_left = request.time_left();
            let in_time = tokio::time::timeout(time_left, handle(deps.clone(), request)).await;
            in_time.unwrap_or_else(|_| Err(Problem::outcome_unknown("the handler did not finish in time")))
        }
        Err(problem) => Err(problem),
    };
    let response = reply::response(&answer);
    telemetry::report(route, &request_id, &response, answer.err().as_ref(), start.elapsed());
    Ok(response)
}
