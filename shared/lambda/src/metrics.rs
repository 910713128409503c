//! Metrics, in CloudWatch's embedded metric format: a line of the log that CloudWatch makes metrics of.
//!
//! The line is written beside the log and not through it, which would put it inside a line of its own: CloudWatch
//! looks for `_aws` at the root.
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

const NAMESPACE: &str = "Till";

const DIMENSION: &str = "FunctionName";

/// Set where standard output is the log: whose it is.
static FUNCTION: OnceLock<String> = OnceLock::new();

pub(crate) fn go_to_standard_output() {
    _ = FUNCTION.set(std::env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default());
}

/// Counts these events, each under its metric's name, in the namespace `Till`. The dimension is the function's name, as in
/// Lambda's own metrics, so that two deployments do not add up.
///
/// On a laptop, where standard output is not the log, they are an ordinary line of it.
pub fn metrics(counts: &[(&str, u64)]) {
    let Some(function) = FUNCTION.get() else {
        tracing::debug!(?counts, "metrics");
        return;
    };
    let line = line(function, counts, SystemTime::now());
    // In one piece, so that no other line comes between; and whoever cannot write a metric goes on without.
    _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

fn line(function: &str, counts: &[(&str, u64)], now: SystemTime) -> Value {
    let metrics: Vec<_> = counts.iter().map(|(name, _)| json!({ "Name": name, "Unit": "Count" })).collect();
    let directive = json!({ "Namespace": NAMESPACE, "Dimensions": [[DIMENSION]], "Metrics": metrics });
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line: Map<_, _> = counts.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
    let timestamp = u64::try_from(since.as_millis()).unwrap_or_default();
    line.insert(DIMENSION.to_owned(), json!(function));
    line.insert("_aws".to_owned(), json!({ "Timestamp": timestamp, "CloudWatchMetrics": [directive] }));
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_has_its_directive_and_its_counts_at_the_root() {
        let line = line(
            "reconcile",
            &[("CountersChecked", 7), ("CountersDrifted", 0)],
            UNIX_EPOCH + Duration::from_millis(1500),
        );
        let metrics = json!([
            { "Name": "CountersChecked", "Unit": "Count" }, { "Name": "CountersDrifted", "Unit": "Count" },
        ]);
        let directive = json!({ "Namespace": "Till", "Dimensions": [["FunctionName"]], "Metrics": metrics });
        let aws = json!({ "Timestamp": 1500, "CloudWatchMetrics": [directive] });
        assert_eq!(
            line,
            json!({ "_aws": aws, "FunctionName": "reconcile", "CountersChecked": 7, "CountersDrifted": 0 })
        );
    }
}
