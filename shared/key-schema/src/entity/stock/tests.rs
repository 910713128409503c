//! Spreading, transferring and finding units, for any stock.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::value::Currency;

fn stock(units: Vec<u64>) -> WholeStock {
    let euro = Currency::try_from("EUR".to_owned()).expect("a currency");
    let price = Money::new(100, euro).expect("an amount");
    let cells = i64::try_from(units.len()).ok().and_then(|cells| cells.try_into().ok()).unwrap_or_default();
    WholeStock { units, ..WholeStock::shared_out("thing".parse().expect("an id"), price, 0, cells) }
}

proptest! {
    #[test]
    fn shared_out_spreads_all_units_evenly(
        units in 0..1_000_000_u64, cells in 1..=32_i64,
    ) {
        let WholeStock { product_id, price, .. } = stock(vec![]);
        let cells = Cells::try_from(cells).expect("a number of cells");
        let whole = WholeStock::shared_out(product_id, price, units, cells);
        prop_assert_eq!((whole.available(), whole.cells()), (units, cells));
        let (least, most) = (whole.units.iter().min(), whole.units.iter().max());
        prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
        prop_assert!(whole.is_even());
    }

    #[test]
    fn an_adjustment_changes_the_sum_by_exactly_its_delta_and_adds_to_few_cells(
        units in vec(0..50_u64, 1..=32), delta in -900..900_i64, most in 1..40_usize,
    ) {
        let whole = stock(units);
        let Some(after) = whole.adjusted(delta, most) else {
            prop_assert!(whole.available() < delta.unsigned_abs() && delta < 0);
            return Ok(());
        };
        prop_assert_eq!(Some(after.iter().sum()), whole.available().checked_add_signed(delta));
        prop_assert_eq!(after.len(), whole.units.len());
        let touched = after.iter().zip(&whole.units).filter(|(after, before)| after != before).count();
        if delta > 0 && most < whole.units.len() {
            prop_assert!(touched <= most);
        }
    }

    #[test]
    fn levelling_transfers_can_be_made_one_by_one_and_end_in_an_even_stock(units in vec(0..50_u64, 1..=32)) {
        let mut whole = stock(units);
        let before = whole.available();
        let transfers = whole.levelling();
        prop_assert!(transfers.len() < whole.units.len());
        for (from, to, units) in transfers {
            prop_assert!(units > 0 && from != to && whole.units[usize::from(from)] >= units);
            whole.units[usize::from(from)] -= units;
            whole.units[usize::from(to)] += units;
        }
        prop_assert!(whole.is_even());
        prop_assert_eq!(whole.available(), before);
    }

    #[test]
    fn a_change_of_the_number_of_cells_keeps_the_sum(
        units in vec(0..50_u64, 1..=32), cells in 1..=32_i64, evenly: bool,
    ) {
        let mut whole = stock(units);
        whole.transferred = (1..).take(whole.units.len()).collect();
        let cells = Cells::try_from(cells).expect("a number of cells");
        let after = whole.laid_out(cells, evenly);
        prop_assert_eq!((after.available(), after.cells()), (whole.available(), cells));
        prop_assert!(!evenly || after.is_even());
        prop_assert_eq!(after.transferred.len(), after.units.len());
        prop_assert!(after.transferred.iter().zip(&whole.transferred).all(|(after, before)| after == before));
    }

    /// An order for no more than the sum of all cells finds a cell with enough, if necessary after the transfers.
    #[test]
    fn any_available_quantity_can_be_taken_from_one_cell_after_the_transfers(
        units in vec(0..6_u64, 1..=32), quantity in prop_oneof![1..8_u64, 1..200_u64], home in 0..32_u8,
    ) {
        let whole = stock(units);
        let enough = whole.available() >= quantity;
        match (whole.cell_with(quantity, home), whole.transfers(quantity)) {
            (Some(cell), transfers) => {
                prop_assert!(whole.units[usize::from(cell)] >= quantity);
                prop_assert!(transfers.is_none(), "no transfer is needed");
                if whole.units.get(usize::from(home)).is_some_and(|units| *units >= quantity) {
                    prop_assert_eq!(cell, home);
                }
            }
            (None, None) => prop_assert!(!enough),
            (None, Some((to, transfers))) => {
                prop_assert!(enough);
                let mut after = whole.clone();
                for (from, transferred) in transfers {
                    prop_assert!(from != to && transferred > 0 && after.units[usize::from(from)] >= transferred);
                    after.units[usize::from(from)] -= transferred;
                    after.units[usize::from(to)] += transferred;
                }
                prop_assert_eq!(after.available(), whole.available());
                prop_assert_eq!(after.units[usize::from(to)], quantity);
            }
        }
    }
}

#[test]
fn a_stock_is_even_if_no_cell_has_two_more_than_another() {
    for (units, is_even) in [(vec![7], true), (vec![1, 0], true), (vec![2, 0], false), (vec![3, 5, 4], false)] {
        assert_eq!(stock(units.clone()).is_even(), is_even, "{units:?}");
    }
}

#[test]
fn a_new_first_cell_has_no_attributes_with_default_values() {
    let repriced = WholeStock { price_version: 7, ..stock(vec![2, 3]) };
    let first = repriced.first();
    assert_eq!((first.available, first.price_version, first.cells), (2, 7, repriced.cells()));
    let attributes = |stock: &Stock| {
        let item: serde_dynamo::Item = serde_dynamo::to_item(stock).expect("an item");
        let mut names: Vec<_> = item.into_inner().into_keys().collect();
        names.sort();
        names
    };
    assert_eq!(attributes(&stock(vec![2]).first()), ["available", "price", "productId"]);
    assert_eq!(attributes(&first), ["available", "cells", "price", "priceVersion", "productId"]);
}
