//! The audit log: lines in the functions' log that no log level leaves out.

use std::io::Write as _;

use serde::Serialize;

/// Writes one entry as a line of JSON.
///
/// On a laptop, where standard output is not the log, the entry is an ordinary log line.
pub fn audit(entry: &impl Serialize) {
    // An entry has only texts and numbers, so serializing it cannot fail.
    let mut line = serde_json::to_string(entry).unwrap_or_default();
    if !crate::metrics::is_log_on_standard_output() {
        tracing::info!(audit = %line, "a request of the staff");
        return;
    }
    line.push('\n');
    // One call writes the whole line, so that no other line interleaves.
    _ = std::io::stdout().lock().write_all(line.as_bytes());
}
