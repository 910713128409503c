//! The Lambda function of a route and its handler.

use std::pin::pin;
use std::time::{Duration, Instant};

use http::Response;
use lambda::{Environment, Error, FromEnvironment, Invoke, LambdaEvent, Misconfigured, Outcome};

use crate::event::Event;
use crate::response::Gateway;
use crate::{Handler, Problem, Request, Route, telemetry};

/// Runs the function on Lambda, one event at a time, until Lambda ends the process.
///
/// # Errors
/// The environment lacks a variable or has an invalid one, or the Lambda runtime API does not answer.
pub fn serve<D, Parts, H>(route: &'static Route, handle: H) -> Result<(), Error>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    Parts: 'static,
    H: Handler<D, Parts>,
{
    lambda::run(move |deps: D, event| answer(route, deps, handle, event))
}

/// Starts the function in this process, beside others.
///
/// # Errors
/// A variable of the environment is missing or invalid.
pub fn start<D, Parts, H>(
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
    lambda::start(move |deps: D, event| answer(route, deps, handle, event), environment, timeout)
}

async fn answer<D, Parts, H>(
    route: &'static Route,
    deps: D,
    handle: H,
    event: LambdaEvent<Event>,
) -> Result<Gateway, Error>
where
    H: Handler<D, Parts>,
{
    let start = Instant::now();
    let LambdaEvent { payload: mut event, context } = event;
    let request_id = event.take_id();
    let answer = match Request::authorize(event, context, route) {
        Ok(request) => {
            let time_left = request.time_left();
            // Pinned on the stack, because the future is large: `timeout` would move it, which copies it.
            let handling = pin!(handle.call(deps, &request));
            let (in_time, outcome) = Outcome::of(tokio::time::timeout(time_left, handling)).await;
            let answer = in_time.unwrap_or_else(|_| Err(Problem::throttled("the handler did not finish in time")));
            answer.map_err(|problem| problem.with_outcome(outcome))
        }
        Err(problem) => Err(problem),
    };
    let (response, problem) = match answer {
        Ok(reply) => (Response::from(reply), None),
        Err(problem) => (Response::from(&problem), Some(problem)),
    };
    telemetry::report(route, &request_id, response.status(), problem.as_ref(), start.elapsed());
    Ok(response.into())
}
