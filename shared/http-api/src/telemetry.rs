//! One structured log line for each request: route, status, duration, and of a problem the kind, what it is about, and its
//! cause. Bodies, names, addresses and codes are not logged. A part that failed by a defect or for want of capacity has a
//! line of its own.

use std::time::Duration;

use http::StatusCode;
use key_schema::value::OrderId;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tracing::{error, info};

use crate::{Problem, Route, card_number};

/// The members of problems that a line repeats, with their names in the log. All are ids of the shop's things, amounts and
/// numbers.
const LOGGED: [(&str, &str); 11] = [
    ("allowed", "allowed"),
    ("available", "available"),
    ("cardAmount", "card_amount"),
    ("line", "line"),
    ("open", "open"),
    ("orderStatus", "order_status"),
    ("outcome", "outcome"),
    ("productId", "product_id"),
    ("productIds", "product_ids"),
    ("total", "total"),
    ("version", "version"),
];

/// Notes the order that the request names.
pub(crate) fn note_order<'a>(parameters: impl Iterator<Item = (&'a str, &'a str)>) {
    let named = parameters.filter(|(name, value)| *name == "orderId" && !card_number::is_in(value));
    for order in named.filter_map(|(_, value)| value.parse::<OrderId>().ok()) {
        lambda::note("order_id", order.as_str());
    }
}

/// Logs the cause of a part's problem, if it has one.
pub(crate) fn report_part(route: &Route, problem: &Problem) {
    if let Some(cause) = problem.cause() {
        let (method, path, cause) = (route.method.as_str(), route.path, lambda::chain(cause.as_ref()));
        error!(method, path, problem = problem.kind().slug(), cause, "a part failed");
    }
}

pub(crate) fn report(route: &Route, status: StatusCode, problem: Option<&Problem>, took: Duration) {
    let (method, path, status) = (route.method.as_str(), route.path, status.as_u16());
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let kind = problem.map(|problem| problem.kind().slug());
    problem.into_iter().flat_map(said_of).for_each(|(name, value)| lambda::note(name, value));
    if let Some(cause) = problem.and_then(Problem::cause) {
        let cause = lambda::chain(cause.as_ref());
        error!(method, path, status, problem = kind, millis, cause, "failed");
    } else {
        info!(method, path, status, problem = kind, millis, "answered");
    }
}

/// What a line says of a problem. Of a code it has four digits of a hash: enough to see that many requests have the same
/// code, and to recognise one that somebody knows.
fn said_of(problem: &Problem) -> impl Iterator<Item = (&'static str, Value)> {
    let member = |name: &str| problem.member(name);
    let code = member("code").and_then(Value::as_str).map(|code| {
        let hash = Sha256::digest(code);
        ("code_hash", json!(format!("{:02x}{:02x}", hash[0], hash[1])))
    });
    LOGGED.into_iter().filter_map(move |(name, logged)| Some((logged, member(name)?.clone()))).chain(code)
}
