//! The items of a migration, and what holds in every state.

use super::{
    AttributeValue, COPIED, Condition, Copier, CopyProgress, CopyTask, Duration, EXPIRES_AT, Facts, House, Index, Item,
    ItemKey, Key, Migration, Pair, Phase, Place, Plan, Repair, RepairId, Run, Seen, Side, State, Stored, Table,
    Timestamp, Transaction, Write, Writer, in_table, is_different, plan,
};

/// The time at which every step has settled.
const NOW: i64 = 100_000;

const SETTLE: Duration = Duration::from_secs(40);

impl State {
    /// The first table has the item, and the next one has nothing or a stale copy.
    pub(super) fn begin(house: &House, stale: Option<u8>) -> Self {
        let mut begun = Self {
            table: Table::default(),
            phase: Phase::First,
            before: None,
            version: 0,
            truth: Some(0),
            writers: [Writer::Idle, Writer::Idle],
            run: None,
            copier: Copier::Idle,
            asleep: None,
            repairer: None,
            repairs: Vec::new(),
            numbers: 0,
            marks: 0,
            writes: house.writes,
            backs: house.backs,
            kills: house.kills,
            expiries: house.expiries,
            sweeps: 2 * house.expiries,
            second: 0,
            replaced: false,
            was_alone: true,
        };
        begun.put(vec![(Side::First, Write::put_item(item(0), Condition::absent()))]);
        if let Some(number) = stale {
            begun.put(vec![(Side::Next, Write::put_item(item(number), Condition::absent()))]);
        }
        begun
    }

    /// Commits writes that cannot fail.
    pub(super) fn put(&mut self, writes: Vec<(Side, Write)>) {
        assert!(self.commit(writes), "a write without a condition failed");
    }

    /// Whether all writes are done, or none.
    pub(super) fn commit(&mut self, writes: Vec<(Side, Write)>) -> bool {
        let is_done = self.table.commit(&Transaction::over(writes)).is_ok();
        self.marks += u8::from(is_done);
        is_done
    }

    pub(super) fn item_in(&self, side: Side) -> Option<Stored> {
        self.table.get(&in_table(side, &place())).cloned()
    }

    pub(super) fn seen(&self) -> Seen {
        Seen { first: self.item_in(Side::First), next: self.item_in(Side::Next) }
    }

    /// A mark that no copy has.
    pub(super) fn mark(&self) -> u64 {
        self.marks.into()
    }

    /// What each reader finds. A reader works by the phase, or for some time by the phase before.
    pub(super) fn answers(&self) -> bool {
        let mut phases = [Some(self.phase), self.before].into_iter().flatten();
        let lasting = |number: Option<u8>| number.filter(|number| self.lasts(*number));
        let found = |side| self.item_in(side).map(|item| number_of(&item.0));
        phases.all(|phase| lasting(found(phase.leader())) == lasting(self.truth))
    }

    /// Whether the item with this number has not expired: readers take an expired one for none.
    pub(super) fn lasts(&self, number: u8) -> bool {
        number >= self.second
    }

    /// Whether writers in the middle of their work, and readers, agree on the table that leads, or are all strict.
    pub(super) fn has_one_leader(&self) -> bool {
        let working = self.writers.iter().filter_map(|writer| match writer {
            Writer::Idle => None,
            Writer::Read { phase, .. } | Writer::Apart { phase, .. } | Writer::Owes { phase } => Some(*phase),
        });
        let phases: Vec<_> = [Some(self.phase), self.before].into_iter().flatten().chain(working).collect();
        let agree = phases.iter().all(|phase| phase.leader() == self.phase.leader());
        agree || phases.iter().all(|phase| phase.is_strict())
    }

    /// Whether the pair is equal or a repair is due, once a run in this phase is done. After a step back from the last phase
    /// a comparison finds what the last phase did not write; then the operator copies.
    pub(super) fn is_in_step(&self) -> bool {
        let may_differ = |run: &Run| run.task == CopyTask::Compare && run.differences > 0 && self.was_alone;
        let is_of_phase = |run: &&Run| run.is_done && run.version == self.version;
        let is_copied = self.run.as_ref().filter(is_of_phase).is_some_and(|run| !may_differ(run));
        !is_copied || !self.is_different() || !self.repairs.is_empty()
    }

    pub(super) fn is_different(&self) -> bool {
        is_different(&self.seen().pair(), moment(1000 * i64::from(self.second)))
    }

    pub(super) fn is_equal(&self) -> bool {
        plan::plan(&self.seen().pair(), Side::First) == Plan::Equal
    }

    /// What the operator knows.
    pub(super) fn facts(&self) -> Facts {
        let since = if self.before.is_some() { NOW } else { 0 };
        let migration = Migration { phase: self.phase, version: self.version, since: moment(since) };
        let due = |side| self.repairs.iter().filter(|(other, _)| *other == side).count();
        Facts {
            migration: (self.version > 0).then_some(migration),
            segments: self.run.iter().map(Run::progress).collect(),
            repairs_in_first: due(Side::First),
            repairs_in_next: due(Side::Next),
        }
    }

    pub(super) fn may_run(&self, task: CopyTask) -> bool {
        self.facts().obstacles_to_run(task, moment(NOW), SETTLE).is_empty()
    }
}

impl Run {
    /// The progress of the only segment.
    pub(super) fn progress(&self) -> CopyProgress {
        CopyProgress {
            segment: 0,
            segments: 1,
            run: self.number,
            task: self.task,
            migration_version: self.version,
            leader: self.leader,
            scanned: self.leader,
            last: None,
            pages: 0,
            is_done: self.is_done,
            items: 0,
            copied: 0,
            differences: self.differences,
            differing: Vec::new(),
            sums: std::collections::BTreeMap::new(),
            started_at: moment(0),
            updated_at: moment(0),
        }
    }
}

impl Seen {
    pub(super) fn pair(&self) -> Pair {
        let item = |stored: &Option<Stored>| stored.as_ref().map(|stored| canonical(&stored.0));
        Pair { key: key(), first: item(&self.first), next: item(&self.next) }
    }
}

pub(super) fn key() -> Key {
    Key { index: Index::Table, partition: "d#X".to_owned(), sort: "d#X".to_owned() }
}

fn place() -> Place {
    key().into()
}

/// The item with this number, with canonical keys.
pub(super) fn item(number: u8) -> Item {
    let (partition, sort) = Index::Table.attributes();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let expires = AttributeValue::N((u64::from(number) + 1).to_string());
    [(partition, text("d#X")), (sort, text("d#X")), ("n", AttributeValue::N(number.to_string())), (EXPIRES_AT, expires)]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

fn canonical(stored: &Item) -> Item {
    let mut item = item(number_of(stored));
    item.extend(stored.get(COPIED).map(|mark| (COPIED.to_owned(), mark.clone())));
    item
}

pub(super) fn number_of(item: &Item) -> u8 {
    item["n"].as_n().ok().and_then(|number| number.parse().ok()).expect("a number")
}

pub(super) fn repair(id: RepairId) -> Repair {
    let repair_id = format!("r{id}").parse().expect("an id");
    Repair { repair_id, shard: 0, since: moment(0), keys: vec![ItemKey::from(key())] }
}

fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a moment")
}

/// Whether nothing keeps a migration of which this is known from going to this phase.
pub(super) fn may_step(to: Phase, facts: &Facts) -> bool {
    facts.obstacles(to, moment(NOW), SETTLE, true).is_empty()
}
