//! The part of CloudWatch's metric math that the alarms use. Missing data is treated as in the CloudWatch User Guide,
//! section "Using metric math".

use std::collections::BTreeMap;

/// One value for each period. `None` if there is no data.
pub type Series = Vec<Option<f64>>;

/// The result of an expression or of a part of it.
#[derive(Clone)]
enum Value {
    Scalar(f64),
    Series(Series),
    /// An array of time series, as `METRICS()` returns it.
    Array(Vec<Series>),
}

pub fn evaluate(expression: &str, metrics: &BTreeMap<String, Series>) -> Series {
    let mut parser = Parser { rest: expression, metrics };
    let value = parser.binary(0);
    assert!(parser.rest.trim().is_empty(), "{expression}: what is {:?}?", parser.rest);
    match value {
        Value::Series(series) => series,
        _ => panic!("{expression}: an alarm watches a single time series"),
    }
}

/// The operators, by increasing precedence. A longer operator comes before its prefix.
const OPERATORS: &[&[&str]] =
    &[&["OR", "||"], &["AND", "&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/"]];

struct Parser<'a> {
    rest: &'a str,
    metrics: &'a BTreeMap<String, Series>,
}

impl<'a> Parser<'a> {
    fn binary(&mut self, level: usize) -> Value {
        let Some(operators) = OPERATORS.get(level) else { return self.primary() };
        let mut left = self.binary(level + 1);
        while let Some(operator) = operators.iter().copied().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1);
            left = combine(operator, &left, &right);
        }
        left
    }

    fn primary(&mut self) -> Value {
        if self.take("(") {
            let value = self.binary(0);
            assert!(self.take(")"), "a bracket is not closed before {:?}", self.rest);
            return value;
        }
        let word = self.word();
        if let Ok(number) = word.parse() {
            return Value::Scalar(number);
        }
        if !self.take("(") {
            return Value::Series(self.metrics.get(word).unwrap_or_else(|| panic!("no metric {word:?}")).clone());
        }
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.binary(0));
            _ = self.take(",");
        }
        match (word, arguments.as_slice()) {
            ("METRICS", []) => Value::Array(self.metrics.values().cloned().collect()),
            ("SUM", [Value::Array(all)]) => Value::Series(sum(all)),
            ("FILL", [Value::Series(series), Value::Scalar(filler)]) => Value::Series(fill(series, *filler)),
            ("FILL", [Value::Array(all), Value::Scalar(filler)]) => {
                Value::Array(all.iter().map(|series| fill(series, *filler)).collect())
            }
            ("IF", [Value::Series(condition), when_true, when_false]) => {
                Value::Series(choose(condition, when_true, when_false))
            }
            _ => panic!("{word} of {} such arguments is not known here", arguments.len()),
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        rest.inspect(|rest| self.rest = rest).is_some()
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        assert!(!word.is_empty(), "a number, a metric or a function is missing before {rest:?}");
        self.rest = rest;
        word
    }
}

/// "Missing values in a time series are treated as 0", and so they are by comparisons if the other time series has a
/// value. "If the value of a data point causes a function to attempt to divide by zero, the data point is dropped."
#[expect(clippy::float_cmp, reason = "CloudWatch compares exactly, too")]
fn combine(operator: &str, left: &Value, right: &Value) -> Value {
    let apply = |left: f64, right: f64| match operator {
        "+" => Some(left + right),
        "-" => Some(left - right),
        "*" => Some(left * right),
        "/" => (right != 0.0).then(|| left / right),
        _ => {
            let is_true = match operator {
                "OR" | "||" => left != 0.0 || right != 0.0,
                "AND" | "&&" => left != 0.0 && right != 0.0,
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                _ => left > right,
            };
            Some(f64::from(u8::from(is_true)))
        }
    };
    match (left, right) {
        (Value::Scalar(left), Value::Scalar(right)) => {
            Value::Scalar(apply(*left, *right).unwrap_or_else(|| panic!("{left} {operator} {right}")))
        }
        (Value::Series(left), Value::Scalar(right)) => {
            Value::Series(left.iter().map(|left| apply((*left)?, *right)).collect())
        }
        (Value::Scalar(left), Value::Series(right)) => {
            Value::Series(right.iter().map(|right| apply(*left, (*right)?)).collect())
        }
        (Value::Series(left), Value::Series(right)) => {
            let both = left.iter().zip(right).map(|(left, right)| match (left, right) {
                (None, None) => None,
                _ => apply(left.unwrap_or(0.0), right.unwrap_or(0.0)),
            });
            Value::Series(both.collect())
        }
        _ => panic!("no alarm needs {operator} of an array"),
    }
}

