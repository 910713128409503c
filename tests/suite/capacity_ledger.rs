//! Every operation asks of DynamoDB what the ledger says, and is charged what the ledger computes, to the half unit.
//!
//! The ledger's figures come from the key schema, from DynamoDB's rules and from a sample of items of some size. Here
//! a shop with items of that size does everything that the ledger knows, over a fault proxy that records each call.

mod cells;
mod counting;
mod metered_shop;
pub mod requests;

use std::collections::BTreeSet;

use capacity::ledger;
use capacity::sample::{Batch, Sample, SampleSizes};
use futures_util::future::join_all;
use key_schema::layout::PATTERNS;

use self::metered_shop::MeteredShop;
use crate::completeness;
use crate::engine::{Feature, lacks};

/// As the template has it, but quicker to walk through.
const FEW_SHARDS: SampleSizes =
    SampleSizes { status_shards: 2, view_shards: 4, cells: 3, listed: 2, ..SampleSizes::TYPICAL };

/// Items as small as can be (a gift card's code has 12 characters at least); of more than one kilobyte, where a write
/// unit ends; and of more than four, where a read unit does. The lines of a product are in one partition, and in several.
const EXTENTS: [SampleSizes; 3] = [
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
async fn every_operation_asks_and_is_charged_what_the_ledger_says_whatever_the_size() {
    let has_no_figures = lacks(Feature::CapacityFigures);
    let books = EXTENTS.map(|sizes| async move {
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
    let consumers = ::functions::CONSUMERS.iter().map(::functions::Consumer::name);
    assert_eq!(functions, completeness::names().into_iter().chain(consumers).collect());

    let patterns = ledger::operations().flat_map(ledger::Operation::patterns);
    let asked: BTreeSet<_> = patterns.map(|pattern| pattern.question).collect();
    let declared = PATTERNS.iter().map(|pattern| pattern.question);
    assert_eq!(asked, declared.collect());
}

/// What the drain takes out of its budget before it places an order.
#[test]
fn an_order_is_expected_to_consume_what_the_ledger_says() {
    for (lines, gift_cards, discount) in [(1, 0, false), (2, 1, true), (40, 4, true)] {
        let sizes = SampleSizes { lines, gift_cards, discount, ..SampleSizes::TYPICAL };
        let sample = Sample::new(sizes).expect("a sample");
        let charge = ledger::find("drain-writes", "placed").expect("an operation").charge(&sample);
        let expected = metered_shop::expected(&sizes);
        assert_eq!(expected, (charge.write.table, charge.write.gsi1, charge.write.gsi2), "{sizes:?}");
    }
}
