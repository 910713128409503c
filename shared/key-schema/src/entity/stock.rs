//! The stock of a product, in one cell or in several.

use serde::{Deserialize, Serialize};

use crate::value::{Cells, Money, ProductId};

/// How many of a product can be sold, and at what price: all of them, or those in the first cell of several.
///
/// Apart from the product, so that a sale writes neither the product nor its index entry. `price` is the product's; the
/// product owns it, and a price change writes both in one transaction. The number of cells is here, and not in the
/// product, because whoever reads `available` must know at the same moment whether that is all there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stock {
    /// Of which product.
    pub product_id: ProductId,
    /// How many can be sold. Never below zero.
    pub available: u64,
    /// What one costs: the copy that an order's condition checks.
    pub price: Money,
    /// In how many cells the stock lies. This item is the first.
    #[serde(default, skip_serializing_if = "Cells::is_one")]
    pub cells: Cells,
    /// The version of the product that set this price. 0 for the price it began with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub price_version: u64,
    /// How often units came into this cell from outside of the stock: from a cancelled order, or from the shop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub put_backs: u64,
    /// The marks of all moves into this cell, less those of all moves out of it. A move has a random mark, so over all
    /// cells these add up to zero exactly when no move is half visible.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moved: i64,
}

/// Another cell of a stock that lies in several: so many of its units can be sold, and are in no other cell.
///
/// An order takes from one cell, so that orders of one product are in each other's way only within a cell. What can be
/// sold is the sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockCell {
    /// Of which product.
    pub product_id: ProductId,
    /// Which cell: 1 for the second, which is the first of these.
    pub cell: u8,
    /// How many can be sold from it. Never below zero.
    pub available: u64,
    /// What one costs. The first cell has the price that counts, and in this one it may be behind: see `price_version`.
    pub price: Money,
    /// The version of the product that set this price. 0 for the price it began with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub price_version: u64,
    /// How often units came into this cell from outside of the stock: from a cancelled order, or from the shop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub put_backs: u64,
    /// The marks of all moves into this cell, less those of all moves out of it. A move has a random mark, so over all
    /// cells these add up to zero exactly when no move is half visible.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moved: i64,
}

/// A stock with all its cells. Pure: how units are shared out, and where an order finds its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeStock {
    /// Of which product.
    pub product_id: ProductId,
    /// What one costs.
    pub price: Money,
    /// The version of the product that set this price.
    pub price_version: u64,
    /// How many can be sold from each cell: from 1 to 32 of them.
    pub units: Vec<u64>,
    /// The marks that each cell has of moves.
    pub moved: Vec<i64>,
    /// The cells, other than the first, that do not have its price yet.
    pub behind: Vec<u8>,
}

impl WholeStock {
    /// So many units in so many cells, as evenly as can be.
    pub fn shared_out(product_id: ProductId, price: Money, units: u64, cells: Cells) -> Self {
        let count = u64::from(cells.get());
        let units = (0..count).map(|cell| units / count + u64::from(cell < units % count)).collect();
        Self { product_id, price, price_version: 0, units, moved: vec![0; cells.get().into()], behind: Vec::new() }
    }

    /// The same stock laid out in so many cells: as evenly as can be, or else with as little change as can be. What is in
    /// cells that are given up goes to the first.
    #[must_use]
    pub fn laid_out(&self, cells: Cells, evenly: bool) -> Self {
        let count = usize::from(cells.get());
        let (mut units, mut moved) = (self.units.clone(), self.moved.clone());
        if evenly {
            let even = Self::shared_out(self.product_id.clone(), self.price, self.available(), cells);
            units = even.units;
        } else {
            let given_up: u64 = units.iter().skip(count).sum();
            units.resize(count, 0);
            units[0] += given_up;
        }
        moved.resize(count, 0);
        Self { units, moved, ..self.clone() }
    }

