//! The events of a migration.

use super::scene::{item, key, may_step, number_of, repair};
use super::*;

impl State {
    pub(super) fn list(&self, bug: Option<Bug>, actions: &mut Vec<Action>) {
        for (at, writer) in self.writers.iter().enumerate() {
            match writer {
                Writer::Idle if self.writes > 0 => {
                    actions.extend(
                        [Some(self.phase), self.before].into_iter().flatten().map(|phase| Action::Begin(at, phase)),
                    );
                }
                Writer::Idle => {}
                Writer::Read { .. } | Writer::Apart { .. } => {
                    actions.extend([true, false].map(|deletes| Action::Write(at, deletes)));
                }
                Writer::Owes { .. } => actions.push(Action::Pay(at)),
            }
        }
        if self.run.as_ref().is_some_and(|run| !run.is_done) {
            actions.push(Action::Copier);
        }
        if self.kills > 0 && self.copier != Copier::Idle {
            actions.push(Action::Sleep);
        }
        if self.asleep.is_some() {
            actions.push(Action::Wake);
        }
        match self.repairer {
            Some(_) => actions.push(Action::Repairer(0)),
            None => actions.extend((0..self.repairs.len()).map(Action::Repairer)),
        }
        if self.expiries > 0 && self.truth.is_some_and(|number| self.lasts(number)) {
            actions.push(Action::Expire);
        }
        let is_over = |side| self.sweeps > 0 && self.item_in(side).is_some_and(|item| !self.lasts(number_of(&item.0)));
        actions.extend([Side::First, Side::Next].into_iter().filter(|side| is_over(*side)).map(Action::Sweep));
        actions.extend(self.next_run().filter(|task| self.may_run(*task)).map(Action::StartRun));
        // A repair takes less time than a step takes to settle.
        if self.before.is_some() && !self.works_by(self.before) && self.repairer.is_none() {
            actions.push(Action::Settle);
        }
        let mut facts = self.facts();
        if bug == Some(Bug::DoesNotSettle) {
            facts.migration.iter_mut().for_each(|migration| migration.since = Timestamp::EPOCH);
        }
        if bug == Some(Bug::RepairsAreIgnored) {
            (facts.repairs_in_first, facts.repairs_in_next) = (0, 0);
        }
        let back = self.phase.back().filter(|_| self.backs > 0);
        let steps = [self.phase.forwards(), back].into_iter().flatten();
        actions.extend(steps.filter(|to| may_step(*to, &facts)).map(Action::Step));
    }

    /// The run that the operator starts next in this phase, if one is missing: a copy, and then comparisons, with a copy
    /// after each that found a difference.
    fn next_run(&self) -> Option<CopyTask> {
        match self.run.as_ref().filter(|run| run.version == self.version) {
            None if self.phase == Phase::Both => Some(CopyTask::Copy),
            Some(run) if !run.is_done || self.phase == Phase::Both => None,
            None | Some(Run { task: CopyTask::Copy, .. }) => Some(CopyTask::Compare),
            Some(run) => (run.differences > 0).then_some(CopyTask::Copy),
        }
    }

    fn works_by(&self, wanted: Option<Phase>) -> bool {
        self.writers.iter().any(|writer| match writer {
            Writer::Idle => false,
            Writer::Read { phase, .. } | Writer::Apart { phase, .. } | Writer::Owes { phase } => Some(*phase) == wanted,
        })
    }

    pub(super) fn apply(&mut self, action: Action, bug: Option<Bug>) {
        match action {
            Action::Begin(at, phase) => {
                self.writes -= 1;
                self.writers[at] = Writer::Read { phase, item: self.item_in(phase.leader()) };
            }
            Action::Write(at, deletes) => self.write(at, deletes, bug),
            Action::Pay(at) => {
                let Writer::Owes { phase } = self.writers[at].clone() else { return };
                let (side, write) = self.new_repair(phase.leader());
                self.put(vec![(side, write)]);
                self.writers[at] = Writer::Idle;
            }
            Action::Copier => {
                let copier = self.copier.clone();
                self.copier = self.copy(copier, bug);
            }
            Action::Sleep => {
                self.kills -= 1;
                self.asleep = Some(std::mem::replace(&mut self.copier, Copier::Idle));
            }
            Action::Wake => {
                // Its transaction is all that it still does here: the rest of its work is anybody's.
                let Some(copier) = self.asleep.take() else { return };
                if matches!(copier, Copier::Scanned(..) | Copier::Read(..)) {
                    self.copy(copier, bug);
                }
            }
            Action::Repairer(at) => self.repair(at, bug),
            Action::StartRun(task) => self.start_run(task),
            Action::Settle => self.before = None,
            Action::Step(to) => {
                let was_back = to < self.phase;
                self.backs -= u8::from(was_back);
                self.before = Some(self.phase);
                (self.phase, self.version) = (to, self.version + 1);
                self.was_alone |= !to.writes_both();
            }
            Action::Expire => {
                self.expiries -= 1;
                self.second = self.truth.map_or(self.second, |number| number + 1);
            }
            Action::Sweep(side) => {
                self.sweeps -= 1;
                self.put(vec![(side, Write::delete(key()))]);
            }
        }
    }

