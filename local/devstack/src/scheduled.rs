//! Functions that a schedule invokes. A request invokes them, too.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tracing::warn;

use crate::gateway::Invoke;
use crate::problem::{answer, problem};
use crate::stories::Invocation;

/// The time between two invocations of an expression such as `rate(5 minutes)`.
pub(crate) fn rate(expression: &str) -> Result<Duration> {
    let read = || {
        let (number, unit) = expression.strip_prefix("rate(")?.strip_suffix(')')?.split_once(' ')?;
        let unit = match unit.strip_suffix('s').unwrap_or(unit) {
            "minute" => 60,
            "hour" => 60 * 60,
            "day" => 24 * 60 * 60,
            _ => return None,
        };
        number.parse().ok().filter(|number| (1..=1000).contains(number)).map(|number: u64| number * unit)
    };
    let seconds = read().with_context(|| format!("Schedule: {expression} is none like rate(5 minutes)"))?;
    Ok(Duration::from_secs(seconds))
}

/// Invokes each function at its rate, for ever. An invocation that takes longer delays the next one.
pub(crate) async fn run(functions: &BTreeMap<String, Invoke>, rates: &BTreeMap<String, Duration>) {
    let running = functions.iter().filter_map(|(name, invoke)| Some((name, invoke, *rates.get(name)?)));
    join_all(running.map(async |(name, invoke, rate)| {
        let mut times = interval_at(Instant::now() + rate, rate);
        times.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            times.tick().await;
            if let Err(error) = invoke(json!({})).await {
                warn!("{name}, which a schedule invoked, failed: {error}");
            }
        }
    }))
    .await;
    std::future::pending::<()>().await;
}

/// Invokes the function with the event in the body, and returns its report.
pub(crate) async fn invoke(function: Option<&Invoke>, body: &[u8], story: Invocation) -> Response<Body> {
    let Some(function) = function else {
        return problem(StatusCode::NOT_FOUND, "This stack has no such function on a schedule.");
    };
    let outcome = match serde_json::from_slice(body) {
        Ok(event) => story.run(function(event)).await,
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(report) => answer(StatusCode::OK, "application/json", report.to_string()),
        Err(error) => problem(StatusCode::BAD_REQUEST, &error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use serde_json::Value;

    use super::*;

    #[test]
    fn a_rate_is_read_and_nothing_else() {
        let minutes = |expression: &str| rate(expression).ok().map(|rate| rate.as_secs() / 60);
        assert_eq!(["rate(1 minute)", "rate(2 hours)", "rate(1 day)"].map(minutes), [Some(1), Some(120), Some(1440)]);
        for expression in ["rate(0 minutes)", "rate(-1 days)", "rate(5)", "cron(0 8 * * ? *)", ""] {
            assert_eq!(minutes(expression), None, "{expression}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_function_is_invoked_at_its_rate_also_after_a_failure() {
        let counts = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
        let invoke = |count: &Arc<AtomicU32>| -> Invoke {
            let count = Arc::clone(count);
            Arc::new(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
                Box::pin(async { Err::<Value, _>("it fails".to_owned()) })
            })
        };
        let functions = ["often", "seldom"].map(str::to_owned).into_iter().zip(counts.each_ref().map(invoke)).collect();
        let rates =
            [("often", 60), ("seldom", 300)].map(|(name, seconds)| (name.to_owned(), Duration::from_secs(seconds)));
        let ten_minutes = Duration::from_secs(630);
        assert!(tokio::time::timeout(ten_minutes, run(&functions, &rates.into())).await.is_err(), "it never ends");
        assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [10, 2]);
    }
}
