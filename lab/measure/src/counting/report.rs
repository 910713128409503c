//! The tables of the page, and their figures.

use std::iter;
use std::time::Duration;

use anyhow::Result;
use key_schema::markdown_tables::table;

use super::consumers::{Outcome, Protocol, Scene, simulate};
use super::orders::Orders;
use crate::figures::{as_float, whole};
use crate::workspace;

/// The numbers of shards.
pub(super) const SHARDS: [u16; 6] = [1, 4, 16, 64, 256, 1_000];

/// The orders a second of a busy shop.
pub(super) const BUSY: f64 = 1_000.0;

/// The orders a second of a shop with little load.
const CALM: f64 = 10.0;

/// The orders of an hour.
const AN_HOUR: u32 = 3_600_000;

/// The outcomes with one number of shards: first with retries, then with parking.
pub(super) struct Row {
    pub(super) shards: u16,
    /// Catching up an hour of a busy shop, while as many orders come in.
    pub(super) catching_up: [Outcome; 2],
    /// A busy shop.
    pub(super) busy: [Outcome; 2],
    /// A shop with little load.
    pub(super) calm: [Outcome; 2],
}

/// The results of all simulations.
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Runs all simulations.
    pub(crate) fn new(seed: u64) -> Result<Self> {
        let orders = Orders::new()?;
        let patience = workspace::timeout("count-orders")?.saturating_sub(lambda::ANSWERING);
        let rows = SHARDS.map(|shards| row(shards, patience, seed, &orders));
        Ok(Self { rows: rows.into_iter().collect::<Result<_>>()? })
    }

    #[cfg(test)]
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The tables, each with its name in the page.
    pub(crate) fn tables(&self) -> [(&'static str, String); 3] {
        [("counting-backlog", self.backlog()), ("counting-busy", self.busy()), ("counting-calm", self.calm())]
    }

    fn backlog(&self) -> String {
        let more: [Column; 2] = [
            ("units a second: totals of the day", |_, parked| format!("{:.0}", parked.of_day())),
            ("hottest list of parked counts", |_, parked| format!("{:.0}", parked.of_hottest_list())),
        ];
        self.table(|row| &row.catching_up, &[&RATES[..], &more].concat())
    }

    fn busy(&self) -> String {
        let more: [Column; 2] = [
            ("seconds behind", |_, parked| format!("{:.1}", parked.behind())),
            ("units a second: hottest list", |_, parked| format!("{:.0}", parked.of_hottest_list())),
        ];
        self.table(|row| &row.busy, &[&RATES[..], &more].concat())
    }

    fn calm(&self) -> String {
        let columns: [Column; 3] = [
            ("retried: units for each order", |tried, _| tried.units()),
            ("parked: write units", |_, parked| parked.units()),
            ("read units", |_, parked| parked.read_units()),
        ];
        self.table(|row| &row.calm, &columns)
    }

    /// A table of these outcomes, with a row for each number of shards.
    fn table(&self, outcomes: fn(&Row) -> &[Outcome; 2], columns: &[Column]) -> String {
        let heads: Vec<_> = iter::once("shards").chain(columns.iter().map(|(head, _)| *head)).collect();
        let rows = self.rows.iter().map(|row| {
            let [tried, parked] = outcomes(row);
            let cells = columns.iter().map(|(_, cell)| cell(tried, parked));
            iter::once(row.shards.to_string()).chain(cells).collect()
        });
        table(&heads, rows)
    }
}

/// A column: its head, and the cell for an outcome with retries and one with parking.
type Column = (&'static str, fn(&Outcome, &Outcome) -> String);

/// The rates of both ways.
const RATES: [Column; 5] = [
    ("retried: orders a second", |tried, _| whole(tried.counted())),
    ("units for each", |tried, _| tried.units()),
    ("parked: orders a second", |_, parked| whole(parked.counted())),
    ("write units for each", |_, parked| parked.units()),
    ("read units for each", |_, parked| parked.read_units()),
];

fn row(shards: u16, patience: Duration, seed: u64, orders: &Orders) -> Result<Row> {
    let scene = |protocol, rate, backlog, warm_up, measured| Scene {
        protocol,
        shards,
        rate,
        backlog,
        warm_up,
        measured,
        patience,
        seed,
    };
    let both = |rate, backlog, warm_up, measured| -> Result<[Outcome; 2]> {
        let [tried, parked] = [Protocol::TryAgain, Protocol::Park]
            .map(|protocol| simulate(scene(protocol, rate, backlog, warm_up, measured), orders));
        Ok([tried?, parked?])
    };
    Ok(Row {
        shards,
        catching_up: both(BUSY, AN_HOUR, 3.0, 5.0)?,
        busy: both(BUSY, 0, 15.0, 10.0)?,
        calm: both(CALM, 0, 10.0, 120.0)?,
    })
}

impl Outcome {
    /// Orders a second.
    pub(super) fn counted(&self) -> f64 {
        self.orders() / self.seconds
    }

    /// Write units for each order.
    pub(super) fn units_for_each(&self) -> f64 {
        self.done.write_units / self.orders()
    }

    /// Read units for each order.
    pub(super) fn read_units_for_each(&self) -> f64 {
        self.done.read_units / self.orders()
    }

    /// The seconds by which the counts are behind a busy shop.
    pub(super) fn behind(&self) -> f64 {
        self.left / BUSY
    }

    /// Write units a second of the day's totals.
    pub(super) fn of_day(&self) -> f64 {
        self.done.of_day / self.seconds
    }

    /// Write units a second of the list of parked counts that is written most.
    pub(super) fn of_hottest_list(&self) -> f64 {
        self.done.of_lists.values().copied().fold(0.0, f64::max) / self.seconds
    }

    fn orders(&self) -> f64 {
        as_float(usize::try_from(self.done.counted).unwrap_or_default())
    }

    fn units(&self) -> String {
        if self.done.counted == 0 { "-".to_owned() } else { format!("{:.1}", self.units_for_each()) }
    }

    fn read_units(&self) -> String {
        if self.done.counted == 0 { "-".to_owned() } else { format!("{:.1}", self.read_units_for_each()) }
    }
}
