//! A count of what happened, for a reader who asks whether the schedules did anything.

use std::fmt;

use crate::prelude::*;

/// What happened in some schedules.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub(super) schedules: u64,
    pub(super) faults: usize,
    pub(super) killed: usize,
    /// The number of steps, by their names and the status of the answer.
    pub(super) steps: BTreeMap<(String, u16), u64>,
    /// The number of orders, by the order's and the payment's status in the end.
    pub(super) ends: BTreeMap<String, u64>,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.schedules += other.schedules;
        self.faults += other.faults;
        self.killed += other.killed;
        for (step, times) in &other.steps {
            *self.steps.entry(step.clone()).or_default() += times;
        }
        for (end, times) in &other.ends {
            *self.ends.entry(end.clone()).or_default() += times;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedules, faults, killed, steps, ends } = self;
        writeln!(f, "{schedules} schedules, {faults} faults on the wires, {killed} invocations killed")?;
        for ((step, status), times) in steps {
            writeln!(f, "{times:6} {step} {status}")?;
        }
        ends.iter().try_for_each(|(end, times)| writeln!(f, "{times:6} orders end {end}"))
    }
}
