#![allow(clippy::expect_used, reason = "tests")]

use super::SEED;
use super::report::{BUSY, Report};

/// Checks the whole page: it equals the simulation, and the simulation keeps the promises of the page.
#[test]
fn orders_are_counted_in_time_with_any_number_of_shards() {
    let report = Report::new(SEED).expect("a report");
    for row in report.rows() {
        let shards = row.shards;
        let [_, caught_up] = &row.catching_up;
        assert!(caught_up.counted() >= 2.0 * BUSY, "{shards} shards catch up at {}", caught_up.counted());
        let [_, busy] = &row.busy;
        assert!(busy.counted() > 0.9 * BUSY && busy.behind() < 6.0, "{shards} shards: {busy:?}");
        let [tried, calm] = &row.calm;
        let limit = 1.2 * tried.units_for_each();
        assert!(calm.units_for_each() <= limit, "{shards} shards: {} units", calm.units_for_each());
        for outcome in [caught_up, busy] {
            assert!(outcome.of_day() < 500.0, "{shards} shards: {} units of the day's totals", outcome.of_day());
            assert!(outcome.of_hottest_list() < 1_000.0, "{shards} shards: {}", outcome.of_hottest_list());
        }
    }

    // The fault that parking repairs: the more shards, the fewer orders are counted.
    let retried: Vec<_> = report.rows().iter().map(|row| row.catching_up[0].counted()).collect();
    assert!(retried.is_sorted_by(|a, b| a > b), "{retried:?}");
    assert!(retried.last().is_some_and(|last| *last < 0.1 * BUSY), "{retried:?}");

    docs_check::check("scale.md", &report.tables(), "cargo test -p measure").expect("docs/scale.md");
}