fn fill(series: &Series, filler: f64) -> Series {
    series.iter().map(|value| Some(value.unwrap_or(filler))).collect()
}

/// Adds time series. If none has a value in a period, the sum has none either.
fn sum(all: &[Series]) -> Series {
    let periods = all.first().map_or(0, Vec::len);
    let at = |period: usize| all.iter().filter_map(move |series| series[period]);
    (0..periods).map(|period| at(period).next().map(|_| at(period).sum())).collect()
}

/// As in the tables under "Using IF expressions".
fn choose(condition: &Series, when_true: &Value, when_false: &Value) -> Series {
    let at = |value: &Value, period: usize| match value {
        Value::Scalar(number) => Some(*number),
        Value::Series(series) => series[period],
        Value::Array(_) => panic!("IF chooses between single time series"),
    };
    let chosen = condition.iter().enumerate().map(|(period, condition)| match condition {
        None => None,
        Some(0.0) => at(when_false, period),
        Some(_) => Some(at(when_true, period).unwrap_or(0.0)),
    });
    chosen.collect()
}

#[test]
fn the_examples_of_the_user_guide_have_the_documented_results() {
    const NONE: Option<f64> = None;
    let some = |values: &[i32]| values.iter().map(|value| Some(f64::from(*value))).collect::<Series>();
    let metrics = |all: &[(&str, Series)]| all.iter().map(|(id, series)| ((*id).to_owned(), series.clone())).collect();

    let compared = metrics(&[("m1", some(&[30, 20, 0, 0])), ("m2", vec![Some(20.0), NONE, Some(20.0), NONE])]);
    assert_eq!(evaluate("(m1 < m2)", &compared), some(&[0, 0, 1, 0]));
    assert_eq!(evaluate("(m1 >= 30)", &compared), some(&[1, 0, 0, 0]));
    assert_eq!(evaluate("(m1 > 15 AND m2 > 15)", &compared), some(&[1, 0, 0, 0]));

    let chosen = metrics(&[
        ("m1", vec![Some(1.0), Some(1.0), Some(0.0), Some(0.0), NONE]),
        ("m2", vec![Some(30.0), NONE, Some(0.0), Some(0.0), Some(30.0)]),
        ("m3", vec![Some(0.0), Some(0.0), Some(20.0), NONE, Some(20.0)]),
    ]);
    assert_eq!(evaluate("IF(m1, m2, m3)", &chosen), [Some(30.0), Some(0.0), Some(20.0), NONE, NONE]);
    assert_eq!(evaluate("IF(m1, 5, m3)", &chosen), [Some(5.0), Some(5.0), Some(20.0), NONE, NONE]);
    assert_eq!(evaluate("IF(m1, m2, 5)", &chosen), [Some(30.0), Some(0.0), Some(5.0), Some(5.0), NONE]);
    assert_eq!(evaluate("100 * m2 / m1", &chosen), [Some(3000.0), Some(0.0), NONE, NONE, NONE]);
    assert_eq!(evaluate("SUM(FILL(METRICS(), 0))", &chosen), some(&[31, 1, 20, 0, 50]));
}
