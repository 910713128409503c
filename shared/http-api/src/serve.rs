//! The Lambda function of a route and its handler.

use std::pin::pin;
use std::time::{Duration, Instant};

use lambda::{Environment, Error, FromEnvironment, Invoke, LambdaEvent, Misconfigured, Outcome};
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Body, RequestExt as _, Response, Service as _, TransformResponse, service_fn};

use crate::audit::Audit;
use crate::caching::Caching;
use crate::event::{self, Event};
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
    lambda::run(prepare(route), function(route, handle))
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
    lambda::start(prepare(route), function(route, handle), environment, timeout)
}

/// Makes the dependencies of the handler and the caching of its answers.
fn prepare<D: FromEnvironment>(
    route: &'static Route,
) -> impl FnOnce(&Environment) -> Result<(D, Caching), Misconfigured> {
    move |environment| Ok((D::from_environment(environment)?, Caching::of(route, environment)?))
}

/// The function, as Lambda calls it. `lambda_http` makes the request of the event, and the answer of the response.
fn function<D, Parts, H>(
    route: &'static Route,
    handle: H,
) -> impl Fn((D, Caching), LambdaEvent<Event>) -> TransformResponse<'static, Response<Body>, Error> + Copy
where
    D: Clone + Send + Sync + 'static,
    Parts: 'static,
    H: Handler<D, Parts>,
{
    move |prepared, LambdaEvent { payload, context }| {
        let request = LambdaRequest::ApiGatewayV2(event::readable(payload));
        let service = service_fn(move |request| answer(route, prepared.clone(), handle, request));
        Adapter::from(service).call(LambdaEvent::new(request, context))
    }
}

async fn answer<D, Parts, H>(
    route: &'static Route,
    prepared: (D, Caching),
    handle: H,
    request: lambda_http::Request,
) -> Result<Response<Body>, Error>
where
    H: Handler<D, Parts>,
{
    let request_id = event::id(&request).to_owned();
    let trace = request.lambda_context_ref().and_then(lambda::trace_id).map(str::to_owned);
    // Pinned on the stack, because the future is large: a scope would move it, which copies it.
    let answering = pin!(answer_on_trail(route, prepared, handle, request, &request_id));
    lambda::trail(&request_id, trace.as_deref(), answering).await
}

async fn answer_on_trail<D, Parts, H>(
    route: &'static Route,
    (deps, caching): (D, Caching),
    handle: H,
    request: lambda_http::Request,
    request_id: &str,
) -> Result<Response<Body>, Error>
where
    H: Handler<D, Parts>,
{
    let start = Instant::now();
    telemetry::note_order(event::path_parameters(&request));
    let audit = Audit::of(route, &request);
    let mut uncertain = None;
    let answer = match Request::authorize(request, route) {
        Ok(request) => {
            let time_left = request.time_left();
            // Pinned, as above.
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
        audit.write(request_id, &answer, uncertain);
    }
    let (mut response, problem) = match answer {
        Ok(reply) => {
            reply.failures().iter().for_each(|problem| telemetry::report_part(route, problem));
            (Response::from(reply), None)
        }
        Err(problem) => {
            let problem = if request_id.is_empty() { problem } else { problem.with("requestId", request_id) };
            (Response::from(&problem), Some(problem))
        }
    };
    caching.mark(&mut response);
    telemetry::report(route, response.status(), problem.as_ref(), start.elapsed());
    Ok(response)
}
