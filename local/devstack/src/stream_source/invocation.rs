//! An invocation of a stream's consumer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::record::Record;
use super::window::Window;
use crate::item_failures::item_failures;
use crate::sandbox::Sandbox;
use crate::stories::record_id;
use crate::template::StreamSource;

/// Whether this is the last invocation with its window's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    NotYet,
    /// The last one: the window is over.
    Final,
    /// The last one with this state, because the state has become too large. The window continues with a fresh state.
    Early,
}

pub(super) struct Invocation<'a> {
    pub(super) source: &'a StreamSource,
    pub(super) sandbox: &'a Sandbox,
    /// The name of the table.
    pub(super) table: &'a str,
    pub(super) stream: &'a str,
    pub(super) shard: &'a str,
    /// The window. `None`: the source has no windows.
    pub(super) window: Option<&'a Window>,
    pub(super) records: Vec<&'a Record>,
    pub(super) ending: Ending,
}

pub(super) struct Success {
    /// The number of records that the function processed: those before the first one that it reported as failed.
    pub(super) done: usize,
    /// The state. Null if there is no window.
    pub(super) state: Value,
}

impl Invocation<'_> {
    /// Invokes the function, and reads its answer as Lambda does.
    pub(super) async fn run(&self) -> Result<Success, String> {
        let causes = self.records.iter().map(|record| record_id(self.table, &record.sequence_number)).collect();
        let answer = self.sandbox.invoke(self.event(), causes).await?;
        let state = match (self.window, &answer["state"]) {
            (None, _) => Value::Null,
            (Some(_), state @ Value::Object(_)) => state.clone(),
            (Some(_), state) => return Err(format!("its answer needs a state, which is an object, and not {state}")),
        };
        let sequence_numbers = self.records.iter().map(|record| record.sequence_number.as_str());
        let failed = if self.source.reports_item_failures {
            item_failures(&answer, &sequence_numbers.clone().collect())?
        } else {
            BTreeSet::default()
        };
        let done = sequence_numbers.take_while(|number| !failed.contains(*number)).count();
        Ok(Success { done, state })
    }

    pub(super) fn event(&self) -> Value {
        let records: Vec<_> = self.records.iter().map(|record| &record.event).collect();
        let mut event = json!({ "Records": records });
        if let Some(window) = self.window {
            event["window"] = window.bounds();
            event["state"] = window.state.clone();
            event["shardId"] = json!(self.shard);
            event["eventSourceARN"] = json!(self.stream);
            event["isFinalInvokeForWindow"] = json!(self.ending == Ending::Final);
            event["isWindowTerminatedEarly"] = json!(self.ending == Ending::Early);
        }
        event
    }
}
