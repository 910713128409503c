//! Transactions that are under way, and hold their items.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;

/// An embedded engine does one transaction after the other, so that none ever meets another. On AWS one takes a while,
/// and whoever wants to write one of its items meanwhile is told of a conflict. Of those who meet, AWS may let either
/// go on; here it is the first.
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
    /// For how long.
    pub(super) time: Duration,
}

impl Holds {
    /// From now on each transaction holds its items for so long; for no time, none does.
    pub(super) fn set(&self, time: Duration) {
        self.state().time = time;
    }

    /// Holds the items of a transaction that writes; or says how a call is refused that wants an item which is held.
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

/// The items that a call wants for itself, in the order of its actions. Ordinary reads want none.
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
