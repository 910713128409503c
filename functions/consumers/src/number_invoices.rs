//! Schedule: gives each new invoice its number, the next of the series.
//!
//! The order's transaction writes the invoice into the list of those that wait for a number; so placing meets no counter.
//! A transaction here gives numbers to up to 49 invoices, takes them off the list, and raises the counter. It has the
//! condition that the counter is as it was read and that each of the invoices still waits. So no number is given twice or
//! left out, if a run is cut off, repeated or not answered, or runs beside another one.
//!
//! Numbers follow the time of the invoices, but not strictly: the list comes from an index, which may be behind, and
//! several functions place orders, each by its own clock.

use std::time::Duration;

use key_schema::access::Access;
use key_schema::entity::{Invoice, InvoiceCounter};
use key_schema::layout::{Consistency, INVOICES_DUE, MOST_ACTIONS, in_shards};
use key_schema::value::{InvoiceNumber, InvoiceSeries, TimeRange, Timestamp};
use lambda::{Environment, Error, FromEnvironment, Grant, Misconfigured, ScheduledEvent};
use ordering::Numbering;
use serde::Serialize;
use table::{Budget, Cause, Commit, Condition, Reader, StatusShards, Swept, Throttle, Write, Writer};
use tokio::time::Instant;
use tracing::info;

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[&[
    Access::query(INVOICES_DUE),
    Access::batch_get::<InvoiceCounter>(),
    Access::update::<InvoiceCounter>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
]];

/// None: the function calls no other service.
pub const GRANTS: &[Grant] = &[];

/// With less time left, no further transaction is begun. One takes at most this long, with its retries.
const ONE_BATCH: Duration = Duration::from_secs(10);

/// Younger invoices wait for the next run. Almost always the index has all older ones by then, so that numbers follow the
/// time.
const SETTLED_SECONDS: u32 = 60;

/// The most invoices of one transaction. It writes the counter, too, and each item twice while the table is migrated.
const BATCH: usize = MOST_ACTIONS / 2 - 1;

/// The number of invoices in one page of the list: two transactions.
const PAGE_SIZE: u8 = 98;

/// The function's dependencies, and the series.
#[derive(Clone, Debug)]
pub struct Numberer {
    reader: Reader,
    writer: Writer,
    shards: StatusShards,
    numbering: Numbering,
}

impl FromEnvironment for Numberer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            // A capture of one invoice must not hold up the others: a smaller transaction may not meet it.
            writer: Writer::from_environment(environment)?.fail_fast_on_conflict(),
            shards: StatusShards::from_environment(environment)?,
            numbering: Numbering::from_environment(environment)?,
        })
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of invoices to which this run gave numbers.
    numbered: u64,
    /// The number of invoices that cannot be read. They wait, and the others get the next numbers.
    #[serde(skip)]
    unreadable: u64,
    /// Whether the run reached the end of the list.
    done: bool,
}

/// Gives numbers, one transaction after the other, because all of them write the counter.
pub async fn handle(numberer: Numberer, _: ScheduledEvent, time: Duration) -> Result<Report, Error> {
    let end = Instant::now() + time.saturating_sub(ONE_BATCH);
    let mut report = Report::default();
    report.done = match numberer.numbering.series() {
        Some(series) => numberer.number(series, end, &mut report).await?,
        None => true,
    };
    let Report { numbered, unreadable, done } = report;
    info!(numbered, unreadable, done, "invoices numbered");
    // After all others have their numbers.
    if unreadable > 0 {
        Err(format!("invoices that cannot be read and get no number: {unreadable}").into())
    } else {
        Ok(report)
    }
}

impl Numberer {
    /// Numbers the invoices of the list. Returns whether it reached the end.
    async fn number(&self, series: &InvoiceSeries, end: Instant, report: &mut Report) -> Result<bool, Error> {
        let settled = Timestamp::now().minus_seconds(SETTLED_SECONDS);
        let issued = TimeRange::parse(None, Some(&settled.to_string()))?;
        let shards = in_shards(self.shards.0, |shard| INVOICES_DUE.ask((&shard, &issued)));
        let (mut counter, mut list) = (None, self.reader.sweep(&shards, PAGE_SIZE));
        while let Some(Swept { items, unreadable }) = list.next().await? {
            report.unreadable += unreadable;
            // The list may be out of date and still have numbered invoices.
            let waiting = items.into_iter().filter(|invoice| invoice.unnumbered.is_some()).collect();
            if !self.number_all(series, waiting, &mut counter, end, report).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Numbers these invoices, in this order. `counter` is the counter as last read or written. Returns whether the time
    /// was enough.
    async fn number_all(
        &self,
        series: &InvoiceSeries,
        mut waiting: Vec<Invoice>,
        counter: &mut Option<InvoiceCounter>,
        end: Instant,
        report: &mut Report,
    ) -> Result<bool, Error> {
        let mut size = BATCH;
        let mut retries = Budget::of(ONE_BATCH).retries();
        while !waiting.is_empty() {
            if Instant::now() >= end {
                return Ok(false);
            }
            let from = match counter.take() {
                Some(counter) => counter,
                None => self.counter(series).await?,
            };
            let batch = &waiting[..size.min(waiting.len())];
            let to = InvoiceCounter { last: from.last + batch.len() as u64, ..from.clone() };
            match self.writer.commit(writes(&from, &to, batch)?, Budget::of(ONE_BATCH)).await {
                Ok(Commit::Done) => {
                    report.numbered += batch.len() as u64;
                    waiting.drain(..batch.len());
                    *counter = Some(to);
                    (size, retries) = (BATCH, Budget::of(ONE_BATCH).retries());
                }
                // Another run was first, or an earlier attempt that was not answered. The counter is read again, and the
                // invoices that have their numbers are left out.
                Ok(Commit::Cancelled(causes)) => {
                    let mut of_invoices = causes.into_iter().skip(1);
                    waiting.retain(|_| !matches!(of_invoices.next(), Some(Cause::Condition(_))));
                }
                Err(table::Error::Throttled { by: Throttle::Contention, .. }) if retries.pause().await => {
                    size = batch.len().div_ceil(2);
                }
                Err(table::Error::Unanswered(_)) if retries.pause().await => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// The counter of the series. Before its first number there is no item.
    async fn counter(&self, series: &InvoiceSeries) -> Result<InvoiceCounter, Error> {
        let key = vec![InvoiceCounter::key_of(series)];
        let found: Option<InvoiceCounter> =
            self.reader.batch(key, Consistency::Strong, Budget::of(ONE_BATCH)).await?.pop();
        Ok(found.unwrap_or_else(|| InvoiceCounter { series: series.clone(), last: 0 }))
    }
}

/// The writes of one transaction: the counter first, then the invoices.
fn writes(from: &InvoiceCounter, to: &InvoiceCounter, invoices: &[Invoice]) -> Result<Vec<Write>, table::Error> {
    let is_as_read = match from.last {
        0 => Condition::absent(),
        last => Condition::new("#last = :then").value(":then", last)?,
    };
    let mut writes = vec![Write::set(to, is_as_read)?];
    for (place, invoice) in (from.last + 1..).zip(invoices) {
        let numbered = invoice.clone().numbered(InvoiceNumber { series: to.series.clone(), place });
        // Only what differs is written, so a change of the payment since the index was read is left alone.
        writes.push(Write::change(invoice, &numbered, Condition::new("attribute_exists(#unnumbered)"))?);
    }
    Ok(writes)
}
