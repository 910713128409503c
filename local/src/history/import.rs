//! Import: each record of the files is checked, and written unless it exists.
//!
//! There are two passes over the files. The first writes customers, products, discount codes and gift cards, the second
//! the orders, which refer to them. Each record is one transaction on condition that it is absent, so a second import
//! changes nothing, and an import that was interrupted continues: a record that exists costs a read and no write. No file
//! with a position is kept. It could be lost, or belong to another table, and the table itself knows the position.
//!
//! If the environment names both tables of a migration, each record is written as the functions write, by the phase of
//! the migration. If it names one table, the import stops as soon as that table migrates.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::{StreamExt as _, stream};
use key_schema::entity::{EmailClaim, InvoiceCounter, Migration, Phase, UsernameClaim};
use key_schema::layout::{Consistency, Stored as _};
use key_schema::value::{InvoiceNumber, InvoiceSeries, Timestamp};
use lambda::{Budget, Environment, FromEnvironment as _};
use table::{
    Cause, Commit, Condition, Error, Meter, ProductShards, Reader, StatusShards, TokenBucket, Write, WriteUnits, Writer,
};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, sleep_until};

use super::existing::{Existing, References};
use super::input::{self, Line, Lines};
use super::laws::Circumstances;
use super::record::Record;
use super::write::Transaction;
use crate::scan::patiently;

/// The number of records that are read or written at once.
const AT_ONCE: usize = 16;
/// The longest time for which a table counts as one that does not migrate. Functions use a phase for the same time.
const PHASE_LIFETIME: Duration = Duration::from_secs(2);
/// The longest time for the lines of one order, which count if they are written within an hour of its time.
const LONGEST: Duration = Duration::from_mins(30);
/// The time for the retries of one request.
const BUDGET: Duration = Duration::from_secs(10);

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only check the records, and write nothing.
    pub check: bool,
    /// Import orders on which the shop acts by itself, or of which it tells, as soon as they are imported.
    pub open: bool,
    /// The most write units a second of the table, and of each index. Without it: as many as the answers allow.
    pub units_per_second: Option<f64>,
}

/// The outcome of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The number of the line, from 1.
    pub line: u64,
    /// The kind and the id of the record, if the line is one.
    pub record: Option<(&'static str, String)>,
    pub result: Placement,
}

/// What became of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It is written, or it would be if this were not only a check.
    New,
    /// It existed, with the same content.
    Same,
    /// It is not written.
    Refused(String),
}

/// The numbers of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub new: u64,
    pub same: u64,
    pub refused: u64,
    /// The write units consumed.
    pub units: WriteUnits,
}

struct Importer {
    reader: Reader,
    writer: Writer,
    options: Options,
    with: Circumstances,
    references: References,
    /// The counters of invoice numbers, as far as they were read or raised. Whoever raises one holds the lock.
    counters: AsyncMutex<HashMap<InvoiceSeries, u64>>,
    /// The file and the line in which an id, an address or a username of the files was first seen.
    seen: Mutex<HashMap<String, (Arc<str>, u64)>>,
    /// Whether the environment names the other table of a migration.
    knows_both_tables: bool,
    /// The last moment at which the table was seen not to migrate.
    seen_at_rest: Mutex<Option<Instant>>,
    bucket: Option<Mutex<TokenBucket>>,
    began: Instant,
    units: Mutex<WriteUnits>,
}

/// The number of lines in the files, for progress.
///
/// # Errors
/// A file cannot be read.
pub fn count(files: &[PathBuf]) -> Result<u64> {
    files.iter().map(|file| Ok(input::lines(file)?.count() as u64)).sum()
}

/// Imports the files into the table of this environment: `TABLE_NAME`, `STATUS_SHARDS` and `PRODUCT_SHARDS` are those of
/// the deployed functions. `tell` gets the outcome of each line.
///
/// # Errors
/// A file or the table cannot be read, or the table cannot be written. The same import may then be started again.
pub async fn import(
    environment: &Environment,
    files: &[PathBuf],
    options: &Options,
    tell: impl FnMut(&Outcome) -> Result<()>,
) -> Result<Summary> {
    let lines = || -> Result<Lines> {
        let lines = files.iter().map(|file| input::lines(file)).collect::<Result<Vec<_>>>()?;
        Ok(Box::new(lines.into_iter().flatten()))
    };
    import_lines(environment, options, lines, tell).await
}

