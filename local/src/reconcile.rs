//! Comparing the counts with the orders. Schedules do not come by themselves here: whoever wants it says so.

use axum::body::Body;
use axum::http::{Response, StatusCode};
use edge::Kind;

use crate::gateway::Invoke;
use crate::problem::{answer, problem};

/// Invokes the function with the event in the body, and answers its report.
pub(crate) async fn compare(function: Option<&Invoke>, body: &[u8]) -> Response<Body> {
    let Some(function) = function else {
        return problem(Kind::NotFound, "This stack has no function that compares counts.");
    };
    let outcome = match serde_json::from_slice(body) {
        Ok(event) => function(event).await,
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(report) => answer(StatusCode::OK, "application/json", report.to_string()),
        Err(error) => problem(Kind::Validation, &error),
    }
}
