//! The report of all figures.

use std::time::Duration;

use anyhow::{Context, Result};
use key_schema::markdown_tables::table;

use super::budget::{self, ratio};
use super::measure::{Figures, SMALL, Small};

/// The tables of all figures as Markdown: counts, budgets and times.
pub(super) fn tables(figures: &[Figures]) -> Result<String> {
    let floor = figures.first().context("nothing was measured")?;
    let counts = figures.iter().map(|subject| {
        vec![
            subject.name.to_owned(),
            count(subject.init, floor.init, thousands),
            count(subject.first, floor.first, thousands),
            count(subject.warm, floor.warm, thousands),
            count(subject.binary, floor.binary, megabytes),
            count(Some(subject.memory), Some(floor.memory), megabytes),
            subject.system_calls.map_or_else(nothing, |calls| format!("{calls:.1}")),
        ]
    });
    let times = figures.iter().map(|subject| {
        let small =
            |pick: fn(&Small) -> Duration| subject.small.as_ref().map_or_else(nothing, |small| time(pick(small)));
        vec![
            subject.name.to_owned(),
            time(subject.cpu),
            time(subject.latency),
            time(subject.start),
            time(subject.first_latency),
            small(|small| small.start),
            small(|small| small.first),
            small(|small| small.latency),
        ]
    });
    let with_little = ["start", "first", "warm"].map(|what| format!("{what}, {SMALL} %"));
    let [start, first, warm] = with_little.each_ref().map(String::as_str);
    Ok([
        table(&["", "init", "first", "warm", "binary", "memory", "system calls"], counts),
        budget::table(),
        table(&["", "CPU, warm", "latency, warm", "start", "first", start, first, warm], times),
    ]
    .join("\n"))
}

/// The figures that were not measured.
fn nothing() -> String {
    "-".to_owned()
}

fn count(seen: Option<u64>, least: Option<u64>, say: fn(u64) -> String) -> String {
    match (seen, least) {
        (Some(seen), Some(least)) if seen != least => format!("{} ({:.1}x)", say(seen), ratio(seen, least)),
        (Some(seen), _) => say(seen),
        (None, _) => nothing(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "for people to read")]
fn thousands(count: u64) -> String {
    if count < 1_000_000 { format!("{:.0} k", count as f64 / 1e3) } else { format!("{:.2} M", count as f64 / 1e6) }
}

#[allow(clippy::cast_precision_loss, reason = "for people to read")]
fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}

fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.0} µs") } else { format!("{:.1} ms", micros / 1e3) }
}
