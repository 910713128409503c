//! The table of the page.

use std::fmt::Write as _;

use anyhow::Result;

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
    pub(super) fn tables(&self) -> Vec<(&'static str, String)> {
        let mut table =
            "| cells | waiting room | drain's environments | placed at once | waited | placed later | answered \
                         sold out | gave up | answered in s: median, 99 % | new price in s | restocked in s | longest \
                         queue | all done after s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
                .to_owned();
        for (plan, outcome) in &self.0 {
            let restocks: Vec<_> = outcome.restocks.iter().map(|took| format!("{took:.2}")).collect();
            _ = writeln!(
                table,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {:.2}, {:.2} | {:.2} | {} | {} | {:.0} |",
                plan.cells,
                if plan.has_waiting_room { "yes" } else { "no" },
                plan.drains,
                outcome.placed_at_once,
                outcome.waited,
                outcome.placed_later,
                outcome.sold_out,
                outcome.gave_up,
                outcome.part_answered_within(50),
                outcome.part_answered_within(99),
                outcome.reprice,
                restocks.join(", "),
                outcome.longest_queue,
                outcome.lasted,
            );
        }
        vec![("rush", table)]
    }
}

impl Outcome {
    /// The seconds within which so many per cent of the customers had an answer.
    fn part_answered_within(&self, percent: usize) -> f64 {
        let last = self.answers.len().saturating_sub(1);
        self.answers.get(last * percent / 100).copied().unwrap_or_default()
    }
}
