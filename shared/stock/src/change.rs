//! What the shop does to a stock, in the transaction that writes the product: its version guards the number of cells
//! and the price, which nothing else changes.

use std::iter;

use key_schema::entity::{StockCell, WholeStock};
use table::{Condition, Error, Write};

use crate::order::key;

/// Writes the cells of a new stock, if there is none yet. The first write is the first cell's.
pub fn begin(whole: &WholeStock) -> Result<Vec<Write>, Error> {
    let others = numbered(whole).skip(1).map(|(cell, units)| put_new(whole, cell, units));
    iter::once(Write::put_new(&whole.first())).chain(others).collect()
}

/// Makes one stock of another: writes each cell that differs, and is at most one write for each cell.
///
/// Orders go on meanwhile, so the difference is written and not the result; only a cell that is given up must hold what
/// was seen in it. No cell falls below zero.
pub fn change(from: &WholeStock, to: &WholeStock) -> Result<Vec<Write>, Error> {
    let all_differ = from.price != to.price;
    let mut writes = Vec::new();
    for ((cell, before), after) in numbered(from).zip(&to.units) {
        let counts = cell == 0 && from.units.len() != to.units.len();
        if all_differ || counts || before != *after {
            let more = after.cast_signed() - before.cast_signed();
            let enough = Condition::new("#available >= :least").value(":least", (-more).max(0))?;
            let enough = enough.value(":more", more)?.value(":price", to.price)?;
            writes.push(if counts {
                let expression = "SET #available = #available + :more, #price = :price, #cells = :cells";
                Write::update(key(&from.product_id, cell), expression, enough.value(":cells", to.cells())?)
            } else {
                let expression = "SET #available = #available + :more, #price = :price";
                Write::update(key(&from.product_id, cell), expression, enough)
            });
        }
    }
    for (cell, units) in numbered(to).skip(from.units.len()) {
        writes.push(put_new(to, cell, units)?);
    }
    for (cell, units) in numbered(from).skip(to.units.len()) {
        let as_seen = Condition::new("#available = :units").value(":units", units)?;
        writes.push(Write::delete_if(key(&from.product_id, cell), as_seen));
    }
    Ok(writes)
}

fn put_new(whole: &WholeStock, cell: u8, available: u64) -> Result<Write, Error> {
    Write::put_new(&StockCell { product_id: whole.product_id.clone(), cell, available, price: whole.price })
}

fn numbered(whole: &WholeStock) -> impl Iterator<Item = (u8, u64)> {
    (0_u8..).zip(whole.units.iter().copied())
}