    /// How many units each cell is to have after `delta` of them arrive, or are taken out, if no more than `most` cells
    /// should be written: the emptiest ones get them. As many as there are: then the whole stock is shared out anew.
    /// `None` if there are not as many.
    pub fn adjusted(&self, delta: i64, most: usize) -> Option<Vec<u64>> {
        let available = self.available().checked_add_signed(delta)?;
        if most >= self.units.len() {
            let even = Self::shared_out(self.product_id.clone(), self.price, available, self.cells());
            return Some(even.units);
        }
        let mut units = self.units.clone();
        let mut emptiest: Vec<_> = (0..units.len()).collect();
        emptiest.sort_by_key(|cell| units[*cell]);
        if delta >= 0 {
            let (count, more) = (most.max(1), delta.unsigned_abs());
            let shares = (0_u64..).map(|at| more / count as u64 + u64::from(at < more % count as u64));
            for (cell, share) in emptiest.into_iter().take(count).zip(shares) {
                units[cell] += share;
            }
        } else {
            let mut rest = delta.unsigned_abs();
            for cell in emptiest.into_iter().rev() {
                let taken = units[cell].min(rest);
                units[cell] -= taken;
                rest -= taken;
            }
        }
        Some(units)
    }

    /// The moves, each of some units from one cell to another, after which the units are shared out evenly. At most one
    /// fewer than there are cells.
    pub fn levelling(&self) -> Vec<(u8, u8, u64)> {
        let even = self.laid_out(self.cells(), true).units;
        let differences = || (0_u8..).zip(self.units.iter().zip(&even));
        let mut too_few: Vec<_> = differences()
            .filter(|(_, (has, wants))| has < wants)
            .map(|(cell, (has, wants))| (cell, wants - has))
            .collect();
        let mut moves = Vec::new();
        for (from, (has, keeps)) in differences() {
            let mut surplus = has.saturating_sub(*keeps);
            while let Some((to, deficit)) = too_few.last_mut().filter(|_| surplus > 0) {
                let units = surplus.min(*deficit);
                moves.push((from, *to, units));
                (surplus, *deficit) = (surplus - units, *deficit - units);
                if *deficit == 0 {
                    too_few.pop();
                }
            }
        }
        moves
    }

    /// Whether the units are shared out as evenly as can be.
    pub fn is_even(&self) -> bool {
        let (least, most) = (self.units.iter().min(), self.units.iter().max());
        most.zip(least).is_none_or(|(most, least)| most - least <= 1)
    }

    /// How many can be sold.
    pub fn available(&self) -> u64 {
        self.units.iter().sum()
    }

    /// In how many cells they lie.
    pub fn cells(&self) -> Cells {
        i64::try_from(self.units.len()).ok().and_then(|cells| cells.try_into().ok()).unwrap_or_default()
    }

    /// The first cell, as it is written when the stock begins.
    pub fn first(&self) -> Stock {
        let available = self.units.first().copied().unwrap_or_default();
        let first = Stock::new(self.product_id.clone(), available, self.price, self.cells());
        Stock { price_version: self.price_version, ..first }
    }

    /// The cell with `quantity` units that comes first, beginning with cell `home` and going round; `None` if no cell
    /// has as many.
    pub fn cell_with(&self, quantity: u64, home: u8) -> Option<u8> {
        let cells = || (0_u8..).zip(&self.units).filter(|(_, units)| **units >= quantity).map(|(cell, _)| cell);
        cells().find(|cell| *cell >= home).or_else(|| cells().next())
    }

    /// What to take out of which cells, so that the fullest, which is named first, comes to hold `quantity`: the fewest
    /// moves that there are. Nothing is moved if all of them together do not hold as many.
    pub fn moves(&self, quantity: u64) -> Option<(u8, Vec<(u8, u64)>)> {
        let mut cells: Vec<_> = (0_u8..).zip(self.units.iter().copied()).collect();
        cells.sort_by_key(|(_, units)| std::cmp::Reverse(*units));
        let mut cells = cells.into_iter();
        let (fullest, has) = cells.next()?;
        let mut deficit = quantity.saturating_sub(has);
        let mut moves = Vec::new();
        for (cell, units) in cells {
            let taken = units.min(deficit);
            deficit -= taken;
            moves.push((cell, taken));
        }
        moves.retain(|(_, taken)| *taken > 0);
        (deficit == 0 && !moves.is_empty()).then_some((fullest, moves))
    }
}

