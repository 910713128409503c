//! One structured log line for each request: route, status, duration, and the kind and cause of a problem. Bodies,
//! names and addresses are not logged. A part that failed by a defect or for want of capacity has a line of its own.

use std::time::Duration;

use http::StatusCode;
use tracing::{error, info};

use crate::{Problem, Route};

/// The ids by which a log line is found.
pub(crate) struct Ids<'a> {
    /// The gateway's id of the request.
    pub(crate) request: &'a str,
    /// The id of the trace, if the call is traced.
    pub(crate) trace: Option<&'a str>,
}

/// Logs the cause of a part's problem, if it has one.
pub(crate) fn report_part(route: &Route, ids: &Ids<'_>, problem: &Problem) {
    if let Some(cause) = problem.cause() {
        let (method, path, cause) = (route.method.as_str(), route.path, lambda::chain(cause.as_ref()));
        error!(
            request_id = ids.request,
            trace_id = ids.trace,
            method,
            path,
            problem = problem.kind().slug(),
            cause,
            "a part failed"
        );
    }
}

pub(crate) fn report(route: &Route, ids: &Ids<'_>, status: StatusCode, problem: Option<&Problem>, took: Duration) {
    let (method, path, status) = (route.method.as_str(), route.path, status.as_u16());
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let (id, trace_id) = (ids.request, ids.trace);
    let kind = problem.map(|problem| problem.kind().slug());
    if let Some(cause) = problem.and_then(Problem::cause) {
        let cause = lambda::chain(cause.as_ref());
        error!(request_id = id, trace_id, method, path, status, problem = kind, millis, cause, "failed");
    } else {
        info!(request_id = id, trace_id, method, path, status, problem = kind, millis, "answered");
    }
}
