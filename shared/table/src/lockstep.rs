//! Writing the two tables of a migration in step.
//!
//! One transaction writes each item in both tables, under the same conditions, except for items that differ already. So an
//! item and its copy are equal at every moment, or a repair of the two is due. The table that leads decides: its conditions
//! make the outcome.
//!
//! This module has no I/O. [`Lockstep`] says which transaction to send next, and is told how it was cancelled.

#[cfg(test)]
mod tests;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use key_schema::entity::{ItemKey, Repair};
use key_schema::layout::{COPIED, Index, Key, MOST_ACTIONS};
use key_schema::value::Timestamp;

use crate::home::Home;
use crate::migration::Homes;
use crate::write::Act;
use crate::{Cause, Error, Throttle, Write};

/// The writes of one transaction, and what is known of their items in both tables.
#[derive(Debug)]
pub(crate) struct Lockstep {
    writes: Vec<Write>,
    /// For each write, whether the item that an update changes exists. An update of an item that only one of the tables
    /// has would create a part of the item in the other one.
    assumed: Vec<Existence>,
    /// For each write, whether its item is known to differ from the copy. Then a repair names the item.
    is_apart: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existence {
    Present,
    Absent,
}

#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) actions: Vec<TransactWriteItem>,
    /// The number of actions, from the first one, that are the caller's writes in the leading table.
    pub(crate) leading: usize,
    /// For each of these writes, whether it is also done in the other table.
    is_mirrored: Vec<bool>,
}

/// The meaning of a cancelled transaction.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The conditions in the leading table failed: one cause for each write.
    Cancelled(Vec<Cause>),
    /// The next transaction differs from this one.
    Again,
    /// Items differ from their copies, and only the copies stood in the way.
    Apart,
}

impl Lockstep {
    pub(crate) fn new(writes: Vec<Write>) -> Self {
        let (assumed, is_apart) = (vec![Existence::Present; writes.len()], vec![false; writes.len()]);
        Self { writes, assumed, is_apart }
    }

    /// The next transaction. `token` is random, and marks the copies.
    ///
    /// All writes are done in the leading table. Those whose items are not known to differ are done in the other one as
    /// well, so a difference does not spread to the other items of a transaction. A repair names the rest. If there is no
    /// room for both tables, it names all of them.
    ///
    /// # Errors
    /// [`Throttle::Handover`] if the phase is strict and there are too many writes for both tables.
    pub(crate) fn transaction(&self, homes: &Homes<'_>, token: &str) -> Result<Transaction, Error> {
        let leading = self.writes.len();
        let Some(follower) = homes.follower else {
            let actions = self.writes.iter().map(|write| action(write, homes.leader, None, None));
            return Ok(Transaction { actions: actions.collect::<Result<_, _>>()?, leading, is_mirrored: Vec::new() });
        };
        let may_mirror = |(write, is_apart): (&Write, &bool)| write.changes() && (homes.is_strict || !is_apart);
        let mut is_mirrored: Vec<_> = self.writes.iter().zip(&self.is_apart).map(may_mirror).collect();
        let mut repair = self.repair(&is_mirrored, token)?;
        let mirrored = is_mirrored.iter().filter(|is_mirrored| **is_mirrored).count();
        if leading + mirrored + usize::from(repair.is_some()) > MOST_ACTIONS {
            if homes.is_strict {
                return Err(handover("the transaction has too many writes for both tables"));
            }
            is_mirrored = vec![false; leading];
            repair = self.repair(&is_mirrored, token)?;
        }
        let mut actions = self.in_both(homes.leader, follower, &is_mirrored, token)?;
        // The repair must be written with the writes: if it came before them, it could be carried out before them.
        actions.extend(repair.map(|repair| action(&repair, homes.leader, None, None)).transpose()?);
        Ok(Transaction { actions, leading, is_mirrored })
    }

    /// The writes in the leading table and then, in the same order, those of them in the other one that are mirrored.
    /// Conditions without a write are checked in the leading table alone, because they decide.
    fn in_both(
        &self,
        leader: &Home,
        follower: &Home,
        is_mirrored: &[bool],
        token: &str,
    ) -> Result<Vec<TransactWriteItem>, Error> {
        let writes = || self.writes.iter().zip(&self.assumed).zip(is_mirrored);
        let assumed = |write: &Write, assumed: Existence| write.is_update().then_some(assumed);
        let lead = writes().map(|((write, existence), is_mirrored)| {
            action(write, leader, assumed(write, *existence).filter(|_| *is_mirrored), None)
        });
        let follow = writes()
            .filter(|(_, is_mirrored)| **is_mirrored)
            .map(|((write, existence), _)| action(write, follower, assumed(write, *existence), Some(token)));
        lead.chain(follow).collect()
    }

