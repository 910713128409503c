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

/// What a metric says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How many there were.
    Count(u64),
    /// How long it took.
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

/// Tells these measures, each under its metric's name, in the namespace `Till`. The dimension is the function's name,
/// as in Lambda's own metrics, so that two deployments do not add up.
///
/// On a laptop, where standard output is not the log, they are an ordinary line of it.
pub fn metrics(measures: &[(&str, Measure)]) {
    let Some(function) = FUNCTION.get() else {
        tracing::debug!(?measures, "metrics");
        return;
    };
    let line = line(function, measures, SystemTime::now());
    // In one piece, so that no other line comes between; and whoever cannot write a metric goes on without.
    _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

fn line(function: &str, measures: &[(&str, Measure)], now: SystemTime) -> Value {
    let metrics: Vec<_> =
        measures.iter().map(|(name, measure)| json!({ "Name": name, "Unit": measure.unit() })).collect();
    let directive = json!({ "Namespace": NAMESPACE, "Dimensions": [[DIMENSION]], "Metrics": metrics });
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line: Map<_, _> =
        measures.iter().map(|(name, measure)| ((*name).to_owned(), json!(measure.value()))).collect();
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
