//! Comparing the two tables by access pattern: both are asked the same questions, and their answers are compared.
//!
//! The comparison of pairs says that an item and its copy are equal. This one says that both tables answer alike: that
//! the indexes of the other table are complete, that a list has the same order there, and that a walk may stop in one
//! table and go on in the other one.
//!
//! Two reads see different moments, and an index follows its table some time later. So an answer counts as different
//! only if further reads, with growing pauses, find the same items different again, and no repair is due for them.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use key_schema::entity::{ItemKey, Side};
use key_schema::layout::{self, Declaration, Direction, Index, Key, PATTERNS, Question};
use key_schema::value::Timestamp;
use table::{Answered, AttributeValue, Budget, Item, Segment, read_item};
use tracing::warn;

use crate::item::{is_copied, is_expired, kind};
use crate::sums::digest;
use crate::{Copier, Error};

/// The number of items in one page of the scan that leads to the questions.
const SCANNED: u16 = 200;

/// The number of items in one page of a list that is walked to its end.
const WHOLE: u8 = 100;

/// The number of items in one page of a sampled list, and the number of pages. The second page begins at a cursor.
const SAMPLED: (u8, usize) = (10, 2);

/// The time limit of one question.
const ONE_QUESTION: Duration = Duration::from_secs(15);

/// The pauses before an answer is read again. Most writes reach the indexes in a fraction of a second.
const PAUSES: [Duration; 3] = [Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(2)];

/// The number of differing answers after which a pattern is not asked any more, and the most keys that are kept of it.
pub const MOST_DIFFERING: u64 = 20;

/// The questions of a comparison.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Every question to which an item leads, each list to its end.
    All,
    /// The questions of about this many items of each kind, chosen at random, and two pages of each list.
    Sample {
        /// The number of items of each kind.
        of_each: u64,
        /// The number of items of each kind that there are.
        counts: BTreeMap<String, u64>,
    },
}

/// The answers to one access pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// The number of questions that were asked.
    pub asked: u64,
    /// The number of questions that both tables answered alike.
    pub equal: u64,
    /// The number of questions that they answered differently. After [`MOST_DIFFERING`] the pattern is not asked any more.
    pub differing: u64,
    /// The canonical keys of the first items in which answers differ.
    pub keys: Vec<ItemKey>,
}

/// The answers of a comparison by access pattern. A clone shares them.
#[derive(Clone, Debug)]
pub struct Comparison {
    choice: Arc<Choice>,
    hasher: RandomState,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The digests of the questions that were asked: many items lead to the same list.
    asked: HashSet<u64>,
    /// By the pattern's question.
    answers: BTreeMap<&'static str, Answers>,
    scanned: u64,
}

impl Comparison {
    /// A comparison that has not begun.
    pub fn new(choice: Choice) -> Self {
        Self { choice: Arc::new(choice), hasher: RandomState::new(), shared: Arc::default() }
    }

    /// The answers so far: every pattern that was asked, in the order of their numbers.
    pub fn answers(&self) -> Vec<(&'static Declaration, Answers)> {
        let shared = self.shared();
        let found = |declared: &Declaration| shared.answers.get(declared.question).cloned();
        PATTERNS.iter().filter_map(|declared| Some((declared, found(declared)?))).collect()
    }

    /// The number of items that the scans have read so far, and the number of questions that were asked.
    pub fn progress(&self) -> (u64, u64) {
        let shared = self.shared();
        (shared.scanned, shared.answers.values().map(|answers| answers.asked).sum())
    }

    fn is_chosen(&self, item: &Item) -> bool {
        match &*self.choice {
            Choice::All => true,
            Choice::Sample { of_each, counts } => {
                // A kind that was not counted is new, and so rare.
                counts.get(kind(item)).is_none_or(|count| fastrand::u64(0..(*count).max(1)) < *of_each)
            }
        }
    }

    /// Whether this question is to be asked: nobody has asked it, and its pattern did not differ too often. Each
    /// question of a sample is about another part of a list.
    fn is_open(&self, question: &Question) -> bool {
        let name = question.declared.question;
        let mut shared = self.shared();
        if shared.answers.get(name).is_some_and(|answers| answers.differing >= MOST_DIFFERING) {
            return false;
        }
        shared.asked.insert(self.hasher.hash_one((name, &question.reads)))
    }

