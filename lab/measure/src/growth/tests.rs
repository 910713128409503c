#![allow(clippy::expect_used, reason = "tests")]

use std::time::Duration;

use indicatif::ProgressBar;
use key_schema::layout::{Declaration, IMPORTED_INVOICE_BY_ID, PATTERNS};

use super::probe::{Cost, Measured};
use super::shop::Shop;
use super::walks::{self, Walked};
use super::{fill, open, report, workload};
use crate::workspace;

/// Small shops, in memory: an operation that reads too much reads more in the larger one.
const ORDERS: [usize; 2] = [1_000, 4_000];

async fn measured(orders: usize) -> Vec<Measured> {
    let (stack, shop) = (open(None).await.expect("a stack"), Shop::new(orders).expect("a shop"));
    let database = stack.database().expect("an engine");
    fill::fill(database, stack.template().table_name(), &shop, &ProgressBar::hidden()).expect("a table");
    let operations = workload::run(&stack, &shop, 1).await.expect("every route answers");
    stack.shutdown().await.expect("the end");
    operations
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_costs_more_in_a_larger_table_and_all_costs_equal_the_page() {
    let (small, large) = tokio::join!(measured(ORDERS[0]), measured(ORDERS[1]));
    let both = ORDERS.into_iter().zip([small.as_slice(), &large]);
    let costs = [("growth-costs", report::costs(both).expect("equal costs"))];
    docs_check::check("scale.md", &costs).expect("docs/scale.md");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_access_pattern_is_measured() {
    let asked: Vec<_> = measured(400).await.into_iter().map(|operation| operation.what).collect();
    // This shop has no imported invoice.
    let patterns = || PATTERNS.iter().filter(|pattern| pattern.question != IMPORTED_INVOICE_BY_ID.declared.question);
    for Declaration { number, question, .. } in patterns() {
        // Access patterns with the same result share a number.
        let ways = patterns().filter(|pattern| pattern.number == *number).count();
        let begin = format!("{number} ");
        let asked = asked.iter().filter(|what| what.starts_with(&begin)).count();
        assert!(asked >= ways, "{number}, {question}: of {ways} such patterns growth/workload.rs asks {asked}");
    }
}

#[test]
fn an_operation_that_costs_more_in_one_table_is_named() {
    let operation = |read: f64| {
        let cost = Cost { requests: "Query".to_owned(), read, written: [0.0; 3] };
        [Measured { what: "look".to_owned(), cost }]
    };
    let refusal = |reads: [f64; 2]| {
        let tables = reads.map(operation);
        let refused = report::costs([1, 2].into_iter().zip(tables.iter().map(<[_; 1]>::as_slice))).err();
        refused.map(|error| error.to_string())
    };
    assert_eq!(refusal([0.5, 0.5]), None);
    assert!(refusal([0.5, 1.0]).is_some_and(|why| why.starts_with("look:")));
}

#[test]
fn a_slow_start_and_a_walk_that_costs_more_in_a_larger_table_are_named() {
    let walked = |items: u64, start: u64, walk: u64| {
        let [start, walk] = [start, walk].map(Duration::from_secs);
        Walked { items, start, walks: vec![("audit", walk)] }
    };
    let refusal = |large: Walked| walks::report(&[walked(1_000, 1, 1), large]).err().map(|error| error.to_string());
    assert_eq!(refusal(walked(10_000, 2, 20)), None);
    assert!(refusal(walked(10_000, 4, 20)).is_some_and(|why| why.starts_with("the start over 10000 items")));
    assert!(refusal(walked(10_000, 2, 40)).is_some_and(|why| why.starts_with("audit: 4000 µs an item")));
}

/// The measured shop is realistic: an audit finds no breach in it.
#[tokio::test(flavor = "multi_thread")]
async fn the_generated_shop_keeps_every_invariant_of_a_real_one() {
    let (stack, shop) = (open(None).await.expect("a stack"), Shop::new(400).expect("a shop"));
    let (table, database) = (stack.template().table_name(), stack.database().expect("an engine"));
    fill::fill(database, table, &shop, &ProgressBar::hidden()).expect("a table");
    let operator = workspace::operator_of(stack.dynamodb_url(), table);
    // All counts are settled: no order is younger than the shop's last moment.
    let horizon = Shop::moment(1000).expect("a moment");
    let report = local::audit::audit(&operator, horizon, |_| ()).await.expect("an audit");
    assert_eq!((report.orders, report.breaches), (400, Vec::new()));
}
