//! What functions do, by the names that the ledger gives their courses.

use anyhow::{Context, Result, bail};
use capacity::ledger::{self, Operation};

/// The function that places orders.
pub(super) const PLACE_ORDER: &str = "place-order";

/// The function, and the course if one is named behind a slash.
pub(super) fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once('/').map_or((name, None), |(function, course)| (function, Some(course)))
}

/// The operation of this course, or the one that the ledger tells first.
pub(super) fn usual_or(function: &str, course: Option<&str>) -> Result<&'static Operation> {
    if function == PLACE_ORDER && course.is_none() {
        bail!("it is called once for each order: change `orders`, or name another course: {}", courses(function));
    }
    let found = match course {
        Some(course) => ledger::find(function, course),
        None => ledger::operations().find(|operation| operation.function == function),
    };
    found.with_context(|| format!("the ledger knows these courses of it: {}", courses(function)))
}

fn courses(function: &str) -> String {
    let all = ledger::operations().filter(|operation| operation.function == function);
    all.map(|operation| format!("{function}/{}", operation.course)).collect::<Vec<_>>().join("; ")
}

/// The operation of this course.
pub(super) fn operation(function: &str, course: &str) -> Result<&'static Operation> {
    ledger::find(function, course).with_context(|| format!("the ledger has no {function}, {course}"))
}