    /// The repair of the items that are changed in the leading table alone, if there are any.
    fn repair(&self, is_mirrored: &[bool], token: &str) -> Result<Option<Write>, Error> {
        let writes = self.writes.iter().zip(is_mirrored);
        let alone = writes.filter(|(write, is_mirrored)| write.changes() && !**is_mirrored);
        let keys: Vec<_> = alone.map(|(write, _)| ItemKey::from(write.key())).collect();
        if keys.is_empty() {
            return Ok(None);
        }
        let number = token.bytes().fold(0_u8, u8::wrapping_add);
        let repair_id = token.parse().map_err(|_| Error::Refused("a token is no id".into()))?;
        Write::put(&Repair { repair_id, shard: number % Repair::SHARDS, since: Timestamp::now(), keys }).map(Some)
    }

    /// Learns from the causes for which a transaction was cancelled.
    pub(crate) fn cancelled(&mut self, transaction: &Transaction, mut causes: Vec<Cause>) -> Verdict {
        let copies = causes.split_off(self.writes.len().min(causes.len()));
        let (mut copies, mut is_mirrored) = (copies.into_iter(), transaction.is_mirrored.iter());
        let (mut is_corrected, mut is_unlike, mut is_refused) = (false, false, false);
        let learned = self.writes.iter().zip(&mut self.assumed).zip(&mut self.is_apart);
        for (((write, assumed), is_apart), own) in learned.zip(&causes) {
            let is_mirrored = is_mirrored.next().copied().unwrap_or(false);
            let copy = if is_mirrored { copies.next().unwrap_or(Cause::None) } else { Cause::None };
            match (existence(own), existence(&copy)) {
                // The assumption was wrong, so it is not known whether the write's own condition holds.
                (Some(found), copy) if is_mirrored && write.is_update() && found != *assumed => {
                    is_corrected = true;
                    let differs = copy != Some(found);
                    (*is_apart, is_unlike) = (*is_apart || differs, is_unlike || differs);
                    *assumed = found;
                }
                (Some(_), _) => is_refused = true,
                (None, Some(_)) => *is_apart = true,
                (None, None) => {}
            }
        }
        if is_unlike {
            Verdict::Apart
        } else if is_corrected {
            Verdict::Again
        } else if is_refused {
            Verdict::Cancelled(causes)
        } else {
            // Only conditions of copies failed.
            Verdict::Apart
        }
    }

    /// Gives up writing the other table, so that the next transaction leaves a repair of all items if the phase allows
    /// that.
    pub(crate) fn part(&mut self) {
        self.is_apart.fill(true);
    }
}

/// Whether the item whose condition failed exists; `None` if the condition did not fail.
fn existence(cause: &Cause) -> Option<Existence> {
    match cause {
        Cause::None => None,
        Cause::Condition(Some(_)) => Some(Existence::Present),
        Cause::Condition(None) => Some(Existence::Absent),
    }
}

/// A write as an action in one of the tables. A copy is marked.
fn action(
    write: &Write,
    home: &Home,
    assumed: Option<Existence>,
    copied: Option<&str>,
) -> Result<TransactWriteItem, Error> {
    let mut write = write.clone().respelled(home);
    let mark = copied.map(|token| AttributeValue::S(token.to_owned()));
    if let (Act::Put(item), Some(mark)) = (&mut write.act, &mark) {
        item.insert(COPIED.to_owned(), mark.clone());
    }
    let mut expressions = write.expressions();
    if let Some(mark) = mark.filter(|_| write.is_update()) {
        expressions.also_set(COPIED, mark);
    }
    match assumed {
        Some(Existence::Present) => expressions.require("attribute_exists(#PK)"),
        Some(Existence::Absent) => expressions.require("attribute_not_exists(#PK)"),
        None => {}
    }
    write.into_action_with(&home.name, expressions).map_err(|error| Error::Refused(error.into()))
}

/// The error of a write that cannot be done in both tables while it has to be.
pub(crate) fn handover(reason: &'static str) -> Error {
    Error::Throttled { by: Throttle::Handover, source: reason.into() }
}

impl Write {
    /// Whether the write can change its item.
    fn changes(&self) -> bool {
        !matches!(self.act, Act::Check(_))
    }

    /// Whether the write changes a part of its item.
    fn is_update(&self) -> bool {
        matches!(self.act, Act::Update(..) | Act::Change(..) | Act::Add(..))
    }

    /// The canonical key of the item.
    fn key(&self) -> Key {
        let text = |item: &crate::Item, name: &str| match item.get(name) {
            Some(AttributeValue::S(text)) => text.clone(),
            _ => String::new(),
        };
        match &self.act {
            Act::Put(item) => {
                let (partition, sort) = Index::Table.attributes();
                Key { index: Index::Table, partition: text(item, partition), sort: text(item, sort) }
            }
            Act::Update(key, _) | Act::Change(key, _) | Act::Add(key, _) | Act::Delete(key) | Act::Check(key) => {
                key.clone()
            }
        }
    }
}
