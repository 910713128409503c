//! The further cells of a stock that is divided into several. The partition key contains the number of the cell, so
//! that the cells share the load. The first cell is the product's `stock`.

use crate::entity::{Stock, StockCell, WholeStock};
use crate::value::{Cells, ProductId};

use super::{Declaration, Key, Place, PlaceText, Stored, Template, collection};

const CELLS: Template<(ProductId, u8)> = Template::new("stock#{productId}#{cell}");
const CELL: Place<(ProductId, u8), (ProductId, u8)> = Place::table(CELLS, CELLS);

/// All cells of a product's stock. They are a batch of keys, because each cell has a partition of its own.
pub const CELLS_OF_STOCK: Declaration = CELL.batch::<InStock>(22, "the stock of a product, cells added up", 32);

impl Stored for StockCell {
    const PLACES: &'static [PlaceText] = &[CELL.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id, self.cell)
    }
}

impl StockCell {
    /// The key of a cell that is not the first one.
    pub fn key_of(product: &ProductId, cell: u8) -> Key {
        CELL.key((product, &cell), (product, &cell))
    }

    /// The keys of all cells of a stock, the first one included. Their number is read from the first one.
    pub fn keys_of(product: &ProductId, cells: Cells) -> Vec<Key> {
        let others = (1..cells.get()).map(|cell| Self::key_of(product, cell));
        std::iter::once(Stock::key_of(product)).chain(others).collect()
    }
}

collection! {
    /// A cell of a stock.
    InStock {
        /// Another cell than the first one.
        StockCell
        /// The first cell, which has the number of cells.
        Stock
    }
}

impl InStock {
    /// Assembles a stock of this number of cells. A cell that was not found counts as empty.
    ///
    /// # Errors
    /// The stock has another number of cells by now: returns the first cell, which has the current number. `None` if
    /// there is no stock.
    pub fn assemble(cells: Cells, items: Vec<Self>) -> Result<WholeStock, Option<Stock>> {
        let (mut first, mut others) = (None, Vec::new());
        for item in items {
            match item {
                Self::Stock(stock) => first = Some(stock),
                Self::StockCell(cell) => others.push(cell),
                Self::Unknown => {}
            }
        }
        let first = match first {
            Some(first) if first.cells == cells => first,
            other => return Err(other),
        };
        let count = usize::from(cells.get());
        let mut whole = WholeStock::from(first);
        whole.units.resize(count, 0);
        whole.transferred.resize(count, 0);
        for StockCell { cell, available, price, price_version, transferred, .. } in others {
            let at = usize::from(cell);
            // The read may include a cell that was removed in the meantime.
            if at < count {
                (whole.units[at], whole.transferred[at]) = (available, transferred);
                if price != whole.price || price_version != whole.price_version {
                    whole.behind.push(cell);
                }
            }
        }
        Ok(whole)
    }
}
