//! A tally as text.

use std::fmt::Write as _;
use std::time::Duration;

use super::tally::{Latencies, Tally};

/// The histograms' buckets double, from a sixteenth of a millisecond to half a minute.
const FIRST_MICROS: u64 = 64;
const BUCKETS: u32 = 19;

const BAR: u64 = 40;
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// The report at the end of a run of this duration.
pub(super) fn report(tally: &Tally, took: Duration) -> String {
    let all = tally.all();
    let shown = shown(&all);
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(&format!(
        "{} requests in {:.1} s: {:.0} a second, {} errors",
        all.len(),
        took.as_secs_f64(),
        rate(all.len(), took),
        tally.errors
    ));
    line("");
    line(&format!(
        "{:<20}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}  {}",
        "latency in ms",
        "requests",
        "a second",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "max",
        scale(&shown)
    ));
    for (kind, latencies) in &tally.latencies {
        line(&row(kind.name(), latencies, took, &shown));
    }
    line(&row("all", &all, took, &shown));

    line("");
    line("all latencies");
    for bucket in shown {
        let (low, high) = bounds(bucket);
        let count = within(&all, bucket);
        let bar = "█".repeat(usize::try_from((count * BAR).div_ceil(all.len().max(1))).unwrap_or_default());
        line(&format!("{:>9} to {:<9}{count:>9}  {bar}", millis(low), millis(high)));
    }

    line("");
    line("answers");
    for ((is_expected, kind, answer), count) in &tally.answers {
        let mark = if *is_expected { "" } else { "  ERROR" };
        line(&format!("{:<20}{answer:<30}{count:>9}{mark}", kind.name()));
    }
    text
}

/// The progress line.
pub(super) fn now(tally: &Tally, recent: &Latencies, since: Duration) -> String {
    let [p50, p99] = [0.5, 0.99].map(|quantile| millis(recent.value_at_quantile(quantile)));
    let (rate, done, errors) = (rate(recent.len(), since), tally.done(), tally.errors);
    format!("{rate:.0}/s  p50 {p50} ms  p99 {p99} ms  {done} done  {errors} errors")
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^52")]
fn rate(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(f64::EPSILON)
}

fn row(name: &str, latencies: &Latencies, took: Duration, shown: &[u32]) -> String {
    let mut row = format!("{name:<20}{:>9}{:>9.0}", latencies.len(), rate(latencies.len(), took));
    for quantile in QUANTILES {
        _ = write!(row, "{:>9}", millis(latencies.value_at_quantile(quantile)));
    }
    format!("{row}{:>9}  {}", millis(latencies.max()), shape(latencies, shown))
}

/// The buckets from the first to the last non-empty one.
fn shown(all: &Latencies) -> Vec<u32> {
    let held: Vec<u32> = (0..BUCKETS).filter(|bucket| within(all, *bucket) > 0).collect();
    match (held.first(), held.last()) {
        (Some(first), Some(last)) => (*first..=*last).collect(),
        _ => Vec::new(),
    }
}

/// The bounds of a bucket in microseconds, half-open. The first bucket begins at zero, and the last has no end.
fn bounds(bucket: u32) -> (u64, u64) {
    let low = if bucket == 0 { 0 } else { FIRST_MICROS << (bucket - 1) };
    let high = if bucket == BUCKETS - 1 { u64::MAX } else { FIRST_MICROS << bucket };
    (low, high)
}

fn within(latencies: &Latencies, bucket: u32) -> u64 {
    let (low, high) = bounds(bucket);
    latencies
        .iter_recorded()
        .filter(|step| (low..high).contains(&step.value_iterated_to()))
        .map(|step| step.count_at_value())
        .sum()
}

/// The distribution of a kind's latencies, one character for each bucket.
fn shape(latencies: &Latencies, shown: &[u32]) -> String {
    let counts: Vec<u64> = shown.iter().map(|bucket| within(latencies, *bucket)).collect();
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let step = |count: u64| match count {
        0 => ' ',
        count => {
            usize::try_from((count * 8).div_ceil(most) - 1).ok().and_then(|at| STEPS.get(at)).copied().unwrap_or('█')
        }
    };
    counts.into_iter().map(step).collect()
}

/// The bounds of the distributions.
fn scale(shown: &[u32]) -> String {
    match (shown.first(), shown.last()) {
        (Some(first), Some(last)) => format!("{} to {} ms", millis(bounds(*first).0), millis(bounds(*last).1)),
        _ => String::new(),
    }
}

/// Microseconds as milliseconds, with three significant digits.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a run are far below 2^52")]
fn millis(micros: u64) -> String {
    match micros {
        u64::MAX => "more".to_owned(),
        0..10_000 => format!("{:.2}", micros as f64 / 1e3),
        10_000..100_000 => format!("{:.1}", micros as f64 / 1e3),
        _ => format!("{}", micros / 1000),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn latencies(micros: &[u64]) -> Latencies {
        let mut latencies = Latencies::new(3).unwrap();
        for micros in micros {
            latencies.record(*micros).unwrap();
        }
        latencies
    }

    proptest! {
        // A histogram has many buckets of its own to walk through.
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn every_latency_is_in_one_bucket_that_is_shown(micros in prop::collection::vec(0_u64..100_000_000, 1..50)) {
            let all = latencies(&micros);
            let shown = shown(&all);
            prop_assert_eq!(shown.iter().map(|bucket| within(&all, *bucket)).sum::<u64>(), all.len());
            let ends = [shown.first(), shown.last()].map(|bucket| within(&all, *bucket.unwrap()));
            prop_assert!(ends[0] > 0 && ends[1] > 0);
            prop_assert_eq!(shape(&all, &shown).chars().count(), shown.len());
        }
    }

    #[test]
    fn a_shape_is_as_high_as_its_largest_bucket() {
        let all = latencies(&[70, 70, 70, 70, 70, 70, 70, 70, 200, 600, 600, 600, 600]);
        assert_eq!(shape(&all, &shown(&all)), "█▁ ▄");
    }

    #[test]
    fn a_latency_is_told_with_the_digits_that_mean_something() {
        assert_eq!(
            [64, 9_999, 10_000, 99_940, 100_000, 2_345_678].map(millis),
            ["0.06", "10.00", "10.0", "99.9", "100", "2345"]
        );
    }
}