/// Imports lines, which are read once for each pass.
pub(super) async fn import_lines(
    environment: &Environment,
    options: &Options,
    lines: impl Fn() -> Result<Lines>,
    mut tell: impl FnMut(&Outcome) -> Result<()>,
) -> Result<Summary> {
    let began = Instant::now();
    let importer = Importer {
        reader: Reader::from_environment(environment)?,
        writer: Writer::from_environment(environment)?,
        options: options.clone(),
        with: Circumstances {
            now: Timestamp::now(),
            status_shards: StatusShards::from_environment(environment)?,
            product_shards: ProductShards::from_environment(environment)?,
            open: options.open,
        },
        references: References::default(),
        counters: AsyncMutex::default(),
        seen: Mutex::default(),
        knows_both_tables: environment.optional("NEXT_TABLE_NAME").is_some(),
        seen_at_rest: Mutex::default(),
        bucket: options.units_per_second.map(|rate| Mutex::new(TokenBucket::new(rate, Duration::ZERO))),
        began,
        units: Mutex::default(),
    };
    let mut summary = Summary::default();
    for of_orders in [false, true] {
        let wanted = lines()?
            .filter(|line| !line.as_ref().is_ok_and(|line| matches!(line.record, Ok(Record::Order(_))) != of_orders));
        // Duplicates are found in the order of the lines, and the records are then written in any order.
        let outcomes = stream::iter(wanted).map(|line| {
            let line = line.map(|line| {
                let duplicate = importer.duplicate(&line);
                (line, duplicate)
            });
            importer.take(line)
        });
        let mut outcomes = std::pin::pin!(outcomes.buffer_unordered(AT_ONCE));
        while let Some(outcome) = outcomes.next().await {
            let outcome = outcome?;
            match outcome.result {
                Placement::New => summary.new += 1,
                Placement::Same => summary.same += 1,
                Placement::Refused(_) => summary.refused += 1,
            }
            tell(&outcome)?;
        }
    }
    summary.units = importer.units.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(summary)
}

