//! The words of `cargo local migrate`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use copying::State;
use key_schema::entity::{CopyProgress, CopyTask, PairOfSums, Phase, Side};
use table::Pairs;

/// The phase, the last run and the repairs.
pub(super) fn status(state: &State, pairs: &Pairs) -> String {
    let (first, next) = (pairs.name(Side::First), pairs.name(Side::Next));
    let mut text = format!("from {first} to {next}\n{}", step(state.phase()));
    if let Some(migration) = &state.migration {
        _ = writeln!(text, "since {}", migration.since);
    }
    let version = state.migration.as_ref().map(|migration| migration.version);
    if let Some(segment) = state.segments.first() {
        if version != Some(segment.migration_version) {
            text.push_str("the last run was in an earlier phase\n");
        }
        text.push_str(&run(&state.segments));
    }
    _ = writeln!(text, "repairs due: {} in {first}, {} in {next}", state.repairs_in_first, state.repairs_in_next);
    text
}

/// A phase, and what comes next.
pub(super) fn step(phase: Phase) -> String {
    let (is, next) = match phase {
        Phase::First => ("the first table alone is read and written", "migrate advance begins a migration"),
        Phase::Both => ("both tables are written, the first one leads", "migrate start, then migrate advance"),
        Phase::Compare => ("each read is compared with the next table", "migrate compare, then migrate advance"),
        Phase::Handover => ("both tables are kept equal, the first one leads", "migrate advance"),
        Phase::Takeover => ("both tables are kept equal, the next one leads", "migrate advance"),
        Phase::NextLeads => (
            "both tables are written, the next one leads",
            "migrate advance; or migrate start and migrate compare, then migrate back",
        ),
        Phase::Next => {
            ("the next table alone is read and written", "docs/migrating.md says how to let the first table go")
        }
    };
    format!(
        "phase {phase}: {is}\nnext: {next}; the way back: {}\n",
        if phase == Phase::First { "none is needed" } else { "migrate back" }
    )
}

/// The figures of a run. A comparison has one line for each kind of item.
pub(super) fn run(segments: &[CopyProgress]) -> String {
    let sum = |of: fn(&CopyProgress) -> u64| segments.iter().map(of).sum::<u64>();
    let done = segments.iter().filter(|segment| segment.is_done).count();
    let task = if segments.iter().all(|segment| segment.task == CopyTask::Copy) { "copy" } else { "comparison" };
    let mut text = format!("{task}: {done} of {} segments done, {} items read, ", segments.len(), sum(|one| one.items));
    _ = writeln!(text, "{} written, {} differ", sum(|one| one.copied), sum(|one| one.differences));
    let mut sums: BTreeMap<&str, PairOfSums> = BTreeMap::new();
    for (kind, sum) in segments.iter().flat_map(|segment| &segment.sums) {
        *sums.entry(kind).or_default() += *sum;
    }
    for (kind, PairOfSums { first, next }) in sums {
        let verdict = if first == next { "equal" } else { "different" };
        _ = writeln!(
            text,
            "  {kind:20} {:>10} {:032x}  {:>10} {:032x}  {verdict}",
            first.items, first.sum, next.items, next.sum
        );
    }
    for key in segments.iter().flat_map(|segment| &segment.differing) {
        _ = writeln!(text, "  differs: {} {}", key.partition, key.sort);
    }
    text
}
