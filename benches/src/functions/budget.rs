//! How much of the floor's each function may cost.

use anyhow::{Context, Result};
use key_schema::chart;

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

/// A few per cent above what was measured, of binaries from cargo and from cargo-lambda, whose zig links another start-up. Why it
/// is so much: docs/performance.md.
const BUDGETS: &[(&str, Budget)] = &[
    ("get-product", Budget { init: 12.2, first: 4.8, warm: 4.8, binary: 4.7, memory: 3.2, system_calls: 13.5 }),
    ("get-order", Budget { init: 12.2, first: 6.3, warm: 6.3, binary: 4.8, memory: 3.3, system_calls: 13.5 }),
    ("list-orders", Budget { init: 12.2, first: 135.0, warm: 29.5, binary: 4.7, memory: 3.6, system_calls: 46.0 }),
    ("place-order", Budget { init: 12.9, first: 12.0, warm: 12.2, binary: 5.8, memory: 3.9, system_calls: 16.8 }),
    ("drain-writes", Budget { init: 12.9, first: 12.6, warm: 12.8, binary: 5.8, memory: 3.9, system_calls: 23.0 }),
    ("count-orders", Budget { init: 12.2, first: 10.6, warm: 7.6, binary: 5.0, memory: 3.4, system_calls: 14.0 }),
];

/// The budgets, as a table of Markdown.
pub(super) fn table() -> String {
    let rows = BUDGETS.iter().map(|(name, Budget { init, first, warm, binary, memory, system_calls })| {
        let times = [init, first, warm, binary, memory].map(|most| format!("{most}x"));
        [(*name).to_owned()].into_iter().chain(times).chain([system_calls.to_string()]).collect()
    });
    chart::table(&["at most", "init", "first", "warm", "binary", "memory", "system calls"], rows)
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
