//! The capacity ledger is what the functions do, and its charges are what the engine reports, to the half unit.
//!
//! The ledger is recorded: each case runs in shops of four sizes, and from the numbers of requests and items follows how
//! they depend on the sizes. The charges are computed from the ledger, the key schema, DynamoDB's rules and sample items
//! of the same sizes, so the comparison with the engine checks all of these.
//!
//! A function without a case here is recorded from its sample event. `cargo renew` writes the ledger,
//! `lab/capacity/operations.txt`.
#![allow(unreachable_pub, reason = "a test binary has no outside")]
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cells;
mod counting;
mod examples;
mod form;
mod limits;
mod metered_shop;
mod payments;
mod record;
mod requests;
mod solve;

use std::collections::BTreeSet;

use capacity::ledger::{self, Operation, Size};
use futures_util::future::join_all;
use futures_util::join;
use key_schema::layout::PATTERNS;
use sample_items::{Batch, Sample, SampleSizes};
use shop::engine::{Feature, lacks};

use self::metered_shop::{Book, MeteredShop};

/// Sizes of items: the smallest (a gift card's code has at least 12 characters); above one kilobyte, the size of a
/// write unit; and above four kilobytes, the size of a read unit.
///
/// Each number that the ledger knows has other values in these than every other, which a test checks. So the values
/// tell which number it is. The last sizes are small, and tell parts that can be missing. The items of a page fit into
/// one read unit, because a page in several shards is charged for the share that each shard is asked for.
const SIZES: [SampleSizes; 4] = [
    SampleSizes {
        id: 12,
        name: 8,
        description: 0,
        lines: 2,
        gift_cards: 1,
        discount: true,
        cart_lines: 4,
        listed: 3,
        status_shards: 2,
        product_shards: 1,
        view_shards: 4,
        cells: 3,
        batch: Batch { customers: 2, products: 4, days: 2 },
    },
    SampleSizes {
        id: 36,
        name: 320,
        description: 1200,
        lines: 3,
        gift_cards: 3,
        discount: true,
        cart_lines: 10,
        listed: 4,
        status_shards: 3,
        product_shards: 3,
        view_shards: 6,
        cells: 4,
        batch: Batch { customers: 3, products: 5, days: 3 },
    },
    SampleSizes {
        id: 64,
        name: 800,
        description: 9000,
        lines: 5,
        gift_cards: 4,
        discount: false,
        cart_lines: 40,
        listed: 2,
        status_shards: 4,
        product_shards: 7,
        view_shards: 5,
        cells: 6,
        batch: Batch { customers: 4, products: 9, days: 2 },
    },
    SampleSizes {
        id: 12,
        name: 8,
        description: 0,
        lines: 1,
        gift_cards: 0,
        discount: false,
        cart_lines: 1,
        listed: 2,
        status_shards: 2,
        product_shards: 1,
        view_shards: 4,
        cells: 3,
        batch: Batch { customers: 1, products: 1, days: 1 },
    },
];

const UPDATE: &str = "cargo renew";

/// The first lines of the ledger.
const HEAD: &str = "\
# The requests of each case of each function, as the tests record them: see lab/capacity/src/ledger/text.rs. Written by
# `cargo renew`.
";

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_is_what_the_functions_do_and_charges_what_the_engine_reports() {
    let has_no_figures = lacks(Feature::CapacityFigures);
    let books = join_all(SIZES.map(|sizes| async move {
        let mut shop = MeteredShop::open(sizes, has_no_figures).await;
        requests::send_all(&mut shop).await;
        counting::send_all(&mut shop).await;
        cells::send_all(&mut shop).await;
        payments::send_all(&mut shop).await;
        requests::marked(&mut shop).await;
        (sizes, shop.close())
    }));
    let examples = join_all(SIZES.map(|sizes| async move { (sizes, examples::record(sizes).await) }));
    let (books, examples) = join!(books, examples);

    let mut operations: Vec<_> =
        names(&books).into_iter().map(|(of, case)| solve::operation(&of, &case, &books)).collect();
    let has_case: BTreeSet<_> = operations.iter().map(|operation| operation.function.clone()).collect();
    let without = names(&examples).into_iter().filter(|(function, _)| !has_case.contains(function));
    operations.extend(without.map(|(function, case)| solve::operation(&function, &case, &examples)));

    let mut differences = Vec::new();
    for (sizes, book) in books.iter().filter(|_| !has_no_figures) {
        let sample = Sample::new(*sizes).expect("a sample");
        for operation in &operations {
            let Some(recorded) = book.get(&(operation.function.clone(), operation.case.clone())) else { continue };
            let computed = operation.reported(&sample);
            if computed != recorded.reported {
                differences.push(format!("{operation}{:?}\n  instead of {computed:?}\n  {sizes:?}", recorded.reported));
            }
        }
    }
    assert!(differences.is_empty(), "the engine reports other charges:\n{}", differences.join("\n"));
    check_text(operations);
}

