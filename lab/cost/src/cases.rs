//! Finds operations of the capacity ledger by function and case.

use anyhow::{Context, Result, bail};
use capacity::ledger::{self, Operation};

/// The function that places orders.
pub(super) const PLACE_ORDER: &str = "place-order";

/// Splits a name into the function and, after a slash, the case.
pub(super) fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once('/').map_or((name, None), |(function, case)| (function, Some(case)))
}

/// The operation of this case, or the function's first operation in the ledger.
pub(super) fn usual_or(function: &str, case: Option<&str>) -> Result<&'static Operation> {
    if function == PLACE_ORDER && case.is_none() {
        bail!("it is called once for each order: change `orders`, or name another case: {}", cases(function));
    }
    let found = match case {
        Some(case) => ledger::find(function, case),
        None => ledger::operations().find(|operation| operation.function == function),
    };
    found.with_context(|| format!("the ledger knows these cases of it: {}", cases(function)))
}

fn cases(function: &str) -> String {
    let all = ledger::operations().filter(|operation| operation.function == function);
    all.map(|operation| format!("{function}/{}", operation.case)).collect::<Vec<_>>().join("; ")
}

pub(super) fn operation(function: &str, case: &str) -> Result<&'static Operation> {
    ledger::find(function, case).with_context(|| format!("the ledger has no {function}, {case}"))
}
