//! Every operation makes the requests that the capacity ledger declares, and consumes the units that the ledger
//! computes, to the half unit.
//!
//! The ledger computes its figures from the key schema, DynamoDB's rules, and sample items of given sizes. These tests
//! run every operation of the ledger in a shop with items of the same sizes, and compare the recorded calls.

#![allow(unreachable_pub, reason = "a test binary has no outside")]
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cells;
mod counting;
mod metered_shop;
pub mod requests;

use std::collections::BTreeSet;

use capacity::ledger;
use futures_util::future::join_all;
use key_schema::layout::PATTERNS;
use lambda::Function;
use sample_items::{Batch, Sample, SampleSizes};
use shop::engine::{Feature, lacks};

use self::metered_shop::MeteredShop;

/// Typical sizes with fewer shards, so that the test is faster.
const FEW_SHARDS: SampleSizes =
    SampleSizes { status_shards: 2, view_shards: 4, cells: 3, listed: 2, ..SampleSizes::TYPICAL };

/// Three sizes of items: the smallest (a gift card's code has at least 12 characters); above one kilobyte, the size of
/// a write unit; and above four kilobytes, the size of a read unit. The lines of a product are in one partition or in
/// several.
const SIZES: [SampleSizes; 3] = [
    SampleSizes {
        id: 12,
        name: 8,
        description: 0,
        lines: 1,
        gift_cards: 0,
        discount: false,
        cart_lines: 1,
        batch: Batch { customers: 1, products: 1, days: 1 },
        ..FEW_SHARDS
    },
    SampleSizes {
        product_shards: 3,
        name: 320,
        description: 1200,
        lines: 3,
        gift_cards: 1,
        discount: true,
        cart_lines: 10,
        batch: Batch { customers: 1, products: 3, days: 1 },
        ..FEW_SHARDS
    },
    SampleSizes {
        id: 64,
        product_shards: 7,
        name: 800,
        description: 9000,
        lines: 5,
        gift_cards: 4,
        discount: true,
        cart_lines: 40,
        batch: Batch { customers: 1, products: 5, days: 1 },
        ..FEW_SHARDS
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_makes_the_requests_and_consumes_the_units_of_the_ledger() {
    let has_no_figures = lacks(Feature::CapacityFigures);
    let books = SIZES.map(|sizes| async move {
        let mut shop = MeteredShop::open(sizes, has_no_figures).await;
        requests::send_all(&mut shop).await;
        counting::send_all(&mut shop).await;
        cells::send_all(&mut shop).await;
        shop.close()
    });
    let done: BTreeSet<_> = join_all(books).await.into_iter().flatten().collect();
    let known: BTreeSet<_> = ledger::operations().map(|operation| (operation.function, operation.case)).collect();
    assert_eq!(done, known, "an operation of the ledger is not tried here, or the other way round");
}

#[test]
fn every_function_and_every_access_pattern_is_in_the_ledger() {
    let functions: BTreeSet<_> = ledger::operations().map(|operation| operation.function.to_owned()).collect();
    assert_eq!(functions, local::functions::all().map(Function::name).collect());

    let patterns = ledger::operations().flat_map(ledger::Operation::patterns);
    let asked: BTreeSet<_> = patterns.map(|pattern| pattern.question).collect();
    let declared = PATTERNS.iter().map(|pattern| pattern.question);
    assert_eq!(asked, declared.collect());
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
