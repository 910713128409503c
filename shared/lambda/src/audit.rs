//! The audit log: lines in the functions' log that no log level leaves out.

use std::io::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::trail;

/// Writes one entry as a line of JSON, with what the [trail](crate::trail()) has besides.
///
/// On a laptop, where standard output is not the log, the entry is an ordinary log line.
pub fn audit(entry: &impl Serialize) {
    // An entry has only texts and numbers, so serializing it cannot fail.
    let mut line = serde_json::to_value(entry).unwrap_or_default();
    if !crate::metrics::is_log_on_standard_output() {
        tracing::info!(audit = %line, "a request of the staff");
        return;
    }
    if let Value::Object(line) = &mut line {
        for (name, value) in trail::fields() {
            line.entry(name).or_insert(value);
        }
        crate::metrics::keep(line);
    }
    // One call writes the whole line, so that no other line interleaves.
    _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}
