//! The stock of a product, in one or several cells.

use serde::{Deserialize, Serialize};

use crate::value::{Cells, Money, ProductId};

#[cfg(test)]
mod tests;

/// The stock of a product, or the first of its cells if it has several.
///
/// It is separate from the product, so that a sale writes neither the product nor the product's index entry. `price` is
/// a copy of the product's price; a price change writes both in one transaction. The number of cells is here and not in
/// the product, because a reader of `available` must know at the same moment whether there are other cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stock {
    pub product_id: ProductId,
    /// The units in this cell that can be sold. Never negative.
    pub available: u64,
    /// The price of one unit, which an order's condition checks.
    pub price: Money,
    /// The number of cells, including this one.
    #[serde(default, skip_serializing_if = "Cells::is_one")]
    pub cells: Cells,
    /// The version of the product that set this price and `recalled`. 0 for the initial ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub price_version: u64,
    /// Whether the product is recalled, so that no order may take its units. Only the first cell says so. It changes as
    /// the price does, with a new `price_version`, so an order that read an older version is refused by every cell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recalled: bool,
    /// The number of writes that brought units into this cell from a cancelled order or from the shop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub put_backs: u64,
    /// The sum of the marks of all transfers into and out of this cell. The marks of one transfer are random numbers
    /// that add up to zero. So if the sums of all cells do not add up to zero, only a part of a transfer is visible.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transferred: i64,
    /// The units in the unpaid orders of guests, whichever cell they were taken from. Only the first cell counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_by_guests: i64,
}

/// A further cell of a stock that has several.
///
/// An order line takes its units from one cell, so orders of the same product conflict only within a cell. The units
/// that can be sold are the sum of all cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockCell {
    pub product_id: ProductId,
    /// The number of the cell, from 1. (Number 0 is the first cell, [`Stock`].)
    pub cell: u8,
    /// The units in this cell that can be sold. Never negative.
    pub available: u64,
    /// The price of one unit. The first cell's price is the valid one; this cell's may be older: see `price_version`.
    pub price: Money,
    /// The version of the product that set this price. 0 for the initial price.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub price_version: u64,
    /// As in [`Stock`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub put_backs: u64,
    /// As in [`Stock`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transferred: i64,
}

/// A stock with all of its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeStock {
    pub product_id: ProductId,
    /// The first cell's price of one unit.
    pub price: Money,
    /// The version of the product that set this price and `recalled`.
    pub price_version: u64,
    /// Whether the product is recalled, as the first cell says.
    pub recalled: bool,
    /// The units in each cell. There are 1 to 32 cells.
    pub units: Vec<u64>,
    /// The sum of the marks of transfers in each cell.
    pub transferred: Vec<i64>,
    /// The numbers of the cells that have an older price than the first cell.
    pub behind: Vec<u8>,
    /// The units in the unpaid orders of guests.
    pub held_by_guests: i64,
}

impl WholeStock {
    /// A stock whose units are spread evenly over its cells.
    pub fn shared_out(product_id: ProductId, price: Money, units: u64, cells: Cells) -> Self {
        let count = u64::from(cells.get());
        let units = (0..count).map(|cell| units / count + u64::from(cell < units % count)).collect();
        let transferred = vec![0; cells.get().into()];
        Self {
            product_id,
            price,
            price_version: 0,
            recalled: false,
            units,
            transferred,
            behind: Vec::new(),
            held_by_guests: 0,
        }
    }

    /// The same stock in another number of cells: evenly spread, or with as few changes as possible. The units of
    /// removed cells go to the first cell.
    #[must_use]
    pub fn laid_out(&self, cells: Cells, evenly: bool) -> Self {
        let count = usize::from(cells.get());
        let (mut units, mut transferred) = (self.units.clone(), self.transferred.clone());
        if evenly {
            let even = Self::shared_out(self.product_id.clone(), self.price, self.available(), cells);
            units = even.units;
        } else {
            let removed: u64 = units.iter().skip(count).sum();
            units.resize(count, 0);
            units[0] += removed;
        }
        transferred.resize(count, 0);
        Self { units, transferred, ..self.clone() }
    }

