//! Transactions in progress, and the items that they hold.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;

/// The items that are held. An embedded engine runs transactions one after the other, so they never conflict. On AWS a
/// transaction takes some time, and another write to one of its items meanwhile is a conflict. AWS may refuse either of
/// the two; here it is always the later one.
#[derive(Default)]
pub(super) struct Holds(Mutex<State>);

#[derive(Default)]
struct State {
    time: Duration,
    items: HashSet<Item>,
}

/// Table, partition key and sort key.
type Item = [String; 3];

/// Items that are held until this is dropped.
pub(super) struct Held<'a> {
    holds: &'a Holds,
    items: Vec<Item>,
    /// The time for which they are held.
    pub(super) time: Duration,
}

impl Holds {
    /// From now on each transaction holds its items for this time. A time of zero turns this off.
    pub(super) fn set(&self, time: Duration) {
        self.state().time = time;
    }

    /// Holds the items of a write transaction, or returns the refusal of a call on an item that is held.
    pub(super) fn hold(&self, action: &str, request: &Value) -> Result<Option<Held<'_>>, Fault> {
        let mut state = self.state();
        if state.time.is_zero() {
            return Ok(None);
        }
        let items = items(action, request);
        if let Some(at) = items.iter().position(|item| state.items.contains(item)) {
            return Err(if action.starts_with("Transact") { Fault::conflict(at) } else { Fault::Conflict });
        }
        if action != "TransactWriteItems" {
            return Ok(None);
        }
        state.items.extend(items.iter().cloned());
        Ok(Some(Held { holds: self, items, time: state.time }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it held the lock has failed already.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.holds.state();
        for item in &self.items {
            state.items.remove(item);
        }
    }
}

/// The items that a call conflicts on, in the sequence of its actions. Ordinary reads conflict on none.
fn items(action: &str, request: &Value) -> Vec<Item> {
    let item = |ask: &Value| {
        let key = if ask["Key"].is_null() { &ask["Item"] } else { &ask["Key"] };
        [&ask["TableName"], &key["PK"]["S"], &key["SK"]["S"]].map(|text| text.as_str().unwrap_or_default().to_owned())
    };
    match action {
        "TransactWriteItems" | "TransactGetItems" => {
            let actions = request["TransactItems"].as_array().into_iter().flatten();
            actions.filter_map(|action| action.as_object()?.values().next()).map(item).collect()
        }
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![item(request)],
        _ => Vec::new(),
    }
}
