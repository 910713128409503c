//! The tables of the page, and their figures.

use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;

use super::conflict::{Contention, contend};
use super::demand::{Demand, name};
use super::design::{Design, TILL, designs};
use super::simulate::{Hot, failing_rate, simulate};
use super::traffic::{Sample, Traffic};
use crate::figures::whole;
use key_schema::layout::PlaceText;
use key_schema::markdown_tables::table;

/// The assumed time for which a transaction holds its items, in milliseconds. AWS documents none; see the page.
const WINDOW: f64 = 5.0;

/// The results of all simulations.
pub(crate) struct Report {
    designs: Vec<Row>,
    ladder: Vec<(f64, Hot)>,
    fresh: Vec<Fresh>,
    conflicts: Vec<(f64, Contention)>,
}

/// The limits of one design, in orders a second of the whole shop.
pub(super) struct Row {
    pub(super) design: Design,
    /// The share of the most popular subject.
    share: f64,
    /// The limit computed from the units.
    pub(super) computed: f64,
    /// The simulated limit. `None`: more than a million.
    pub(super) simulated: Option<f64>,
    /// The limit by conflicts between transactions.
    pub(super) conflicting: Option<f64>,
}

/// The results for a new table.
struct Fresh {
    rate: f64,
    throttled: Option<Hot>,
    minutes: u32,
    partitions: usize,
}

impl Report {
    /// Runs all simulations. Orders are retried for `patience`.
    pub(crate) fn new(seed: u64, patience: Duration, progress: &ProgressBar) -> Result<Self> {
        let traffic = Traffic::new(seed)?;
        let sample = traffic.sample()?;
        let designs = designs();
        progress.set_length(u64::try_from(designs.len() + 1)?);
        let mut rows = Vec::new();
        for design in designs {
            progress.set_message(format!("{}: {}", design.what, design.how));
            rows.push(row(design, &traffic, &sample)?);
            progress.inc(1);
        }

        progress.set_message("all keys together");
        let whole = Demand::of(&sample, TILL, None)?;
        let fresh = [100.0, 300.0, 1_000.0, 2_500.0].map(|rate| {
            let outcome = simulate(&whole, rate, seed);
            let partitions = outcome.partitions.values().sum();
            Fresh { rate, throttled: outcome.at_first, minutes: outcome.minutes, partitions }
        });
        let mut left = whole;
        let mut ladder = Vec::new();
        while let Some((rate, hot)) = failing_rate(&left, seed) {
            left = left.only(|run| Some(run.place) != hot.place);
            ladder.push((rate, hot));
        }
        let conflicts = [20.0, 50.0, 100.0, 150.0, 180.0, 220.0];
        let conflicts = conflicts.map(|rate| (rate, contend(rate, WINDOW, Some(patience), seed))).into();
        progress.inc(1);
        Ok(Self { designs: rows, ladder, fresh: fresh.into(), conflicts })
    }

    /// Every design.
    pub(super) fn rows(&self) -> &[Row] {
        &self.designs
    }

    /// The tables, each with its name in the page.
    pub(crate) fn tables(&self) -> [(&'static str, String); 4] {
        [
            ("designs", self.designs()),
            ("ladder", self.ladder()),
            ("fresh", self.fresh()),
            ("conflicts", self.conflicts()),
        ]
    }

    fn designs(&self) -> String {
        let rows = self.designs.iter().map(|row| {
            let Row { design, share, computed, simulated, conflicting } = row;
            vec![
                design.what.to_owned(),
                design.how.to_owned(),
                design.watched.iter().map(keys).collect::<Vec<_>>().join(", "),
                whole(computed * share),
                conflicting.map_or("-".to_owned(), |rate| whole(rate * share)),
                whole(*computed),
                simulated.map_or("more than 1,000,000".to_owned(), whole),
            ]
        });
        let columns = [
            "what",
            "how",
            "partition / sort key in the schema",
            "of one, by units",
            "of one, by conflicts",
            "the shop, computed",
            "the shop, simulated",
        ];
        table(&columns, rows)
    }

    fn ladder(&self) -> String {
        let rows = self.ladder.iter().map(|(rate, hot)| vec![whole(*rate), place(hot)]);
        table(&["orders a second", "what throttles first, if all above is cured"], rows)
    }

    fn fresh(&self) -> String {
        let rows = self.fresh.iter().map(|fresh| {
            let (throttled, usage) = match &fresh.throttled {
                Some(hot) => (place(hot), format!("{:.1}", hot.usage)),
                None => ("nothing".to_owned(), "-".to_owned()),
            };
            vec![whole(fresh.rate), throttled, usage, fresh.minutes.to_string(), fresh.partitions.to_string()]
        });
        table(
            &[
                "orders a second",
                "hottest at first",
                "asked of its partition",
                "minutes with a split",
                "partitions then",
            ],
            rows,
        )
    }

    fn conflicts(&self) -> String {
        let rows = self.conflicts.iter().map(|(rate, contention)| {
            let Contention { conflicts, tries, given_up } = contention;
            vec![whole(*rate), percent(*conflicts), format!("{tries:.1}"), percent(*given_up)]
        });
        table(&["orders a second of one item", "first tries in conflict", "tries for each order", "given up"], rows)
    }
}

fn row(design: Design, traffic: &Traffic, sample: &Sample) -> Result<Row> {
    let demand = Demand::of(sample, design.keys, Some(design.watched))?;
    let simulated = failing_rate(&demand, traffic.seed).map(|(rate, _)| rate);
    let share = design.subject.share(traffic);
    let computed = design.takes(traffic, sample);
    let conflicting = design.serialises(WINDOW, traffic, sample);
    Ok(Row { design, share, computed, simulated, conflicting })
}

fn place(hot: &Hot) -> String {
    hot.place.map_or("orders, invoices and the like: all partitions".to_owned(), |place| {
        format!("{} {}", name(place.index), keys(&place))
    })
}

fn keys(place: &PlaceText) -> String {
    format!("`{}` / `{}`", place.partition, place.sort)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
