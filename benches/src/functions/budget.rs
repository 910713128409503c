//! How much of the floor's each function may cost.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::measure::Figures;

/// The most that a function may cost, as a multiple of the floor; and the most system calls of a warm event.
struct Budget {
    init: f64,
    first: f64,
    warm: f64,
    binary: f64,
    memory: f64,
    system_calls: f64,
}

const BUDGETS: &[(&str, Budget)] = &[];

/// Adds the table of the budgets.
pub(super) fn write(text: &mut String) -> std::fmt::Result {
    writeln!(text, "| at most | init | first | warm | binary | memory | system calls |")?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for (name, Budget { init, first, warm, binary, memory, system_calls }) in BUDGETS {
        writeln!(text, "| {name} | {init}x | {first}x | {warm}x | {binary}x | {memory}x | {system_calls} |")?;
    }
    Ok(())
}

/// What is over its budget, in one line each.
pub(super) fn over(figures: &[Figures]) -> Result<Vec<String>> {
    let floor = figures.first().context("nothing was measured")?;
    let mut over = Vec::new();
    for subject in figures {
        let Some((_, budget)) = BUDGETS.iter().find(|(name, _)| *name == subject.name) else { continue };
        let counts = [
            ("instructions of init", subject.init, floor.init, budget.init),
            ("instructions of the first event", subject.first, floor.first, budget.first),
            ("instructions of a warm event", subject.warm, floor.warm, budget.warm),
            ("bytes of the binary", subject.binary, floor.binary, budget.binary),
            ("memory", Some(subject.memory), Some(floor.memory), budget.memory),
        ];
        for (what, seen, least, most) in counts {
            let (Some(seen), Some(least)) = (seen, least) else { continue };
            let ratio = ratio(seen, least);
            if ratio > most {
                over.push(format!("{}: {what} are {ratio:.2} times the floor's, and may be {most}", subject.name));
            }
        }
        if let Some(calls) = subject.system_calls.filter(|calls| *calls > budget.system_calls) {
            let most = budget.system_calls;
            over.push(format!("{}: {calls:.1} system calls of a warm event, and may be {most}", subject.name));
        }
    }
    Ok(over)
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(super) fn ratio(seen: u64, least: u64) -> f64 {
    seen as f64 / least.max(1) as f64
}
