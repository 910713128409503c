//! Metrics in CloudWatch's embedded metric format: log lines that CloudWatch turns into metrics.
//!
//! The lines bypass `tracing`, which would nest them in a line of its own: CloudWatch looks for `_aws` at the root.
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

const NAMESPACE: &str = "Till";

const DIMENSION: &str = "FunctionName";

/// The name of the function whose log standard output is. Unset where standard output is not a function's log.
static FUNCTION: OnceLock<String> = OnceLock::new();

pub(crate) fn write_to_standard_output() {
    _ = FUNCTION.set(std::env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default());
}

pub(crate) fn is_log_on_standard_output() -> bool {
    FUNCTION.get().is_some()
}

/// The value of a metric, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A number of things.
    Count(u64),
    /// A duration in seconds.
    Seconds(u64),
}

impl Measure {
    fn unit(self) -> &'static str {
        match self {
            Self::Count(_) => "Count",
            Self::Seconds(_) => "Seconds",
        }
    }

    fn value(self) -> u64 {
        let (Self::Count(value) | Self::Seconds(value)) = self;
        value
    }
}

/// Writes these measures, each under its metric's name, in the namespace `Till`. The dimension is the function's name,
/// as in Lambda's own metrics, so that the metrics of two deployments stay apart.
///
/// On a laptop, where standard output is not the log, the measures are an ordinary log line.
pub fn metrics(measures: &[(&str, Measure)]) {
    let Some(function) = FUNCTION.get() else {
        tracing::debug!(?measures, "metrics");
        return;
    };
    let line = line(function, measures, SystemTime::now());
    // One call writes the whole line, so that no other line interleaves. A metric that cannot be written is dropped.
    _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

fn line(function: &str, measures: &[(&str, Measure)], now: SystemTime) -> Value {
    let metrics: Vec<_> =
        measures.iter().map(|(name, measure)| json!({ "Name": name, "Unit": measure.unit() })).collect();
    let directive = json!({ "Namespace": NAMESPACE, "Dimensions": [[DIMENSION]], "Metrics": metrics });
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line: Map<_, _> =
        measures.iter().map(|(name, measure)| ((*name).to_owned(), json!(measure.value()))).collect();
    let timestamp = u64::try_from(since_epoch.as_millis()).unwrap_or_default();
    line.insert(DIMENSION.to_owned(), json!(function));
    line.insert("_aws".to_owned(), json!({ "Timestamp": timestamp, "CloudWatchMetrics": [directive] }));
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_has_its_directive_and_its_measures_at_the_root() {
        let line = line(
            "reconcile",
            &[("CountersChecked", Measure::Count(7)), ("LongestWait", Measure::Seconds(90))],
            UNIX_EPOCH + Duration::from_millis(1500),
        );
        let metrics = json!([
            { "Name": "CountersChecked", "Unit": "Count" }, { "Name": "LongestWait", "Unit": "Seconds" },
        ]);
        let directive = json!({ "Namespace": "Till", "Dimensions": [["FunctionName"]], "Metrics": metrics });
        let aws = json!({ "Timestamp": 1500, "CloudWatchMetrics": [directive] });
        assert_eq!(line, json!({ "_aws": aws, "FunctionName": "reconcile", "CountersChecked": 7, "LongestWait": 90 }));
    }
}
