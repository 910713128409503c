//! A migration from one table to another: one item and its copy, writers by every phase, workers that copy and repair,
//! the operator's steps, and kills, in every interleaving.
//!
//! The decisions are those of production: [`copying::plan`] makes the transactions of the workers,
//! [`copying::steps`] allows the steps, and the tables apply the same [`table::Write`]s. A writer here stands for
//! `table`'s lockstep: one transaction over both tables, or over the leading one and a repair.

use std::time::Duration;

use copying::plan::{self, Plan};
use copying::steps::Facts;
use copying::{fence, is_different, repair_fence};
use key_schema::entity::{CopyProgress, CopyTask, ItemKey, Migration, Phase, Repair, Side};
use key_schema::layout::{COPIED, EXPIRES_AT, Index, Key, Stored as _};
use key_schema::value::Timestamp;
use stateright::{Model, Property};
use table::{AttributeValue, Condition, Item, Pair, Write, write_item};

use crate::table::{Place, Stored, Table, Transaction, in_table};

mod actions;
mod scene;
#[cfg(test)]
mod tests;

/// A fault that the model must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The first copy is all there is: an item whose copy exists is left alone, whatever the copy holds.
    PutsOnly,
    /// A copy is put without a check of the item in the leading table.
    LeaderIsNotChecked,
    /// A repair is written after the write that needs it.
    RepairComesLater,
    /// A step is made although writers may still work by the phase before.
    DoesNotSettle,
    /// The transactions of a worker have no fence.
    NoFence,
    /// The strict phases are entered although repairs are due.
    RepairsAreIgnored,
}

/// A shop that migrates.
#[derive(Clone, Debug)]
pub struct House {
    pub name: &'static str,
    /// How many writes there are, at most.
    writes: u8,
    /// How many steps the operator makes back, at most.
    backs: u8,
    /// How often a worker is killed or falls asleep, at most.
    kills: u8,
    /// How often the item expires, at most.
    expiries: u8,
    bug: Option<Bug>,
}

/// Both tables, and everybody who works on them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The items of both tables: the keys of the next one have another layout.
    table: Table,
    phase: Phase,
    /// The phase by which writers may still work.
    before: Option<Phase>,
    version: u64,
    /// The item as the shop was told that it is.
    truth: Option<u8>,
    writers: [Writer; 2],
    run: Option<Run>,
    copier: Copier,
    /// A worker that fell asleep before it sent its transaction.
    asleep: Option<Copier>,
    repairer: Option<(Side, RepairId, Seen)>,
    repairs: Vec<(Side, RepairId)>,
    numbers: u8,
    /// The number of transactions that are done: the mark of the next copy.
    marks: u8,
    writes: u8,
    backs: u8,
    kills: u8,
    expiries: u8,
    /// How often a table still deletes an expired item, at most.
    sweeps: u8,
    /// The time, in seconds: an item expires one second after its number.
    second: u8,
    /// Whether a copy was replaced, for the properties.
    replaced: bool,
    /// Whether one table was written alone since the last copy, so that a comparison has something to find.
    was_alone: bool,
}

type RepairId = u8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    number: u64,
    task: CopyTask,
    version: u64,
    leader: Side,
    is_done: bool,
    differences: u64,
}

/// A writer, between its steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Writer {
    Idle,
    /// Works by this phase, and has read this item in the table that leads in it.
    Read {
        phase: Phase,
        item: Option<Stored>,
    },
    /// Only the copy stood in the way.
    Apart {
        phase: Phase,
        item: Option<Stored>,
    },
    /// It wrote the leading table, and its repair is still to come.
    Owes {
        phase: Phase,
    },
}

/// The worker of the run, between its steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Copier {
    Idle,
    /// It scanned the leading table.
    Scanned(u64, Side, Option<Stored>),
    Read(u64, Side, Seen),
    Equal(u64),
}

/// A pair as a worker read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    first: Option<Stored>,
    next: Option<Stored>,
}

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A writer reads by the phase, or by the phase before.
    Begin(usize, Phase),
    /// A writer creates, changes or deletes the item.
    Write(usize, bool),
    /// A writer pays the repair that it owes.
    Pay(usize),
    Copier,
    /// The worker is killed, or sleeps and is replaced by another one.
    Sleep,
    Wake,
    Repairer(usize),
    StartRun(CopyTask),
    Settle,
    Step(Phase),
    /// The time of the item is over.
    Expire,
    /// A table deletes the expired item, at a time of its own.
    Sweep(Side),
}

impl Model for House {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        // What an earlier migration left in the next table.
        vec![State::begin(self, Some(9))]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.list(self.bug, actions);
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        state.apply(action, self.bug);
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ANSWERS, |_, state: &State| state.answers()),
            Property::always(IN_STEP, |_, state: &State| state.is_in_step()),
            Property::always(ONE_LEADER, |_, state: &State| state.has_one_leader()),
            Property::sometimes("the next table is alone", |_, state: &State| state.phase == Phase::Next),
            Property::sometimes("a stale copy is replaced", |_, state: &State| state.replaced),
            Property::sometimes("a repair is due in the next table", |_, state: &State| {
                state.repairs.iter().any(|(side, _)| *side == Side::Next)
            }),
            Property::sometimes("a worker sleeps while the lead changes", |_, state: &State| {
                state.asleep.is_some() && state.phase.leader() == Side::Next
            }),
        ]
    }
}

const ANSWERS: &str = "whoever reads by a phase finds what the shop was last told that it wrote";
const IN_STEP: &str = "after a run, an item and its copy are equal, or a repair is due, or one has expired and is gone";
const ONE_LEADER: &str = "if functions work by different leaders, both keep the tables strictly equal";

fn small_house(name: &'static str) -> House {
    House { name, writes: 2, backs: 0, kills: 1, expiries: 0, bug: None }
}

/// Models that `cargo test` explores.
pub fn small() -> Vec<House> {
    vec![
        small_house("a migration"),
        House { writes: 1, expiries: 1, ..small_house("a migration of an item that expires") },
    ]
}

pub fn large() -> Vec<House> {
    vec![
        House { backs: 1, ..small_house("a migration there and back") },
        House { writes: 3, ..small_house("a migration with more writes") },
        House { backs: 1, expiries: 1, ..small_house("a migration there and back of an item that expires") },
    ]
}
