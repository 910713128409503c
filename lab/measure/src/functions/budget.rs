//! The budget of each function, as multiples of the floor.

use key_schema::markdown_tables;

use super::measure::Figures;
use super::subject::{FUNCTIONS, Function, SHORT};

/// The budget of a function: multiples of the floor's figures, and the most system calls of a warm event.
pub(super) struct Budget {
    pub(super) init: f64,
    pub(super) first: f64,
    pub(super) warm: f64,
    pub(super) binary: f64,
    pub(super) memory: f64,
    pub(super) system_calls: f64,
}

/// The budgets, as a table of Markdown.
pub(super) fn table() -> String {
    let rows = FUNCTIONS.iter().map(|Function { name, budget, .. }| {
        let Budget { init, first, warm, binary, memory, system_calls } = budget;
        let times = [init, first, warm, binary, memory].map(|most| format!("{most}x"));
        [(*name).to_owned()].into_iter().chain(times).chain([system_calls.to_string()]).collect()
    });
    markdown_tables::table(&["at most", "init", "first", "warm", "binary", "memory", "system calls"], rows)
}

/// The budget of a function, as a release or as a development build.
fn of(name: &str, is_short: bool) -> Option<&'static Budget> {
    if is_short {
        return SHORT.iter().find(|(short, _)| *short == name).map(|(_, budget)| budget);
    }
    FUNCTIONS.iter().find(|function| function.name == name).map(|function| &function.budget)
}

/// The figures over their budgets, one on each line.
pub(super) fn over(floor: &Figures, figures: &[Figures], is_short: bool) -> Vec<String> {
    let mut over = Vec::new();
    for subject in figures {
        let Some(budget) = of(subject.name, is_short) else { continue };
        let counts = [
            ("instructions of init", subject.init, floor.init, budget.init),
            ("instructions of the first event", subject.first, floor.first, budget.first),
            ("instructions of a warm event", subject.warm, floor.warm, budget.warm),
            ("bytes of the binary", subject.binary, floor.binary, budget.binary),
            ("memory", subject.memory, floor.memory, budget.memory),
        ];
        for (what, seen, least, most) in counts {
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
    over
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(super) fn ratio(seen: u64, least: u64) -> f64 {
    seen as f64 / least.max(1) as f64
}
