//! Functions that a schedule invokes on AWS. The stack runs no schedules: a request invokes the function.

use axum::body::Body;
use axum::http::{Response, StatusCode};

use crate::gateway::Invoke;
use crate::problem::{answer, problem};
use crate::stories::Invocation;

/// Invokes the function with the event in the body, and returns its report.
pub(crate) async fn invoke(function: Option<&Invoke>, body: &[u8], story: Invocation) -> Response<Body> {
    let Some(function) = function else {
        return problem(StatusCode::NOT_FOUND, "This stack has no such function on a schedule.");
    };
    let outcome = match serde_json::from_slice(body) {
        Ok(event) => story.run(function(event)).await,
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(report) => answer(StatusCode::OK, "application/json", report.to_string()),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error),
    }
}
