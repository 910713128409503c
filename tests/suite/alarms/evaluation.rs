//! Evaluates an alarm like CloudWatch, by the CloudWatch User Guide, sections "Alarm evaluation" and "Configuring how
//! CloudWatch alarms treat missing data".

use std::collections::BTreeMap;

use yaml_serde::Value as Yaml;

use super::metric_math::{self, Series};
use crate::deployment::{reference, stack};

/// The id of the metric of an alarm without an expression.
pub const METRIC: &str = "metric";

/// CloudWatch retrieves some more periods than it evaluates, so that missing data causes no delay.
const MORE_PERIODS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    InsufficientData,
    Ok,
    Alarm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingData {
    Breaching,
    NotBreaching,
    Ignore,
}

/// An alarm above or below a threshold.
#[derive(Debug)]
pub struct Alarm {
    pub name: String,
    /// The names of its metrics, by their ids.
    pub metrics: BTreeMap<String, String>,
    expression: Option<String>,
    evaluation_periods: usize,
    breaching_datapoints: usize,
    breaches: fn(&f64, &f64) -> bool,
    threshold: f64,
    missing_data: MissingData,
}

impl Alarm {
    /// Reads the properties of an `AWS::CloudWatch::Alarm`.
    pub fn read(name: &str, properties: &Yaml) -> Self {
        let text = |value: &Yaml| value.as_str().unwrap_or_else(|| panic!("{name}: no text: {value:?}")).to_owned();
        let count = |value: &Yaml| value.as_u64().and_then(|count| usize::try_from(count).ok());

        let all = properties["Metrics"].as_sequence().map(Vec::as_slice).unwrap_or_default();
        let (expressions, stats): (Vec<_>, Vec<_>) = all.iter().partition(|one| !one["Expression"].is_null());
        let metric_of = |stat: &Yaml| (text(&stat["Id"]), stat["MetricStat"]["Metric"].clone());
        let mut metrics: BTreeMap<_, _> = stats.into_iter().map(metric_of).collect();
        if metrics.is_empty() {
            metrics.insert(METRIC.to_owned(), properties.clone());
        }

        // "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data even if you choose a
        // different option." (PutMetricAlarm)
        let is_dynamodb = metrics.values().any(|metric| metric["Namespace"] == "AWS/DynamoDB");
        let missing_data = match properties["TreatMissingData"].as_str() {
            _ if is_dynamodb => MissingData::Ignore,
            Some("breaching") => MissingData::Breaching,
            Some("notBreaching") => MissingData::NotBreaching,
            other => panic!("{name}: missing data as {other:?} is not known here"),
        };
        let periods = &properties["EvaluationPeriods"];
        let evaluation_periods = match reference(periods) {
            Some(parameter) => count(&stack("template.yaml")["Parameters"][parameter]["Default"]),
            None => count(periods),
        };
        let evaluation_periods = evaluation_periods.expect("a number of periods");
        Self {
            name: name.to_owned(),
            metrics: metrics.iter().map(|(id, metric)| (id.clone(), text(&metric["MetricName"]))).collect(),
            expression: expressions.first().map(|one| match &one["Expression"] {
                Yaml::Tagged(sub) if sub.tag == "Sub" => with_defaults(&text(&sub.value)),
                plain => text(plain),
            }),
            evaluation_periods,
            breaching_datapoints: count(&properties["DatapointsToAlarm"]).unwrap_or(evaluation_periods),
            breaches: match properties["ComparisonOperator"].as_str() {
                Some("GreaterThanThreshold") => f64::gt,
                Some("LessThanThreshold") => f64::lt,
                other => panic!("{name}: {other:?} is not known here"),
            },
            threshold: properties["Threshold"].as_f64().expect("a threshold"),
            missing_data,
        }
    }

    /// The alarm's state after each period. `data` has a value of each metric for each period.
    pub fn states(&self, data: &BTreeMap<String, Series>) -> Vec<State> {
        let watched = match &self.expression {
            Some(expression) => metric_math::evaluate(expression, data),
            None => data[METRIC].clone(),
        };
        let mut state = State::InsufficientData;
        let after_each = (1..=watched.len()).map(|now| {
            let range = &watched[now.saturating_sub(self.evaluation_periods + MORE_PERIODS)..now];
            state = self.next(state, range);
            state
        });
        after_each.collect()
    }

    /// The next state. The newest values decide; missing values are filled in only if there are too few.
    fn next(&self, state: State, range: &[Option<f64>]) -> State {
        let known: Vec<_> = range.iter().rev().flatten().take(self.evaluation_periods).collect();
        let missing = self.evaluation_periods - known.len();
        let breaching = known.iter().filter(|value| (self.breaches)(value, &self.threshold)).count();
        match self.missing_data {
            _ if breaching >= self.breaching_datapoints => State::Alarm,
            MissingData::Breaching if breaching + missing >= self.breaching_datapoints => State::Alarm,
            MissingData::Ignore if missing > 0 => state,
            _ => State::Ok,
        }
    }
}

fn with_defaults(expression: &str) -> String {
    let template = stack("template.yaml");
    let mut parts = expression.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').expect("a name");
        let default = template["Parameters"][name]["Default"].as_u64();
        filled.push_str(&default.unwrap_or_else(|| panic!("{name} has no default")).to_string());
        filled.push_str(rest);
    }
    filled
}
