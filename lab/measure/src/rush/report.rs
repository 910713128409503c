//! The table of the page.

use anyhow::Result;
use key_schema::markdown_tables::table;

use super::crowd::{Outcome, Rush};
use super::shop::Plan;

/// The designs that are compared.
const PLANS: [Plan; 4] = [
    Plan { cells: 8, has_waiting_room: false, drains: 4 },
    Plan { cells: 8, has_waiting_room: true, drains: 4 },
    Plan { cells: 32, has_waiting_room: false, drains: 10 },
    Plan { cells: 32, has_waiting_room: true, drains: 10 },
];

/// The results of all designs.
pub(super) struct Report(Vec<(Plan, Outcome)>);

impl Report {
    pub(super) fn new(rate: u32, seconds: u32) -> Result<Self> {
        let results = PLANS.iter().map(|plan| {
            eprintln!("{plan:?}");
            Ok((*plan, Rush { plan: *plan, rate, seconds }.run()?))
        });
        Ok(Self(results.collect::<Result<_>>()?))
    }

    /// The tables by their names on the page.
    pub(super) fn tables(&self) -> [(&'static str, String); 1] {
        let columns = [
            "cells",
            "waiting room",
            "drain's environments",
            "placed at once",
            "waited",
            "placed later",
            "answered sold out",
            "gave up",
            "answered in s: median, 99 %",
            "new price in s",
            "restocked in s",
            "longest queue",
            "all done after s",
        ];
        let rows = self.0.iter().map(|(plan, outcome)| {
            let restocks: Vec<_> = outcome.restocks.iter().map(|took| format!("{took:.2}")).collect();
            vec![
                plan.cells.to_string(),
                if plan.has_waiting_room { "yes" } else { "no" }.to_owned(),
                plan.drains.to_string(),
                outcome.placed_at_once.to_string(),
                outcome.waited.to_string(),
                outcome.placed_later.to_string(),
                outcome.sold_out.to_string(),
                outcome.gave_up.to_string(),
                format!("{:.2}, {:.2}", outcome.answered_within(50), outcome.answered_within(99)),
                format!("{:.2}", outcome.reprice),
                restocks.join(", "),
                outcome.longest_queue.to_string(),
                format!("{:.0}", outcome.lasted),
            ]
        });
        [("rush", table(&columns, rows))]
    }
}

impl Outcome {
    /// The seconds within which so many per cent of the customers had an answer.
    fn answered_within(&self, percent: usize) -> f64 {
        let last = self.answers.len().saturating_sub(1);
        self.answers.get(last * percent / 100).copied().unwrap_or_default()
    }
}
