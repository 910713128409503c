//! The Lambda function of a route and its handler.

use std::pin::pin;
use std::time::{Duration, Instant};

use http::Response;
use lambda::{Environment, Error, FromEnvironment, Invoke, LambdaEvent, Misconfigured, Outcome};

use crate::audit::Audit;
use crate::caching::Caching;
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
    lambda::run(prepare(route), move |prepared: (D, Caching), event| answer(route, prepared, handle, event))
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
    let handle = move |prepared: (D, Caching), event| answer(route, prepared, handle, event);
    lambda::start(prepare(route), handle, environment, timeout)
}

/// Makes the dependencies of the handler and the caching of its answers.
fn prepare<D: FromEnvironment>(
    route: &'static Route,
) -> impl FnOnce(&Environment) -> Result<(D, Caching), Misconfigured> {
    move |environment| Ok((D::from_environment(environment)?, Caching::of(route, environment)?))
}

async fn answer<D, Parts, H>(
    route: &'static Route,
    (deps, caching): (D, Caching),
    handle: H,
    event: LambdaEvent<Event>,
) -> Result<Gateway, Error>
where
    H: Handler<D, Parts>,
{
    let start = Instant::now();
    let LambdaEvent { payload: mut event, context } = event;
    let request_id = event.take_id();
    let audit = Audit::of(route, &event);
    let mut uncertain = None;
    let trace = lambda::trace_id(&context).map(str::to_owned);
    let answer = match Request::authorize(event, context, route) {
        Ok(request) => {
            let time_left = request.time_left();
            // Pinned on the stack, because the future is large: `timeout` would move it, which copies it.
            let handling = pin!(handle.call(deps, &request));
            let (in_time, outcome) = Outcome::of(tokio::time::timeout(time_left, handling)).await;
            uncertain = Some(outcome);
            let answer = in_time.unwrap_or_else(|_| Err(Problem::throttled("the handler did not finish in time")));
            let answer = answer.map(|reply| caching.tag(reply, &request));
            answer.map_err(|problem| problem.with_outcome(outcome))
        }
        Err(problem) => Err(problem),
    };
    if let Some(audit) = audit {
        audit.write(&request_id, &answer, uncertain);
    }
    let ids = telemetry::Ids { request: &request_id, trace: trace.as_deref() };
    let (mut response, problem) = match answer {
        Ok(reply) => {
            reply.failures().iter().for_each(|problem| telemetry::report_part(route, &ids, problem));
            (Response::from(reply), None)
        }
        Err(problem) => (Response::from(&problem), Some(problem)),
    };
    caching.mark(&mut response);
    telemetry::report(route, &ids, response.status(), problem.as_ref(), start.elapsed());
    Ok(response.into())
}