impl From<Stock> for WholeStock {
    /// A stock of one cell.
    fn from(stock: Stock) -> Self {
        let Stock { product_id, available, price, price_version, moved, .. } = stock;
        Self { product_id, price, price_version, units: vec![available], moved: vec![moved], behind: Vec::new() }
    }
}

impl Stock {
    /// A first cell that nothing has happened to.
    pub fn new(product_id: ProductId, available: u64, price: Money, cells: Cells) -> Self {
        Self { product_id, available, price, cells, price_version: 0, put_backs: 0, moved: 0 }
    }
}

impl StockCell {
    /// Another cell that nothing has happened to.
    pub fn new(product_id: ProductId, cell: u8, available: u64, price: Money) -> Self {
        Self { product_id, cell, available, price, price_version: 0, put_backs: 0, moved: 0 }
    }
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

#[cfg(test)]
mod tests {
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
        fn units_are_shared_out_to_the_last_and_no_cell_has_two_more_than_another(
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
        fn units_that_arrive_or_are_taken_out_are_neither_more_nor_less_in_however_few_cells(
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
        fn units_are_levelled_by_moves_that_can_be_made_one_after_the_other(units in vec(0..50_u64, 1..=32)) {
            let mut whole = stock(units);
            let before = whole.available();
            let moves = whole.levelling();
            prop_assert!(moves.len() < whole.units.len());
            for (from, to, units) in moves {
                prop_assert!(units > 0 && from != to && whole.units[usize::from(from)] >= units);
                whole.units[usize::from(from)] -= units;
                whole.units[usize::from(to)] += units;
            }
            prop_assert!(whole.is_even());
            prop_assert_eq!(whole.available(), before);
        }

        #[test]
        fn a_stock_laid_out_in_more_or_fewer_cells_is_the_same_stock(
            units in vec(0..50_u64, 1..=32), cells in 1..=32_i64, evenly: bool,
        ) {
            let mut whole = stock(units);
            whole.moved = (1..).take(whole.units.len()).collect();
            let cells = Cells::try_from(cells).expect("a number of cells");
            let after = whole.laid_out(cells, evenly);
            prop_assert_eq!((after.available(), after.cells()), (whole.available(), cells));
            prop_assert!(!evenly || after.is_even());
            prop_assert_eq!(after.moved.len(), after.units.len());
            prop_assert!(after.moved.iter().zip(&whole.moved).all(|(after, before)| after == before));
        }

        /// Whatever lies where, an order for no more than there is finds a cell, if need be after the moves.
        #[test]
        fn what_is_there_can_be_taken_from_one_cell_once_it_is_gathered(
            units in vec(0..6_u64, 1..=32), quantity in prop_oneof![1..8_u64, 1..200_u64], home in 0..32_u8,
        ) {
            let whole = stock(units);
            let enough = whole.available() >= quantity;
            match (whole.cell_with(quantity, home), whole.moves(quantity)) {
                (Some(cell), moves) => {
                    prop_assert!(whole.units[usize::from(cell)] >= quantity);
                    prop_assert!(moves.is_none(), "nothing has to be moved");
                    if whole.units.get(usize::from(home)).is_some_and(|units| *units >= quantity) {
                        prop_assert_eq!(cell, home);
                    }
                }
                (None, None) => prop_assert!(!enough),
                (None, Some((to, moves))) => {
                    prop_assert!(enough);
                    let mut after = whole.clone();
                    for (from, moved) in moves {
                        prop_assert!(from != to && moved > 0 && after.units[usize::from(from)] >= moved);
                        after.units[usize::from(from)] -= moved;
                        after.units[usize::from(to)] += moved;
                    }
                    prop_assert_eq!(after.available(), whole.available());
                    prop_assert_eq!(after.units[usize::from(to)], quantity);
                }
            }
        }
    }

    #[test]
    fn a_stock_is_even_when_no_cell_has_two_more_than_another() {
        for (units, is_even) in [(vec![7], true), (vec![1, 0], true), (vec![2, 0], false), (vec![3, 5, 4], false)] {
            assert_eq!(stock(units.clone()).is_even(), is_even, "{units:?}");
        }
    }

    #[test]
    fn the_first_cell_has_the_price_and_its_version_and_nothing_of_what_has_not_happened() {
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
}
