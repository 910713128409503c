//! A tally as text.

use std::fmt::Write as _;
use std::time::Duration;

use super::tally::{Latencies, Tally};

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// The report at the end of a run of this duration.
pub(super) fn report(tally: &Tally, took: Duration) -> String {
    let all = tally.all();
    let mut text = format!(
        "{} requests in {:.1} s: {:.0} a second, {} errors\n\n",
        all.len(),
        took.as_secs_f64(),
        rate(all.len(), took),
        tally.errors
    );
    // Writing to a text cannot fail.
    _ = writeln!(
        text,
        "{:<20}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "latency in ms", "requests", "a second", "p50", "p90", "p99", "p99.9", "max"
    );
    let kinds = tally.latencies.iter().map(|(kind, latencies)| (kind.name(), latencies));
    for (name, latencies) in kinds.chain([("all", &all)]) {
        text.push_str(&row(name, latencies, took));
    }
    text.push_str("\nanswers\n");
    for ((is_expected, kind, answer), count) in &tally.answers {
        let mark = if *is_expected { "" } else { "  ERROR" };
        _ = writeln!(text, "{:<20}{answer:<30}{count:>9}{mark}", kind.name());
    }
    text
}

fn row(name: &str, latencies: &Latencies, took: Duration) -> String {
    let mut row = format!("{name:<20}{:>9}{:>9.0}", latencies.len(), rate(latencies.len(), took));
    for micros in QUANTILES.map(|quantile| latencies.value_at_quantile(quantile)).into_iter().chain([latencies.max()]) {
        _ = write!(row, "{:>9}", millis(micros));
    }
    row + "\n"
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^52")]
fn rate(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(f64::EPSILON)
}

/// Microseconds as milliseconds, with three significant digits.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a run are far below 2^52")]
fn millis(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{:.2}", micros as f64 / 1e3),
        10_000..100_000 => format!("{:.1}", micros as f64 / 1e3),
        _ => format!("{}", micros / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_told_with_the_digits_that_mean_something() {
        assert_eq!(
            [64, 9_999, 10_000, 99_940, 100_000, 2_345_678].map(millis),
            ["0.06", "10.00", "10.0", "99.9", "100", "2345"]
        );
    }
}