    /// The units of each cell after an adjustment by `delta`; `None` if there are too few to take away.
    ///
    /// If `most` is at least the number of cells, all units are spread evenly. Otherwise at most `most` cells, the
    /// emptiest ones, get the units that are added; units to take away come from the fullest cells.
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
            let (count, added) = (most.max(1), delta.unsigned_abs());
            let shares = (0_u64..).map(|at| added / count as u64 + u64::from(at < added % count as u64));
            for (cell, share) in emptiest.into_iter().take(count).zip(shares) {
                units[cell] += share;
            }
        } else {
            let mut to_take = delta.unsigned_abs();
            for fullest in emptiest.into_iter().rev() {
                let taken = units[fullest].min(to_take);
                units[fullest] -= taken;
                to_take -= taken;
            }
        }
        Some(units)
    }

    /// The transfers (from cell, to cell, units) after which the units are spread evenly. There are fewer transfers
    /// than cells.
    pub fn levelling(&self) -> Vec<(u8, u8, u64)> {
        let even = self.laid_out(self.cells(), true).units;
        let differences = || (0_u8..).zip(self.units.iter().zip(&even));
        let mut too_few: Vec<_> = differences()
            .filter(|(_, (has, wants))| has < wants)
            .map(|(cell, (has, wants))| (cell, wants - has))
            .collect();
        let mut transfers = Vec::new();
        for (from, (has, keeps)) in differences() {
            let mut surplus = has.saturating_sub(*keeps);
            while let Some((to, deficit)) = too_few.last_mut().filter(|_| surplus > 0) {
                let units = surplus.min(*deficit);
                transfers.push((from, *to, units));
                (surplus, *deficit) = (surplus - units, *deficit - units);
                if *deficit == 0 {
                    too_few.pop();
                }
            }
        }
        transfers
    }

    /// Whether the units are spread evenly: no cell has two more than another.
    pub fn is_even(&self) -> bool {
        let (least, most) = (self.units.iter().min(), self.units.iter().max());
        most.zip(least).is_none_or(|(most, least)| most - least <= 1)
    }

    /// The units that can be sold: the sum of all cells.
    pub fn available(&self) -> u64 {
        self.units.iter().sum()
    }

    /// The number of cells.
    pub fn cells(&self) -> Cells {
        i64::try_from(self.units.len()).ok().and_then(|cells| cells.try_into().ok()).unwrap_or_default()
    }

    /// The first cell as it is written for a new stock.
    pub fn first(&self) -> Stock {
        let available = self.units.first().copied().unwrap_or_default();
        let first = Stock::new(self.product_id.clone(), available, self.price, self.cells());
        let Self { price_version, recalled, held_by_guests, .. } = *self;
        Stock { price_version, recalled, held_by_guests, ..first }
    }

    /// The first cell with at least `quantity` units, searched from cell `home` to the last one and then from the
    /// first; `None` if no cell has enough.
    pub fn cell_with(&self, quantity: u64, home: u8) -> Option<u8> {
        let cells = || (0_u8..).zip(&self.units).filter(|(_, units)| **units >= quantity).map(|(cell, _)| cell);
        cells().find(|cell| *cell >= home).or_else(|| cells().next())
    }

    /// The fewest transfers after which the fullest cell has `quantity` units: the fullest cell, and for other cells
    /// the units to take from each. `None` if all cells together have too few, or if no transfer is needed.
    pub fn transfers(&self, quantity: u64) -> Option<(u8, Vec<(u8, u64)>)> {
        let mut cells: Vec<_> = (0_u8..).zip(self.units.iter().copied()).collect();
        cells.sort_by_key(|(_, units)| std::cmp::Reverse(*units));
        let mut cells = cells.into_iter();
        let (fullest, has) = cells.next()?;
        let mut deficit = quantity.saturating_sub(has);
        let mut transfers = Vec::new();
        for (cell, units) in cells {
            let taken = units.min(deficit);
            deficit -= taken;
            transfers.push((cell, taken));
        }
        transfers.retain(|(_, taken)| *taken > 0);
        (deficit == 0 && !transfers.is_empty()).then_some((fullest, transfers))
    }
}

impl From<Stock> for WholeStock {
    fn from(stock: Stock) -> Self {
        let Stock { product_id, available, price, price_version, recalled, transferred, held_by_guests, .. } = stock;
        let (units, transferred) = (vec![available], vec![transferred]);
        Self { product_id, price, price_version, recalled, units, transferred, behind: Vec::new(), held_by_guests }
    }
}

impl Stock {
    /// A new first cell.
    pub fn new(product_id: ProductId, available: u64, price: Money, cells: Cells) -> Self {
        Self {
            product_id,
            available,
            price,
            cells,
            price_version: 0,
            recalled: false,
            put_backs: 0,
            transferred: 0,
            held_by_guests: 0,
        }
    }
}

impl StockCell {
    /// A new further cell.
    pub fn new(product_id: ProductId, cell: u8, available: u64, price: Money) -> Self {
        Self { product_id, cell, available, price, price_version: 0, put_backs: 0, transferred: 0 }
    }
}

/// Whether a number need not be written.
pub(super) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
