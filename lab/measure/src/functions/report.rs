//! The report of all figures.

use anyhow::{Context, Result};
use key_schema::markdown_tables::table;

use super::budget::ratio;
use super::measure::Figures;

/// The table of all figures as Markdown.
pub(super) fn figures(figures: &[Figures]) -> Result<String> {
    let floor = figures.first().context("nothing was measured")?;
    let rows = figures.iter().map(|subject| {
        vec![
            subject.name.to_owned(),
            count(subject.init, floor.init, thousands),
            count(subject.first, floor.first, thousands),
            count(subject.warm, floor.warm, thousands),
            count(subject.binary, floor.binary, megabytes),
            count(subject.memory, floor.memory, megabytes),
            subject.system_calls.map_or_else(|| "-".to_owned(), |calls| format!("{calls:.1}")),
        ]
    });
    Ok(table(&["", "init", "first", "warm", "binary", "memory", "system calls"], rows))
}

fn count(seen: u64, least: u64, say: fn(u64) -> String) -> String {
    if seen == least { say(seen) } else { format!("{} ({:.1}x)", say(seen), ratio(seen, least)) }
}

#[allow(clippy::cast_precision_loss, reason = "for people to read")]
fn thousands(count: u64) -> String {
    if count < 1_000_000 { format!("{:.0} k", count as f64 / 1e3) } else { format!("{:.2} M", count as f64 / 1e6) }
}

#[allow(clippy::cast_precision_loss, reason = "for people to read")]
fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}
