#![allow(clippy::expect_used, reason = "tests")]

use std::time::Duration;

use indicatif::ProgressBar;
use lambda::Environment;

use super::probe::{Cost, Measured};
use super::shop::Shop;
use super::{fill, open, probe, report};

/// Small ones, in memory: whoever reads more than he must reads more of the larger one.
const ORDERS: [usize; 2] = [1_000, 4_000];

async fn measured(orders: usize) -> Vec<Measured> {
    let (stack, shop) = (open(None).await.expect("a stack"), Shop::new(orders).expect("a shop"));
    let database = stack.database().expect("an engine");
    fill::fill(database, stack.template().table_name(), &shop, &ProgressBar::hidden()).expect("a table");
    let operations = probe::probe(&stack, &shop, 1).await.expect("every route answers");
    stack.shutdown().await.expect("the end");
    operations
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_costs_more_in_a_larger_table_and_all_of_it_what_the_page_says() {
    let (small, large) = tokio::join!(measured(ORDERS[0]), measured(ORDERS[1]));
    let both = ORDERS.into_iter().zip([small.as_slice(), &large]);
    let costs = [("growth-costs", report::costs(both).expect("equal costs"))];
    page::check("scale.md", &costs, "cargo test -p benches").expect("docs/scale.md");
}

#[test]
fn an_operation_that_costs_more_in_one_table_is_named() {
    let operation = |read: f64| {
        let cost = Cost { requests: "Query".to_owned(), read, written: [0.0; 3] };
        [Measured { what: "look".to_owned(), cost, route: Duration::ZERO, engine: Duration::ZERO }]
    };
    let refusal = |reads: [f64; 2]| {
        let tables = reads.map(operation);
        let refused = report::costs([1, 2].into_iter().zip(tables.iter().map(<[_; 1]>::as_slice))).err();
        refused.map(|error| error.to_string())
    };
    assert_eq!(refusal([0.5, 0.5]), None);
    assert!(refusal([0.5, 1.0]).is_some_and(|why| why.starts_with("look:")));
}

/// What is measured is a shop as it would be: whatever the operator's audit looks for, it is not there.
#[tokio::test(flavor = "multi_thread")]
async fn the_made_up_shop_keeps_every_law_of_a_real_one() {
    let (stack, shop) = (open(None).await.expect("a stack"), Shop::new(400).expect("a shop"));
    let (table, database) = (stack.template().table_name(), stack.database().expect("an engine"));
    fill::fill(database, table, &shop, &ProgressBar::hidden()).expect("a table");
    let operator = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_ENDPOINT_URL_DYNAMODB", stack.dynamodb_url()),
    ];
    let operator = Environment::of(operator.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // All of its orders are settled: none is younger than the shop's last moment.
    let horizon = Shop::moment(1000).expect("a moment");
    let report = local::audit::audit(&operator, table, horizon, |_| ()).await.expect("an audit");
    assert_eq!((report.orders, report.breaches), (400, Vec::new()));
}
