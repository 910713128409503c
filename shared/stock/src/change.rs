//! The shop's changes of a stock. They are part of the transaction that writes the product, whose version guards the
//! number of cells and the price: nothing else changes those two. A recall changes with the price.

use futures_util::StreamExt as _;
use futures_util::stream;
use key_schema::entity::{StockCell, WholeStock};
use table::{Budget, Condition, Error, Write, Writer};

use crate::order::key;
use crate::transfers::{as_seen, marks};

/// The number of cells to which a new price is written concurrently.
const CONCURRENT_PRICES: usize = 8;

/// The writes of a new stock's cells, on condition that none exists. The first write is the first cell's.
pub fn begin(whole: &WholeStock) -> Result<Vec<Write>, Error> {
    let mut writes = vec![Write::put_new(&whole.first())?];
    for (cell, units) in numbered(&whole.units).skip(1) {
        writes.push(Write::put_new(&new_cell(whole, cell, units))?);
    }
    Ok(writes)
}

/// The writes that change each cell's units from those seen in `whole` to `units`: one write for each cell that
/// changes.
///
/// Orders may change the cells in the meantime, so each write adds the difference. None lets a cell fall below zero.
pub fn adjust(whole: &WholeStock, units: &[u64]) -> Result<Vec<Write>, Error> {
    let changed: Vec<_> = numbered(&whole.units)
        .zip(units)
        .filter_map(|((cell, before), after)| (before != *after).then_some((cell, difference(before, *after))))
        .collect();
    if let [(cell, more)] = *changed {
        let enough = has_units(more)?;
        let expression = "SET #available = #available + :more ADD #putBacks :one";
        return Ok(vec![Write::update(key(&whole.product_id, cell), expression, enough.value(":one", 1)?)]);
    }
    let marks = marks(changed.len());
    let writes = changed.into_iter().zip(marks).map(|((cell, more), mark)| {
        let expression = "SET #available = #available + :more ADD #transferred :mark";
        Ok(Write::update(key(&whole.product_id, cell), expression, has_units(more)?.value(":mark", mark)?))
    });
    writes.collect()
}

/// The writes that change a stock's cells, its price, or whether it is recalled: at most one write for each cell. They
/// write a new price or a recall to the first cell only; [`reprice`] writes its version to the others afterwards.
///
/// Orders may change the cells in the meantime, so each write adds the difference. Only a cell that is removed must
/// hold exactly what was seen in it. No write lets a cell fall below zero.
pub fn change(from: &WholeStock, to: &WholeStock) -> Result<Vec<Write>, Error> {
    if from.units == to.units {
        if (from.price, from.price_version) == (to.price, to.price_version) {
            return Ok(Vec::new());
        }
        let expression = if to.recalled {
            "SET #price = :price, #priceVersion = :priceVersion, #recalled = :recalled"
        } else {
            "SET #price = :price, #priceVersion = :priceVersion REMOVE #recalled"
        };
        return Ok(vec![Write::update(key(&to.product_id, 0), expression, with_recall(Condition::present(), to)?)]);
    }
    let changed: Vec<_> = numbered(&to.units)
        .map(|(cell, after)| (cell, from.units.get(usize::from(cell)).copied(), after))
        .filter(|(cell, before, after)| *cell == 0 || *before != Some(*after))
        .collect();
    // The first cell takes over the marks of removed cells, so that the marks of all cells still add up to zero.
    let removed_marks: i64 = from.transferred.iter().skip(to.units.len()).sum();
    let mut marks = marks(changed.len());
    let mut mark = || marks.next().unwrap_or_default();
    let mut writes = Vec::new();
    for (cell, before, after) in changed {
        let Some(before) = before else {
            writes.push(Write::put_new(&StockCell { transferred: mark(), ..new_cell(to, cell, after) })?);
            continue;
        };
        let enough = has_units(difference(before, after))?;
        writes.push(if cell == 0 {
            let expression = if to.recalled {
                "SET #available = #available + :more, #price = :price, #priceVersion = :priceVersion, \
                 #cells = :cells, #recalled = :recalled ADD #transferred :mark"
            } else {
                "SET #available = #available + :more, #price = :price, #priceVersion = :priceVersion, \
                 #cells = :cells REMOVE #recalled ADD #transferred :mark"
            };
            let enough = enough.value(":mark", mark() + removed_marks)?.value(":cells", to.cells())?;
            Write::update(key(&to.product_id, 0), expression, with_recall(enough, to)?)
        } else {
            let expression = "SET #available = #available + :more ADD #transferred :mark";
            Write::update(key(&to.product_id, cell), expression, enough.value(":mark", mark())?)
        });
    }
    for ((cell, units), transferred) in numbered(&from.units).zip(&from.transferred).skip(to.units.len()) {
        writes.push(Write::delete_if(key(&from.product_id, cell), as_seen(units, *transferred)?));
    }
    Ok(writes)
}

/// Writes the first cell's price to the cells that have an older one, each with a write of its own, within the budget.
/// If this stops halfway, orders finish it: an order that takes units from a cell with an older price updates the
/// price.
///
/// # Errors
/// Those of any write. Prices that are written stay written.
pub async fn reprice(writer: &Writer, whole: &WholeStock, budget: Budget) -> Result<(), Error> {
    let prices: Vec<_> = whole.behind.iter().map(|cell| new_price(whole, *cell)).collect::<Result<_, _>>()?;
    let pending = stream::iter(prices).map(|price| writer.write(price, budget));
    let mut results = pending.buffer_unordered(CONCURRENT_PRICES);
    while let Some(written) = results.next().await {
        // If the condition failed, the cell has the price already or no longer exists.
        _ = written?;
    }
    Ok(())
}

fn new_price(whole: &WholeStock, cell: u8) -> Result<Write, Error> {
    let is_behind = Condition::new(
        "attribute_exists(#PK) AND (attribute_not_exists(#priceVersion) OR #priceVersion < :priceVersion)",
    );
    let expression = "SET #price = :price, #priceVersion = :priceVersion";
    Ok(Write::update(key(&whole.product_id, cell), expression, with_price(is_behind, whole)?))
}

fn with_price(condition: Condition, whole: &WholeStock) -> Result<Condition, Error> {
    condition.value(":price", whole.price)?.value(":priceVersion", whole.price_version)
}

/// The condition with the values of a price, and of a recall if there is one.
fn with_recall(condition: Condition, whole: &WholeStock) -> Result<Condition, Error> {
    let condition = with_price(condition, whole)?;
    if whole.recalled { condition.value(":recalled", true) } else { Ok(condition) }
}

/// The condition of a write that adds `:more` units, which may be negative: the cell has as many as are taken away.
fn has_units(more: i64) -> Result<Condition, Error> {
    Condition::new("#available >= :least").value(":least", (-more).max(0))?.value(":more", more)
}

fn difference(before: u64, after: u64) -> i64 {
    after.cast_signed() - before.cast_signed()
}

fn new_cell(whole: &WholeStock, cell: u8, available: u64) -> StockCell {
    let new = StockCell::new(whole.product_id.clone(), cell, available, whole.price);
    StockCell { price_version: whole.price_version, ..new }
}

fn numbered(units: &[u64]) -> impl Iterator<Item = (u8, u64)> {
    (0_u8..).zip(units.iter().copied())
}
