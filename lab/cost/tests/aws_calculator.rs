//! `cargo cost` agrees with AWS's own calculator of DynamoDB's costs, where both say something. Its answers are recorded:
//! `.ci/calculator`.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use capacity::rules::{TRANSACTION, read_units, transactional_read_units, write_units};
use capacity::size::STORAGE_OVERHEAD;
use cost::prices::{PriceList, SHIPPED};
use key_schema::layout::Consistency;
use rust_decimal::{Decimal, dec};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    usd_per_million_reads: Decimal,
    usd_per_million_writes: Decimal,
    usd_per_gb_month: Decimal,
    seconds_per_month: Decimal,
    storage_overhead_bytes: usize,
    requests: Vec<Request>,
}

/// A request for so many items of one size, and its units.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    operation: String,
    size: usize,
    count: u32,
    strong: bool,
    reads: f64,
    writes: f64,
    index_writes: f64,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("aws_calculator.json")).expect("a record")
}

#[test]
fn each_request_takes_the_units_that_aws_s_calculator_says() {
    for request in recorded().requests {
        let Request { size, count, strong, .. } = request;
        let many = f64::from(count);
        let consistency = if strong { Consistency::Strong } else { Consistency::Eventual };
        let whole = size * usize::try_from(count).expect("a number");
        let (reads, writes, index_writes) = match request.operation.as_str() {
            "GetItem" | "BatchGetItem" => (many * read_units(size, consistency), 0.0, 0.0),
            "Query" => (read_units(whole, consistency), 0.0, 0.0),
            "TransactGetItems" => (many * transactional_read_units(size), 0.0, 0.0),
            "PutItem" => (0.0, write_units(size), write_units(size)),
            "UpdateItem" | "DeleteItem" => (0.0, write_units(size), 0.0),
            // An index entry is written once, also in a transaction.
            "TransactWriteItems" => (0.0, many * TRANSACTION * write_units(size), many * write_units(size)),
            other => panic!("{other} is not asked"),
        };
        let ours = [reads, writes, index_writes].map(|units| units.to_string());
        assert_eq!(
            ours,
            [request.reads, request.writes, request.index_writes].map(|units| units.to_string()),
            "{request:?}"
        );
    }
}

#[test]
fn the_prices_are_those_of_aws_s_calculator() {
    let (list, recorded) = (PriceList::parse(SHIPPED).expect("prices"), recorded());
    let price = |units: Decimal, price: &cost::prices::Price| price.of(units);
    let standard = &list.dynamodb.standard;
    assert_eq!(price(dec!(1000000), &standard.read_request), recorded.usd_per_million_reads);
    assert_eq!(price(dec!(1000000), &standard.write_request), recorded.usd_per_million_writes);
    assert_eq!(price(dec!(1), &standard.storage_gb_month), recorded.usd_per_gb_month);
    assert_eq!(STORAGE_OVERHEAD, recorded.storage_overhead_bytes);
    // A month of 730 hours is 0.3 % shorter than one of 30.5 days.
    let difference = recorded.seconds_per_month / list.month.seconds() - Decimal::ONE;
    assert!(difference > Decimal::ZERO && difference < dec!(0.003), "{difference}");
}
