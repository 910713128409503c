//! The figures, for people to read.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result};

use super::budget::{self, ratio};
use super::measure::Figures;

/// The tables of all figures, as Markdown: what repeats, what is allowed, and the times.
pub(super) fn tables(figures: &[Figures]) -> Result<String> {
    let floor = figures.first().context("nothing was measured")?;
    let mut text = String::new();
    writeln!(text, "| | init | first | warm | binary | memory | system calls |")?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for subject in figures {
        let calls = subject.system_calls.map_or_else(|| "-".to_owned(), |calls| format!("{calls:.1}"));
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {calls} |",
            subject.name,
            count(subject.init, floor.init, thousands),
            count(subject.first, floor.first, thousands),
            count(subject.warm, floor.warm, thousands),
            count(subject.binary, floor.binary, megabytes),
            count(Some(subject.memory), Some(floor.memory), megabytes),
        )?;
    }
    writeln!(text)?;
    budget::write(&mut text)?;
    writeln!(text)?;
    writeln!(text, "| | CPU, warm | latency, warm | start | first | start, 14 % | first, 14 % | warm, 14 % |")?;
    writeln!(text, "|---|---|---|---|---|---|---|---|")?;
    for subject in figures {
        let small = |pick: fn(&super::measure::Small) -> Duration| {
            subject.small.as_ref().map_or_else(|| "-".to_owned(), |small| time(pick(small)))
        };
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            subject.name,
            time(subject.cpu),
            time(subject.latency),
            time(subject.start),
            time(subject.first_latency),
            small(|small| small.start),
            small(|small| small.first),
            small(|small| small.latency),
        )?;
    }
    Ok(text)
}

fn count(seen: Option<u64>, least: Option<u64>, say: fn(u64) -> String) -> String {
    match (seen, least) {
        (Some(seen), Some(least)) if seen != least => format!("{} ({:.1}x)", say(seen), ratio(seen, least)),
        (Some(seen), _) => say(seen),
        (None, _) => "-".to_owned(),
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
