//! One structured line for each request: route, status, time, and of a problem its kind and its cause. No bodies,
//! no names, no addresses.

use std::time::Duration;

use lambda_http::http::Response;
use lambda_http::request::RequestContext;
use lambda_http::{Body, RequestExt as _};
use tracing::{error, info};

use crate::{Problem, Route};

/// The gateway's id of the request, which the client was sent as `apigw-requestid` and the gateway's own log has, too.
pub(crate) fn request_id(request: &lambda_http::Request) -> String {
    match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.request_id.clone().unwrap_or_default(),
        _ => String::new(),
    }
}

pub(crate) fn report(route: &Route, id: &str, response: &Response<Body>, problem: Option<&Problem>, took: Duration) {
    let (method, path, status) = (route.method.as_str(), route.path, response.status().as_u16());
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let kind = problem.map(|problem| problem.kind().slug());
    if let Some(cause) = problem.and_then(Problem::cause) {
        let cause = lambda::chain(cause.as_ref());
        error!(request_id = id, method, path, status, problem = kind, millis, cause, "failed");
    } else {
        info!(request_id = id, method, path, status, problem = kind, millis, "answered");
    }
}