    /// One transaction of a writer: over both tables, or over the leading one and a repair.
    fn write(&mut self, at: usize, deletes: bool, bug: Option<Bug>) {
        let (phase, read, is_apart) = match self.writers[at].clone() {
            Writer::Read { phase, item } => (phase, item, false),
            Writer::Apart { phase, item } => (phase, item, true),
            _ => return,
        };
        let (leader, other) = (phase.leader(), phase.leader().other());
        let number = self.numbers + 1;
        let condition = || match &read {
            None => Condition::absent(),
            Some(item) => Condition::new("#n = :n").value(":n", number_of(&item.0)).expect("a value"),
        };
        if deletes && read.is_none() {
            self.writers[at] = Writer::Idle;
            return;
        }
        let mark = self.mark();
        let write = |side: Side| {
            let mut new = item(number);
            if side == other {
                new.insert(COPIED.to_owned(), AttributeValue::S(mark.to_string()));
            }
            let write = if deletes { Write::delete_if(key(), condition()) } else { Write::put_item(new, condition()) };
            (side, write)
        };
        let done = if !phase.writes_both() {
            self.commit(vec![write(leader)])
        } else if !is_apart {
            let both = self.commit(vec![write(leader), write(other)]);
            let would_lead = self.clone().commit(vec![write(leader)]);
            if !both && would_lead && !phase.is_strict() {
                self.writers[at] = Writer::Apart { phase, item: read };
                return;
            }
            both
        } else if bug == Some(Bug::RepairComesLater) {
            let done = self.commit(vec![write(leader)]);
            if done {
                self.told(deletes, number);
                self.writers[at] = Writer::Owes { phase };
                return;
            }
            done
        } else {
            let (repairs, before) = (self.repairs.clone(), self.table.clone());
            let repair = self.new_repair(leader);
            let done = self.commit(vec![write(leader), repair]);
            if !done {
                (self.repairs, self.table) = (repairs, before);
            }
            done
        };
        if done {
            self.told(deletes, number);
        }
        self.writers[at] = Writer::Idle;
    }

    fn told(&mut self, deletes: bool, number: u8) {
        self.numbers = number;
        self.truth = (!deletes).then_some(number);
    }

    fn new_repair(&mut self, side: Side) -> (Side, Write) {
        let id = self.repairs.iter().map(|(_, id)| id + 1).max().unwrap_or(0);
        self.repairs.push((side, id));
        (side, Write::put_item(write_item(&repair(id)).expect("an item"), Condition::absent()))
    }

    fn start_run(&mut self, task: CopyTask) {
        let number = self.run.as_ref().map_or(1, |run| run.number + 1);
        let leader = self.phase.leader();
        let mut run = Run { number, task, version: self.version, leader, is_done: false, differences: 0 };
        if task == CopyTask::Compare {
            // One snapshot read of the only pair.
            run.is_done = true;
            run.differences = u64::from(self.is_different() && self.repairs.is_empty());
        }
        self.copier = Copier::Idle;
        self.save(&run);
        self.run = Some(run);
    }

    fn save(&mut self, run: &Run) {
        self.put(vec![(Side::First, Write::put(&run.progress()).expect("an item"))]);
    }

    /// One step of the worker.
    fn copy(&mut self, copier: Copier, bug: Option<Bug>) -> Copier {
        let Some(run) = self.run.clone() else { return Copier::Idle };
        match copier {
            Copier::Idle => Copier::Scanned(run.number, run.leader, self.item_in(run.leader)),
            Copier::Scanned(number, leader, Some(scanned)) => {
                let mark = self.mark();
                let scanned = item(number_of(&scanned.0));
                let mut writes = plan::put_absent(key(), &scanned, leader, mark).to_vec();
                if bug == Some(Bug::LeaderIsNotChecked) {
                    writes.remove(0);
                }
                let is_put = self.commit(self.fenced(number, writes, bug));
                if is_put || bug == Some(Bug::PutsOnly) {
                    Copier::Equal(number)
                } else {
                    Copier::Read(number, leader, self.seen())
                }
            }
            Copier::Scanned(number, leader, None) => Copier::Read(number, leader, self.seen()),
            Copier::Read(number, leader, seen) => {
                let mark = self.mark();
                let pair = seen.pair();
                let plan = plan::plan(&pair, leader);
                if plan == Plan::Equal {
                    return Copier::Equal(number);
                }
                let writes = plan::writes(&pair, leader, mark);
                if self.commit(self.fenced(number, writes, bug)) {
                    self.replaced |= plan == Plan::Replace;
                }
                Copier::Read(number, leader, self.seen())
            }
            Copier::Equal(number) => {
                let done = Run { is_done: true, ..run };
                if done.number == number {
                    self.was_alone = false;
                    self.save(&done);
                    self.run = Some(done);
                }
                Copier::Idle
            }
        }
    }

    /// The transaction of a worker of this run, with its fence.
    fn fenced(&self, number: u64, writes: Vec<(Side, Write)>, bug: Option<Bug>) -> Vec<(Side, Write)> {
        let Some(run) = &self.run else { return writes };
        let own = Run { number, ..run.clone() };
        let fence = fence(&own.progress()).expect("a check");
        std::iter::once(fence).filter(|_| bug != Some(Bug::NoFence)).chain(writes).collect()
    }

    /// One step of the worker that carries out repairs: a read, or a transaction and the end of the repair.
    fn repair(&mut self, at: usize, bug: Option<Bug>) {
        let Some((side, id, seen)) = self.repairer.take() else {
            let (side, id) = self.repairs[at];
            self.repairer = Some((side, id, self.seen()));
            return;
        };
        let mark = self.mark();
        let writes = plan::writes(&seen.pair(), side, mark);
        if !writes.is_empty() {
            let fence = Some(repair_fence(side, &repair(id))).filter(|_| bug != Some(Bug::NoFence));
            // A deletion takes two transactions.
            let is_done = self.commit(fence.into_iter().chain(writes).collect()) && self.is_equal();
            if !is_done {
                if self.repairs.contains(&(side, id)) {
                    self.repairer = Some((side, id, self.seen()));
                }
                return;
            }
        }
        self.repairs.retain(|due| *due != (side, id));
        self.put(vec![(side, Write::delete(repair(id).key()))]);
    }
}
