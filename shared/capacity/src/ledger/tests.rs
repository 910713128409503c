//! What the ledger says, by hand where it is short enough to be counted.

use super::*;

fn typical() -> Sample {
    Sample::new(Extent::TYPICAL).expect("a sample")
}

fn charge(function: &str, course: &str) -> Charge {
    find(function, course).expect("an operation").charge(&typical())
}

#[test]
fn an_order_of_two_lines_costs_what_anybody_can_count() {
    // Six small items in a transaction; header, invoice and lines have an entry in each index; seven keys are read.
    let placed = charge("place-order", "placed");
    assert_eq!(placed.write, Units { table: 12.0, gsi1: 4.0, gsi2: 4.0 });
    assert_eq!((placed.requests, placed.read), (2.0, Units { table: 3.5, ..Units::default() }));
}

#[test]
fn reads_of_one_collection_are_one_request() {
    let half = Units { table: 0.5, ..Units::default() };
    assert_eq!(charge("get-product", "found"), Charge { requests: 1.0, read: half, write: Units::default() });
    assert_eq!(charge("get-order", "found"), Charge { requests: 1.0, read: half * 2.0, write: Units::default() });
}
