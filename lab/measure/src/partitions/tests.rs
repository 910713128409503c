#![allow(clippy::expect_used, reason = "tests")]

use indicatif::ProgressBar;
use key_schema::entity::Stock;
use key_schema::layout::Stored as _;
use proptest::prelude::*;

use super::demand::{Demand, Heat, Load, Run};
use super::design::TILL;
use super::fleet::Fleet;
use super::report::Report;
use super::simulate::{failing_rate, simulate};
use super::traffic::Traffic;
use super::{SEED, patience, picture};
use crate::workspace::Shards;

/// Checks the whole page: it equals the simulation, which agrees with computations by hand.
#[test]
fn every_design_fails_at_the_computed_rate_and_at_that_of_the_page() {
    let report = Report::new(SEED, patience().expect("the template"), &ProgressBar::hidden()).expect("a report");
    for row in report.rows() {
        let Some(simulated) = row.simulated else {
            assert!(row.computed > 1_000_000.0, "{}, {}: {}", row.design.what, row.design.how, row.computed);
            continue;
        };
        let off = (simulated / row.computed - 1.0).abs();
        assert!(off < 0.04, "{}, {}: {simulated} and {}", row.design.what, row.design.how, row.computed);
    }

    let command = "cargo test -p measure";
    docs_check::check("scale.md", &report.tables(), command).expect("docs/scale.md");
    docs_check::check_file("partitions.svg", &picture(&report).expect("a picture"), command)
        .expect("docs/partitions.svg");
}

#[test]
fn the_default_design_is_that_of_the_template() {
    let Shards { status, products, views } = Shards::deployed().expect("the template");
    assert_eq!((TILL.status_shards, TILL.product_shards, TILL.view_shards), (status, products, views));
}

fn run(hash: f64, written: f64) -> Run {
    Run { hash, place: Stock::PLACES[0], heat: Heat { written, read: 0.0 } }
}

fn demand(mut runs: Vec<Run>, dust: f64) -> Demand {
    runs.sort_by(|a, b| a.hash.total_cmp(&b.hash));
    Demand([("table", Load { runs, dust: Heat { written: dust, read: 0.0 } })].into())
}

fn any_runs() -> impl Strategy<Value = Vec<Run>> {
    prop::collection::vec((0.0..1.0, 0.01..2.0), 1..40)
        .prop_map(|runs| runs.into_iter().map(|(hash, written)| run(hash, written)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Splitting raises the limit up to that of the hottest item, and not beyond.
    #[test]
    fn the_limit_of_a_table_is_that_of_its_hottest_item(runs in any_runs(), dust in 0.0..20.0, seed: u64) {
        let hottest = runs.iter().map(|run| run.heat.written).fold(0.0, f64::max);
        let (rate, _) = failing_rate(&demand(runs, dust), seed).expect("a limit");
        prop_assert!((rate * hottest / 1_000.0 - 1.0).abs() < 0.03, "{rate} orders of {hottest} units");
    }

    #[test]
    fn a_table_without_a_hot_item_has_no_limit(dust in 0.1..20.0, seed: u64) {
        prop_assert!(failing_rate(&demand(Vec::new(), dust), seed).is_none());
    }

    #[test]
    fn the_same_seed_gives_the_same_result(runs in any_runs(), rate in 1.0..10_000.0, seed: u64) {
        let demand = demand(runs, 8.0);
        let answers = [(); 2].map(|()| format!("{:?}", simulate(&demand, rate, seed)));
        prop_assert_eq!(&answers[0], &answers[1]);
    }

    /// A split conserves the heat.
    #[test]
    fn partitions_always_contain_every_run_once(runs in any_runs(), dust in 0.0..20.0, rate in 1.0..50_000.0) {
        let demand = demand(runs, dust);
        let load = &demand.0["table"];
        let mut fleet = Fleet::fresh(load);
        fleet.weigh(rate, |_| 1.0);
        for _ in 0..12 {
            fleet.split(rate);
            let expected = (load.runs.iter().map(|run| run.heat.written).sum::<f64>() + dust) * rate;
            prop_assert!((fleet.written(rate) / expected - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn the_generated_keys_distinguish_items_collections_and_single_keys() {
    let traffic = Traffic { sample: 200, ..Traffic::new(1).expect("a law") };
    let demand = Demand::of(&traffic.sample().expect("orders"), TILL, None).expect("a demand");
    let partitions = |index| demand.0[index].runs.iter().map(|run| run.place.partition).collect::<Vec<_>>();

    assert!(!partitions("table").contains(&"o#{orderId}"), "an order is written once");
    assert!(!partitions("GSI1").contains(&"i#{invoiceId}"), "and so is an invoice");
    let shards = partitions("GSI1").iter().filter(|&&partition| partition == "s#{status}#{shard}").count();
    assert_eq!(shards, usize::from(TILL.status_shards), "one place for each shard: its sort keys rise");

    // Header, line, invoice and stock, twice each for the transaction, and counters and views.
    let all = |index: &str| {
        let load = &demand.0[index];
        load.runs.iter().fold(load.dust, |sum, run| sum.plus(run.heat)).written
    };
    assert!((all("GSI1") - 3.0).abs() < 1e-9 && (all("GSI2") - 3.0).abs() < 1e-9);
    let beside = 20.0 + 0.1 * 2.0 + 0.05 * 4.0;
    let counted = all("table") - 8.0 - beside;
    assert!(counted > 2.0 && counted < 6.0, "three counters, of which a customer's is seldom shared: {counted}");
}
