//! The steps of a migration: each with the conditions under which it is safe, and the words that say what is missing.

use std::fmt;
use std::time::Duration;

use key_schema::entity::{CopyProgress, CopyTask, ItemKey, Migration, Phase};
use key_schema::value::Timestamp;

/// The time after a step for which functions may still work by the phase before: they use what they read for 2 seconds,
/// and their longest request takes 30 more. Rounded up, for clocks that differ.
pub const SETTLE: Duration = Duration::from_secs(40);

/// What is known about a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The migration; `None` if none has begun.
    pub migration: Option<Migration>,
    /// The segments of the last run; empty if there was none.
    pub segments: Vec<CopyProgress>,
    /// The number of repairs that are due in the table from which the shop migrates.
    pub repairs_in_first: usize,
    /// The number of repairs that are due in the table to which the shop migrates.
    pub repairs_in_next: usize,
}

/// A reason why a step or a run cannot begin yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The phases are not neighbours.
    NoSuchStep(Phase, Phase),
    /// Functions may still work by the phase before, for this time.
    Unsettled(Duration),
    /// Functions of a release that does not know migrations may still run. Only the operator can know.
    OldRelease,
    /// The tables were not copied in this phase.
    NotCopied,
    /// A run is under way: the number of its segments that are not done.
    Running(usize),
    /// The tables were not compared in this phase.
    NotCompared,
    /// The comparison found pairs that differ: their number, and the first keys.
    Different(u64, Vec<ItemKey>),
    /// Repairs are due.
    RepairsDue(usize),
    /// The phase has no such run.
    NoSuchRun(CopyTask, Phase),
}

impl Facts {
    /// The phase of the migration.
    pub fn phase(&self) -> Phase {
        self.migration.as_ref().map_or(Phase::First, |migration| migration.phase)
    }

    /// The time until all functions work by the phase.
    pub fn unsettled(&self, now: Timestamp, settle: Duration) -> Option<Duration> {
        let since = self.migration.as_ref()?.since;
        // A time in the future counts as now: the clocks differ.
        let passed = now.as_millisecond().saturating_sub(since.as_millisecond()).max(0);
        let left = settle.saturating_sub(Duration::from_millis(u64::try_from(passed).unwrap_or(0)));
        (!left.is_zero()).then_some(left)
    }

    /// The reasons why the migration cannot go to this phase yet. `old_release_is_gone` is the operator's word that
    /// every running function knows migrations.
    pub fn obstacles(&self, to: Phase, now: Timestamp, settle: Duration, old_release_is_gone: bool) -> Vec<Obstacle> {
        let from = self.phase();
        if !from.may_become(to) {
            return vec![Obstacle::NoSuchStep(from, to)];
        }
        let mut obstacles: Vec<_> = self.unsettled(now, settle).map(Obstacle::Unsettled).into_iter().collect();
        match (from, to) {
            (Phase::First, Phase::Both) => {
                if !old_release_is_gone {
                    obstacles.push(Obstacle::OldRelease);
                }
                // Such a repair of an earlier migration would be carried out from a table that does not lead.
                obstacles.extend(due(self.repairs_in_next));
            }
            (Phase::Both, Phase::Compare) => obstacles.extend(self.last_run(CopyTask::Copy)),
            (Phase::Compare, Phase::Handover) | (Phase::NextLeads, Phase::Takeover) => {
                obstacles.extend(self.last_run(CopyTask::Compare));
                obstacles.extend(due(self.repairs_in_first + self.repairs_in_next));
            }
            (Phase::Handover, Phase::Takeover) | (Phase::Takeover, Phase::Handover) => {
                obstacles.extend(due(self.repairs_in_first + self.repairs_in_next));
            }
            // Every other step leaves the lead where it is, and asks no more of the tables than before.
            _ => {}
        }
        obstacles
    }

    /// The reasons why a run cannot start yet.
    pub fn obstacles_to_run(&self, task: CopyTask, now: Timestamp, settle: Duration) -> Vec<Obstacle> {
        let phase = self.phase();
        if !matches!(phase, Phase::Both | Phase::Compare | Phase::NextLeads) {
            return vec![Obstacle::NoSuchRun(task, phase)];
        }
        // While a function still writes one table alone, it leaves no repairs.
        self.unsettled(now, settle).map(Obstacle::Unsettled).into_iter().collect()
    }

    /// What is missing of a run of this kind in this phase. A run of an earlier phase does not count: in the meantime,
    /// one of the tables may have been written alone.
    fn last_run(&self, task: CopyTask) -> Option<Obstacle> {
        let missing = match task {
            CopyTask::Copy => Obstacle::NotCopied,
            CopyTask::Compare => Obstacle::NotCompared,
        };
        let version = self.migration.as_ref().map_or(0, |migration| migration.version);
        let is_of_phase = |segment: &CopyProgress| segment.migration_version == version && segment.task == task;
        let is_whole = |first: &CopyProgress| self.segments.len() == usize::from(first.segments);
        if !self.segments.first().is_some_and(is_whole) || !self.segments.iter().all(is_of_phase) {
            return Some(missing);
        }
        let running = self.segments.iter().filter(|segment| !segment.is_done).count();
        if running > 0 {
            return Some(Obstacle::Running(running));
        }
        let differences = self.segments.iter().map(|segment| segment.differences).sum();
        let keys = self.segments.iter().flat_map(|segment| segment.differing.clone());
        (differences > 0).then(|| Obstacle::Different(differences, keys.collect()))
    }
}

fn due(repairs: usize) -> Option<Obstacle> {
    (repairs > 0).then_some(Obstacle::RepairsDue(repairs))
}

impl Obstacle {
    /// Whether waiting is enough.
    pub fn passes_by_itself(&self) -> bool {
        matches!(self, Self::Unsettled(_) | Self::Running(_) | Self::RepairsDue(_))
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchStep(from, to) => write!(f, "there is no step from {from} to {to}"),
            Self::Unsettled(left) => write!(
                f,
                "functions may still work by the phase before for {} s: wait that long",
                left.as_millis().div_ceil(1000)
            ),
            Self::OldRelease => f.write_str(
                "functions of a release that knows no migrations would write one table alone: wait until none runs, \
                 and say so with --old-release-is-gone",
            ),
            Self::NotCopied => f.write_str("the tables were not copied in this phase: run migrate start"),
            Self::Running(segments) => {
                write!(f, "{segments} segments of the run are not done: migrate status shows them")
            }
            Self::NotCompared => f.write_str("the tables were not compared in this phase: run migrate compare"),
            Self::Different(number, keys) => {
                let keys: Vec<_> = keys.iter().map(|key| format!("{} {}", key.partition, key.sort)).collect();
                write!(
                    f,
                    "{number} items differ from their copies: {}; run migrate start, then compare again",
                    keys.join(", ")
                )
            }
            Self::RepairsDue(repairs) => {
                write!(f, "{repairs} repairs are due: migrate repair carries them out")
            }
            Self::NoSuchRun(task, phase) => {
                write!(f, "{task} has no place in the phase {phase}: in both, compare and nextLeads it has")
            }
        }
    }
}