    fn record(&self, question: &Question, differing: Vec<ItemKey>) {
        let mut shared = self.shared();
        let answers = shared.answers.entry(question.declared.question).or_default();
        answers.asked += 1;
        if differing.is_empty() {
            answers.equal += 1;
        } else {
            answers.differing += 1;
            let most = usize::try_from(MOST_DIFFERING).unwrap_or(usize::MAX);
            let new: Vec<_> = differing.into_iter().filter(|key| !answers.keys.contains(key)).collect();
            answers.keys.extend(new);
            answers.keys.truncate(most);
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // No code panics while it changes the answers, so a poisoned lock holds valid ones.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Copier {
    /// Asks the questions to which the items of this segment of both tables lead. `each` is called after each page.
    pub async fn compare_patterns(
        &mut self,
        comparison: &Comparison,
        segment: Segment,
        leader: Side,
        each: impl Fn(),
    ) -> Result<(), Error> {
        for side in [leader, leader.other()] {
            let mut last = None;
            loop {
                let page = self.pairs.scan(side, segment, last.as_ref(), SCANNED).await?;
                self.pay().await;
                comparison.shared().scanned += page.items.len() as u64;
                for (key, item) in page.items.into_iter().filter(|(_, item)| is_copied(item)) {
                    if comparison.is_chosen(&item) {
                        // In a box, because it is large and rarely needed.
                        Box::pin(self.ask_about(comparison, leader, &key, item)).await?;
                    }
                }
                each();
                last = page.last;
                if last.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Asks the questions to which an item leads.
    async fn ask_about(&mut self, comparison: &Comparison, leader: Side, key: &Key, item: Item) -> Result<(), Error> {
        let positions = [Index::Table, Index::Gsi1, Index::Gsi2].map(|index| position(&item, index));
        let questions = match read_item::<layout::Item>(item) {
            Ok(item) => item.questions(),
            Err(error) => {
                warn!(
                    partition = key.partition,
                    sort = key.sort,
                    cause = lambda::chain(&error),
                    "an item is unreadable"
                );
                return Ok(());
            }
        };
        let is_sample = matches!(&*comparison.choice, Choice::Sample { .. });
        for question in questions {
            let question = match &positions[question.declared.place.index as usize] {
                Some(position) if is_sample && question.is_list() => question.from(position).unwrap_or(question),
                _ => question,
            };
            if comparison.is_open(&question) {
                let pages = if is_sample { SAMPLED } else { (WHOLE, usize::MAX) };
                let differing = self.compare_answers(&question, leader, pages).await?;
                comparison.record(&question, differing);
            }
        }
        Ok(())
    }

    /// The keys of the items in which the answers of the two tables differ.
    async fn compare_answers(
        &mut self,
        question: &Question,
        leader: Side,
        (limit, pages): (u8, usize),
    ) -> Result<Vec<ItemKey>, Error> {
        let (mut question, mut differing) = (question.clone(), Vec::new());
        for _ in 0..pages {
            let limit = question.is_list().then_some(limit);
            let Some(position) = self.compare_page(&question, limit, leader, &mut differing).await? else { break };
            let Some(rest) = question.after(&position) else { break };
            question = rest;
        }
        Ok(differing)
    }

    /// Adds the keys of the items in which one page differs. Returns the position at which the next page begins.
    async fn compare_page(
        &mut self,
        question: &Question,
        limit: Option<u8>,
        leader: Side,
        differing: &mut Vec<ItemKey>,
    ) -> Result<Option<String>, Error> {
        let (mut differences, position) = self.read_both(question, limit, leader).await?;
        for pause in PAUSES {
            if differences.is_empty() {
                break;
            }
            tokio::time::sleep(pause).await;
            let (again, _) = self.read_both(question, limit, leader).await?;
            differences.retain(|place, difference| again.get(place) == Some(difference));
        }
        if !differences.is_empty() {
            let due = self.due().await?;
            let keys = differences.into_keys().map(|(partition, sort)| ItemKey { partition, sort });
            differing.extend(keys.filter(|key| !due.contains(key)));
        }
        Ok(position)
    }

    async fn read_both(
        &mut self,
        question: &Question,
        limit: Option<u8>,
        leader: Side,
    ) -> Result<(Differences, Option<String>), Error> {
        let (ours, theirs) =
            tokio::try_join!(self.answer(leader, question, limit), self.answer(leader.other(), question, limit))?;
        self.pay().await;
        let position = first_of(question, &ours, &theirs).map(str::to_owned);
        Ok((differences(question, &ours, &theirs, Timestamp::now()), position))
    }

    /// One page of a list, or all items of another answer.
    async fn answer(&self, side: Side, question: &Question, limit: Option<u8>) -> Result<Answered, Error> {
        let budget = Budget::of(ONE_QUESTION);
        let mut answer = self.pairs.ask(side, question, limit, budget).await?;
        if question.is_list() {
            return Ok(answer);
        }
        while let Some(rest) = answer.position.take().and_then(|position| question.after(&position)) {
            let more = self.pairs.ask(side, &rest, None, budget).await?;
            answer.items.extend(more.items);
            answer.position = more.position;
        }
        Ok(answer)
    }
}

/// The differences between two answers, by the canonical keys of the items.
type Differences = BTreeMap<Place, [Option<Entry>; 2]>;

/// A canonical partition key and sort key of the table.
type Place = (String, String);

/// An item as an answer shows it: its position in the list, its content, and whether the list is out of order at the
/// item. Its keys are not a part of the content: an answer shows them by its items and their order. So an item with a
/// wrong key in one index is found by the patterns of that index, and by no others.
type Entry = (String, [u8; 32], bool);

/// The position up to which both answers go: a page with a limit ends earlier in the table that has more items.
fn first_of<'a>(question: &Question, ours: &'a Answered, theirs: &'a Answered) -> Option<&'a str> {
    let positions = [ours, theirs].into_iter().filter_map(|answer| answer.position.as_deref());
    match question.declared.direction {
        Direction::Ascending => positions.min(),
        Direction::Descending => positions.max(),
    }
}

fn differences(question: &Question, ours: &Answered, theirs: &Answered, now: Timestamp) -> Differences {
    let end = first_of(question, ours, theirs);
    // The same items and another position would let a walk lose or repeat items.
    let cursors_differ =
        question.is_list() && ours.position != theirs.position && keys(&ours.items) == keys(&theirs.items);
    let last = ours.items.last().and_then(place).filter(|_| cursors_differ);
    let [ours, mut theirs] = [ours, theirs].map(|answer| entries(question, &answer.items, end, now));
    let mut differences = Differences::new();
    for (place, entry) in ours {
        let other = theirs.remove(&place);
        if other.as_ref() != Some(&entry) || last.as_ref() == Some(&place) {
            differences.insert(place, [Some(entry), other]);
        }
    }
    differences.extend(theirs.into_iter().map(|(place, entry)| (place, [None, Some(entry)])));
    differences
}

/// The items up to a position, by their canonical keys, without those that have expired: each table deletes such items
/// at a time of its own.
fn entries(question: &Question, items: &[Item], end: Option<&str>, now: Timestamp) -> BTreeMap<Place, Entry> {
    let (is_list, direction) = (question.is_list(), question.declared.direction);
    let is_behind = |one: &str, other: &str| match direction {
        Direction::Ascending => one > other,
        Direction::Descending => one < other,
    };
    let (mut entries, mut before) = (BTreeMap::new(), String::new());
    for item in items.iter().filter(|item| !is_expired(item, now)) {
        let position = if is_list { position(item, question.declared.place.index) } else { None };
        let position = position.unwrap_or_default();
        if end.is_some_and(|end| is_behind(&position, end)) {
            continue;
        }
        let is_out_of_order = !before.is_empty() && is_behind(&before, &position);
        before.clone_from(&position);
        if let Some(place) = place(item) {
            entries.insert(place, (position, content(item), is_out_of_order));
        }
    }
    entries
}

/// The digest of an item without its keys.
fn content(item: &Item) -> [u8; 32] {
    let mut item = item.clone();
    for index in [Index::Table, Index::Gsi1, Index::Gsi2] {
        let (partition, sort) = index.attributes();
        item.remove(partition);
        item.remove(sort);
    }
    digest(&item)
}

fn keys(items: &[Item]) -> Vec<Option<Place>> {
    items.iter().map(place).collect()
}

/// The key of an item in the table.
fn place(item: &Item) -> Option<Place> {
    let (partition, sort) = Index::Table.attributes();
    Some((text(item, partition)?, text(item, sort)?))
}

fn position(item: &Item, index: Index) -> Option<String> {
    text(item, index.attributes().1)
}

fn text(item: &Item, name: &str) -> Option<String> {
    match item.get(name) {
        Some(AttributeValue::S(text)) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