/// The names of all cases.
fn names(books: &[(SampleSizes, Book)]) -> BTreeSet<(String, String)> {
    books.iter().flat_map(|(_, book)| book.keys().cloned()).collect()
}

/// Compares the operations with the ledger's text, or writes it. An operation keeps its place.
fn check_text(mut operations: Vec<Operation>) {
    let known: Vec<_> = ledger::operations().map(|known| (&known.function, &known.case)).collect();
    let place = |operation: &Operation| {
        let is_it = |known: &(&String, &String)| *known == (&operation.function, &operation.case);
        known.iter().position(is_it).unwrap_or(usize::MAX)
    };
    operations.sort_by_key(place);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/operations.txt");
    let text = operations.iter().fold(HEAD.to_owned(), |text, operation| format!("{text}\n{operation}"));
    // Requests that are made in parallel have no order.
    let sorted = |text: &str| -> Vec<String> {
        let mut operations: Vec<_> = text.split("\n\n").map(str::to_owned).collect();
        for operation in &mut operations {
            let mut lines: Vec<_> = operation.lines().collect();
            lines.sort_unstable();
            *operation = lines.join("\n");
        }
        operations
    };
    let (is, said) = (sorted(&text), sorted(&std::fs::read_to_string(file).expect("the ledger")));
    if docs_check::is_written() {
        if is != said {
            std::fs::write(file, text).expect("the ledger can be written");
        }
        return;
    }
    let other: Vec<_> = is.iter().filter(|operation| !said.contains(operation)).cloned().collect();
    assert!(is == said, "operations.txt is stale: {UPDATE}\n{}", other.join("\n\n"));
}

#[test]
fn the_sizes_tell_every_number_from_every_other() {
    for (one, _) in Size::ALL {
        for (other, _) in Size::ALL.into_iter().filter(|(other, _)| *other != one) {
            let differ = SIZES.iter().any(|sizes| one.of(sizes) != other.of(sizes));
            assert!(differ, "{one:?} and {other:?}");
        }
    }
}

/// The functions that run only while a table migrates. What they cost depends on the items that they copy:
/// docs/migrating.md has the units of each phase, which `migration::cost` measures.
const OF_A_MIGRATION: [&str; 2] = ["copy-items", "repair-copies"];

#[test]
fn every_function_and_every_access_pattern_is_in_the_ledger() {
    let recorded: BTreeSet<_> = ledger::operations().map(|operation| operation.function.clone()).collect();
    let functions = local::functions::all().map(lambda::Function::name);
    assert_eq!(recorded, functions.filter(|function| !OF_A_MIGRATION.contains(&function.as_str())).collect());

    let asked: Vec<_> = ledger::operations().flat_map(Operation::patterns).collect();
    for pattern in PATTERNS {
        assert!(asked.iter().any(|asked| ledger::reads_like(asked, pattern)), "{}", pattern.question);
    }
}

/// The units that the drain reserves before it places an order.
#[test]
fn the_drain_reserves_the_units_that_the_ledger_computes() {
    for (lines, gift_cards, discount) in [(1, 0, false), (2, 1, true), (40, 4, true)] {
        let sizes = SampleSizes { lines, gift_cards, discount, ..SampleSizes::TYPICAL };
        let sample = Sample::new(sizes).expect("a sample");
        let charge = ledger::find("drain-writes", "placed").expect("an operation").charge(&sample);
        let expected = metered_shop::expected(&sizes);
        assert_eq!(expected, (charge.write.table, charge.write.gsi1, charge.write.gsi2), "{sizes:?}");
    }
}
