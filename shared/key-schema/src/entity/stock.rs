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
    /// What one costs: the same in all cells.
    pub price: Money,
}

/// A stock with all its cells. Pure: how units are shared out, and where an order finds its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeStock {
    /// Of which product.
    pub product_id: ProductId,
    /// What one costs.
    pub price: Money,
    /// How many can be sold from each cell: from 1 to 32 of them.
    pub units: Vec<u64>,
}

impl WholeStock {
    /// So many units in so many cells, as evenly as can be.
    pub fn shared_out(product_id: ProductId, price: Money, units: u64, cells: Cells) -> Self {
        let count = u64::from(cells.get());
        let units = (0..count).map(|cell| units / count + u64::from(cell < units % count)).collect();
        Self { product_id, price, units }
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

    /// The first cell.
    pub fn first(&self) -> Stock {
        Stock {
            product_id: self.product_id.clone(),
            available: self.units.first().copied().unwrap_or_default(),
            price: self.price,
            cells: self.cells(),
        }
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
        let mut lacks = quantity.saturating_sub(has);
        let mut moves = Vec::new();
        for (cell, units) in cells {
            let taken = units.min(lacks);
            lacks -= taken;
            moves.push((cell, taken));
        }
        moves.retain(|(_, taken)| *taken > 0);
        (lacks == 0 && !moves.is_empty()).then_some((fullest, moves))
    }
}

impl From<Stock> for WholeStock {
    /// A stock of one cell.
    fn from(stock: Stock) -> Self {
        Self { product_id: stock.product_id, price: stock.price, units: vec![stock.available] }
    }
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
        WholeStock { product_id: "thing".parse().expect("an id"), price, units }
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

        /// Whatever lies where, an order for no more than there is finds a cell, if need be after the moves.
        #[test]
        fn what_is_there_can_be_taken_from_one_cell_once_it_is_gathered(
            units in vec(0..6_u64, 1..=32), quantity in 1..200_u64, home in 0..32_u8,
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
}
