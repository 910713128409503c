//! Tests of the ledger, with charges counted by hand for short operations.

use sample_items::SampleSizes;

use super::*;

fn typical() -> Sample {
    Sample::new(SampleSizes::TYPICAL).expect("a sample")
}

fn charge(function: &str, case: &str) -> Charge {
    find(function, case).expect("an operation").charge(&typical())
}

#[test]
fn an_order_of_two_lines_has_the_charge_counted_by_hand() {
    // Six small items in a transaction; header, invoice and lines have an entry in each index; eight keys are read.
    let placed = charge("place-order", "placed");
    assert_eq!(placed.write, Units { table: 12.0, gsi1: 4.0, gsi2: 4.0 });
    assert_eq!((placed.requests, placed.read), (2.0, Units { table: 4.0, ..Units::default() }));
}

#[test]
fn reads_of_one_collection_are_one_request() {
    let half = Units { table: 0.5, ..Units::default() };
    assert_eq!(charge("get-product", "found"), Charge { requests: 1.0, read: half, write: Units::default() });
    assert_eq!(charge("get-order", "found"), Charge { requests: 1.0, read: half * 2.0, write: Units::default() });
}

#[test]
fn seven_more_shards_of_a_product_add_seven_queries_for_each_list_of_its_orders_and_no_write() {
    let charge = |function, case, product_shards| {
        let sample = Sample::new(SampleSizes { product_shards, ..SampleSizes::TYPICAL }).expect("a sample");
        find(function, case).expect("an operation").charge(&sample)
    };
    let page = |shards| charge("list-product-orders", "a page", shards);
    assert_eq!((page(1).requests, page(1).read.gsi1), (1.0, 1.0));
    assert_eq!((page(8).requests, page(8).read.gsi1), (8.0, 4.0));
    // Each of two products is queried twice: for a later order, and for its orders.
    let day = |shards| charge("reconcile-counts", "a day of one order", shards);
    assert_eq!(day(8).requests - day(1).requests, 28.0);
    assert_eq!(day(8).read.total() - day(1).read.total(), 14.0);
    assert_eq!(charge("place-order", "placed", 1), charge("place-order", "placed", 8));
}

fn kinds(request: &Request) -> Vec<Kind> {
    let of = |write: &Write| match *write {
        Write::New(kind) | Write::Delete(kind) | Write::Check(kind) => vec![kind],
        Write::Over(before, after) | Write::Update(before, after) => vec![before, after],
    };
    match request {
        Request::Query(_, kinds)
        | Request::Keys(_, kinds)
        | Request::Batch(_, kinds)
        | Request::ReadTransaction(kinds) => kinds.iter().map(|kind| kind.of).collect(),
        Request::Write(write) | Request::Failed(write) => of(write),
        Request::Transaction(writes) | Request::Cancelled(writes) | Request::Repeated(writes) => {
            writes.iter().flat_map(|write| of(&write.of)).collect()
        }
    }
}

#[test]
fn the_sample_has_an_item_of_every_kind_in_the_ledger() {
    let sample = typical();
    for operation in operations() {
        for kind in operation.requests.iter().flat_map(|request| kinds(&request.of)) {
            assert!(kind == Kind::Absent || sample.item(kind).is_some(), "{}: {kind:?}", operation.function);
        }
    }
}

#[test]
fn a_query_finds_only_the_kinds_that_its_pattern_declares() {
    let sample = typical();
    for operation in operations() {
        for request in &operation.requests {
            let (Request::Query(pattern, kinds) | Request::Keys(pattern, kinds)) = &request.of else { continue };
            for item in kinds.iter().filter_map(|kind| sample.item(kind.of)) {
                let Some(serde_dynamo::AttributeValue::S(entity)) = item.get("EntityType") else { panic!("{item:?}") };
                assert!(pattern.entities.contains(&entity.as_str()), "{}: {entity}", pattern.question);
            }
        }
    }
}

#[test]
fn no_case_of_a_function_is_there_twice() {
    let mut cases: Vec<_> = operations().map(|operation| (&operation.function, &operation.case)).collect();
    cases.sort_unstable();
    assert!(cases.windows(2).all(|two| two[0] != two[1]), "{cases:?}");
}

#[test]
fn the_text_of_the_ledger_is_the_ledger() {
    let printed = operations().fold(String::new(), |text, operation| format!("{text}\n{operation}"));
    assert!(RECORDED.ends_with(&printed), "{printed}");
}

#[test]
fn a_number_is_the_simplest_one_that_fits() {
    let sizes = |lines, cells| SampleSizes { lines, cells, ..SampleSizes::TYPICAL };
    let fit = |small, large| Many::fit(&[(sizes(2, 3), small), (sizes(5, 4), large)]).map(|many| many.to_string());
    let of = |text: &str| Some(text.to_owned());
    assert_eq!((fit(1, 1), fit(2, 5), fit(3, 4)), (of("1"), of("lines"), of("cells")));
    assert_eq!((fit(6, 15), fit(3, 6), fit(2, 3)), (of("3*lines"), of("lines+1"), of("cells-1")));
    assert_eq!(fit(1, 100), None);
    for text in ["7", "lines", "3*lines", "lines*product-shards", "2*lines*product-shards", "cells-1", "lines+1"] {
        assert_eq!(text.parse::<Many>().expect("a number").to_string(), text);
    }
}
