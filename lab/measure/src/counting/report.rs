//! The tables of the page, and their figures.

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
        let rows = self.rows.iter().map(|Row { shards, catching_up: [tried, parked], .. }| {
            vec![
                shards.to_string(),
                whole(tried.counted()),
                tried.units(),
                whole(parked.counted()),
                parked.units(),
                parked.read_units(),
                format!("{:.0}", parked.of_day()),
                format!("{:.0}", parked.of_hottest_list()),
            ]
        });
        let columns = [
            "shards",
            "retried: orders a second",
            "units for each",
            "parked: orders a second",
            "write units for each",
            "read units for each",
            "units a second: totals of the day",
            "hottest list of parked counts",
        ];
        table(&columns, rows)
    }

    fn busy(&self) -> String {
        let rows = self.rows.iter().map(|Row { shards, busy: [tried, parked], .. }| {
            vec![
                shards.to_string(),
                whole(tried.counted()),
                tried.units(),
                whole(parked.counted()),
                parked.units(),
                parked.read_units(),
                format!("{:.1}", parked.behind()),
                format!("{:.0}", parked.of_hottest_list()),
            ]
        });
        let columns = [
            "shards",
            "retried: orders a second",
            "units for each",
            "parked: orders a second",
            "write units for each",
            "read units for each",
            "seconds behind",
            "units a second: hottest list",
        ];
        table(&columns, rows)
    }

    fn calm(&self) -> String {
        let rows = self.rows.iter().map(|Row { shards, calm: [tried, parked], .. }| {
            vec![shards.to_string(), tried.units(), parked.units(), parked.read_units()]
        });
        table(&["shards", "retried: units for each order", "parked: write units", "read units"], rows)
    }
}

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