impl Importer {
    /// The reason for a refusal, if something unique in this record is in an earlier line.
    fn duplicate(&self, line: &Line) -> Option<String> {
        let record = line.record.as_ref().ok()?;
        let (kind, id) = record.name();
        let mut keys = vec![format!("{kind} {id}")];
        match record {
            Record::Customer(customer) if customer.erased_at.is_none() => {
                let (customer_id, email, username) =
                    (customer.customer_id.clone(), customer.email.clone(), customer.username.clone());
                keys.push(EmailClaim { email, customer_id: customer_id.clone() }.key().partition);
                keys.push(UsernameClaim { username, customer_id }.key().partition);
            }
            Record::Order(order) => {
                keys.extend(order.invoice_id.as_ref().map(|id| format!("invoice {id}")));
                keys.extend(order.invoice_number.as_ref().map(|number| format!("invoice number {number}")));
            }
            _ => {}
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((key, (file, number))) = keys.iter().find_map(|key| Some((key, seen.get(key)?))) {
            return Some(format!("{key} is also in {file}:{number}"));
        }
        seen.extend(keys.into_iter().map(|key| (key, (Arc::clone(&line.file), line.number))));
        None
    }

    async fn take(&self, line: Result<(Line, Option<String>)>) -> Result<Outcome> {
        let (Line { file, number, record }, duplicate) = line?;
        let named = record.as_ref().ok().map(Record::name).map(|(kind, id)| (kind, id.to_owned()));
        let result = match (record, duplicate) {
            (Err(reason), _) | (Ok(_), Some(reason)) => Placement::Refused(reason),
            (Ok(record), None) => {
                self.place(&record).await.with_context(|| format!("{file}:{number} cannot be imported now"))?
            }
        };
        Ok(Outcome { file, line: number, record: named, result })
    }

    /// Places a record, and tries again if DynamoDB throttles or does not answer.
    async fn place(&self, record: &Record) -> Result<Placement> {
        let was_sent = AtomicBool::new(false);
        let placed = patiently(|| async {
            match self.phase_of_an_unknown_migration().await? {
                Phase::First => self.try_to_place(record, &was_sent).await.map(Ok),
                phase => Ok(Err(phase)),
            }
        });
        match placed.await? {
            // The transaction of an earlier attempt was not answered, and had been done.
            Ok(Placement::Same) if was_sent.into_inner() => Ok(Placement::New),
            Ok(placement) => Ok(placement),
            Err(phase) => bail!("the table migrates to another one, phase {phase}: name both with --next-table"),
        }
    }

    /// The phase of a migration, if the environment names one table. What is written in one table alone is lost if the
    /// other one takes over.
    async fn phase_of_an_unknown_migration(&self) -> Result<Phase, Error> {
        let seen = || self.seen_at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if self.knows_both_tables || seen().is_some_and(|seen| seen.elapsed() < PHASE_LIFETIME) {
            return Ok(Phase::First);
        }
        let before = Instant::now();
        let key = vec![Migration::only_key()];
        let migration: Option<Migration> = self.reader.batch(key, Consistency::Strong, Budget::of(BUDGET)).await?.pop();
        let phase = migration.map_or(Phase::First, |migration| migration.phase);
        if phase == Phase::First {
            *seen() = Some(before);
        }
        Ok(phase)
    }

    async fn try_to_place(&self, record: &Record, was_sent: &AtomicBool) -> Result<Placement, Error> {
        let budget = Budget::of(BUDGET);
        // The time at which the order is imported, from which it counts, and not that at which the import began.
        let with = Circumstances { now: Timestamp::now(), ..self.with };
        // A second round only compares: another import has written the record since the first one.
        for _ in 0..2 {
            let transaction = match self.references.compare(&self.reader, record, &with, budget).await? {
                Existing::Same => return Ok(Placement::Same),
                Existing::Refused(reason) => return Ok(Placement::Refused(reason)),
                Existing::Begun(rest) => {
                    if !self.options.check {
                        self.write_each(rest).await?;
                    }
                    return Ok(self.now_known(record));
                }
                Existing::Absent(transaction) => transaction,
            };
            if self.options.check {
                return Ok(match self.references.reserve(&self.reader, record, &with, budget).await? {
                    Some(reason) => Placement::Refused(reason),
                    None => self.now_known(record),
                });
            }
            let outcome = self.write_all(transaction.clone(), record).await;
            was_sent.fetch_or(matches!(outcome, Err(Error::Unanswered(_))), Ordering::Relaxed);
            match outcome? {
                Commit::Done => return Ok(self.now_known(record)),
                Commit::Cancelled(causes) => {
                    // Nothing is written. An attempt that was done would have shown itself in the header.
                    was_sent.store(false, Ordering::Relaxed);
                    if let Some(reason) = transaction.refusal(&causes) {
                        return Ok(Placement::Refused(reason));
                    }
                }
            }
        }
        Err(Error::contention("the record appears and disappears"))
    }

    /// Writes a record: its transaction, and then the lines that come after it.
    async fn write_all(&self, mut transaction: Transaction, record: &Record) -> Result<Commit, Error> {
        let later = std::mem::take(&mut transaction.later);
        let outcome = self.write_with_number(transaction, record).await?;
        if outcome.is_done() {
            self.write_each(later).await?;
        }
        Ok(outcome)
    }

    /// Makes these writes, one after the other. If another import has written a line, it is there. Lines that are late do not
    /// count for an order of this time: the next attempt dates the order anew.
    async fn write_each(&self, writes: Vec<Write>) -> Result<(), Error> {
        let began = Instant::now();
        for write in writes {
            if began.elapsed() > LONGEST {
                return Err(Error::contention("the lines of an order take too long"));
            }
            _ = self.write(vec![write]).await?;
        }
        Ok(())
    }

    /// Writes a transaction. That of an order with a number raises the counter of the number's series to it, so that
    /// no invoice gets the number again, and an order that is refused leaves no gap.
    async fn write_with_number(&self, mut transaction: Transaction, record: &Record) -> Result<Commit, Error> {
        let number = if let Record::Order(order) = record { order.invoice_number.clone() } else { None };
        let Some(InvoiceNumber { series, place }) = number else { return self.write(transaction.writes).await };
        let mut counters = self.counters.lock().await;
        let last = if let Some(last) = counters.get(&series) {
            *last
        } else {
            let key = vec![InvoiceCounter::key_of(&series)];
            let read = self.reader.batch(key, Consistency::Strong, Budget::of(BUDGET));
            let found: Option<InvoiceCounter> = read.await?.pop();
            found.map_or(0, |counter| counter.last)
        };
        if place <= last {
            counters.insert(series, last);
            // A counter never falls.
            drop(counters);
            return self.write(transaction.writes).await;
        }
        // Nobody else raises it, unless the shop is in use.
        counters.remove(&series);
        let is_lower = Condition::new("attribute_not_exists(#last) OR #last < :raised").value(":raised", place)?;
        transaction.writes.push(Write::set(&InvoiceCounter { series: series.clone(), last: place }, is_lower)?);
        match self.write(transaction.writes).await? {
            Commit::Done => {
                counters.insert(series, place);
                Ok(Commit::Done)
            }
            Commit::Cancelled(mut causes) => match causes.pop() {
                Some(Cause::Condition(_)) if !causes.iter().any(|cause| matches!(cause, Cause::Condition(_))) => {
                    Err(Error::contention("the counter of the invoice numbers was raised by another"))
                }
                _ => Ok(Commit::Cancelled(causes)),
            },
        }
    }

    fn now_known(&self, record: &Record) -> Placement {
        self.references.learn(record);
        Placement::New
    }

    /// Writes, no faster than the option allows.
    async fn write(&self, writes: Vec<Write>) -> Result<Commit, Error> {
        let meter = Meter::default();
        // Two units for each item of a transaction.
        let estimate = 2.0 * f64::from(u8::try_from(writes.len()).unwrap_or(u8::MAX));
        if let Some(bucket) = &self.bucket {
            let start = {
                let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
                let start = bucket.earliest(estimate, self.began.elapsed());
                bucket.start(start);
                start
            };
            sleep_until(self.began + start).await;
        }
        if self.phase_of_an_unknown_migration().await? != Phase::First {
            // The next attempt says so.
            return Err(Error::contention("a migration has begun"));
        }
        let outcome = self.writer.clone().metered(&meter).write_all(writes, Budget::of(BUDGET)).await;
        let consumed = meter.take();
        if let Some(bucket) = &self.bucket {
            let most = consumed.indexes.values().copied().fold(consumed.table, f64::max);
            bucket.lock().unwrap_or_else(PoisonError::into_inner).correct(most - estimate);
        }
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        units.table += consumed.table;
        for (index, more) in consumed.indexes {
            *units.indexes.entry(index).or_default() += more;
        }
        outcome
    }
}
