//! Metrics in CloudWatch's embedded metric format: log lines that CloudWatch turns into metrics.
//!
//! The lines bypass `tracing`, which would nest them in a line of its own: CloudWatch looks for `_aws` at the root.
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime as Clock};

use crate::trail;

const NAMESPACE: &str = "Till";

/// The dimension of a metric of one function: its name, as in Lambda's own metrics.
const FUNCTION_NAME: &str = "FunctionName";

/// The dimension of a metric that several functions count: the name of the stack.
const DEPLOYMENT: &str = "Deployment";

/// Whose log standard output is. Unset where it is no function's log.
static LOGGED: OnceLock<Logged> = OnceLock::new();

struct Logged {
    function: String,
    deployment: String,
}

pub(crate) fn write_to_standard_output() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    _ = LOGGED.set(Logged { function: variable("AWS_LAMBDA_FUNCTION_NAME"), deployment: variable("DEPLOYMENT") });
}

pub(crate) fn is_log_on_standard_output() -> bool {
    LOGGED.get().is_some()
}

/// The value of a metric, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A number of things.
    Count(u64),
    /// A duration in seconds.
    Seconds(u64),
    /// An amount of money in minor units.
    Amount(u64),
}

impl Measure {
    fn unit(self) -> &'static str {
        match self {
            Self::Count(_) => "Count",
            Self::Seconds(_) => "Seconds",
            Self::Amount(_) => "None",
        }
    }

    fn value(self) -> u64 {
        let (Self::Count(value) | Self::Seconds(value) | Self::Amount(value)) = self;
        value
    }
}

/// Writes these measures, each under its metric's name, in the namespace `Till`. The dimension is the function's name,
/// so that the metrics of two deployments stay apart.
///
/// On a laptop, where standard output is not the log, the measures are an ordinary log line.
pub fn metrics(measures: &[(&str, Measure)]) {
    write(measures, |logged| (FUNCTION_NAME, &logged.function), None);
}

/// Writes measures that several functions count together, by the value of this dimension if there is one. CloudWatch
/// bills each value.
pub fn metrics_of_shop(measures: &[(&str, Measure)], by: Option<(&'static str, &str)>) {
    write(measures, |logged| (DEPLOYMENT, &logged.deployment), by);
}

fn write(measures: &[(&str, Measure)], whose: fn(&Logged) -> (&'static str, &str), by: Option<(&'static str, &str)>) {
    let Some(logged) = LOGGED.get() else {
        tracing::debug!(?measures, ?by, "metrics");
        return;
    };
    let line = line(whose(logged), by, measures, SystemTime::now());
    // One call writes the whole line, so that no other line interleaves. A metric that cannot be written is dropped.
    _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

fn line(
    whose: (&'static str, &str),
    by: Option<(&'static str, &str)>,
    measures: &[(&str, Measure)],
    now: SystemTime,
) -> Value {
    let metrics: Vec<_> =
        measures.iter().map(|(name, measure)| json!({ "Name": name, "Unit": measure.unit() })).collect();
    let dimensions: Vec<_> = [whose].iter().chain(&by).map(|(name, _)| *name).collect();
    let directive = json!({ "Namespace": NAMESPACE, "Dimensions": [dimensions], "Metrics": metrics });
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let timestamp = u64::try_from(since_epoch.as_millis()).unwrap_or_default();
    let mut line: Map<_, _> = trail::fields().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    line.extend(measures.iter().map(|(name, measure)| ((*name).to_owned(), json!(measure.value()))));
    line.extend([whose].into_iter().chain(by).map(|(name, value)| (name.to_owned(), json!(value))));
    line.insert("_aws".to_owned(), json!({ "Timestamp": timestamp, "CloudWatchMetrics": [directive] }));
    keep(&mut line);
    Value::Object(line)
}

/// Marks a line that Lambda is to keep. Lambda leaves out lines below the deployment's `LogLevel`, and no level is above
/// this one. It wants a time in a line with a level.
pub(crate) fn keep(line: &mut Map<String, Value>) {
    let mut now = String::new();
    // Writing to a text cannot fail.
    _ = Clock.format_time(&mut Writer::new(&mut now));
    line.insert("level".to_owned(), json!("FATAL"));
    line.insert("timestamp".to_owned(), json!(now));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn written(by: Option<(&'static str, &str)>, measures: &[(&str, Measure)]) -> Value {
        let mut line = line((FUNCTION_NAME, "reconcile"), by, measures, UNIX_EPOCH + Duration::from_millis(1500));
        let time = line.as_object_mut().expect("an object").remove("timestamp").expect("a time");
        assert!(time.as_str().is_some_and(|time| time.ends_with('Z') && time.contains('T')), "{time}");
        line
    }

    #[test]
    fn a_line_has_its_directive_and_its_measures_at_the_root() {
        let line = written(None, &[("CountersChecked", Measure::Count(7)), ("LongestWait", Measure::Seconds(90))]);
        let metrics = json!([
            { "Name": "CountersChecked", "Unit": "Count" }, { "Name": "LongestWait", "Unit": "Seconds" },
        ]);
        let directive = json!({ "Namespace": "Till", "Dimensions": [["FunctionName"]], "Metrics": metrics });
        let aws = json!({ "Timestamp": 1500, "CloudWatchMetrics": [directive] });
        let wanted = json!({
            "_aws": aws, "FunctionName": "reconcile", "CountersChecked": 7, "LongestWait": 90, "level": "FATAL",
        });
        assert_eq!(line, wanted);
    }

    #[test]
    fn a_measure_by_a_dimension_has_both_dimensions() {
        let line = written(Some(("Reason", "out-of-stock")), &[("OrdersRefused", Measure::Count(1))]);
        let dimensions = &line["_aws"]["CloudWatchMetrics"][0]["Dimensions"];
        assert_eq!(*dimensions, json!([["FunctionName", "Reason"]]));
        assert_eq!((&line["Reason"], &line["OrdersRefused"]), (&json!("out-of-stock"), &json!(1)));
    }
}
