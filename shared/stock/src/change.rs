//! What the shop does to a stock, in the transaction that writes the product: its version guards the number of cells
//! and the price, which nothing else changes.

use futures_util::StreamExt as _;
use futures_util::stream;
use key_schema::entity::{StockCell, WholeStock};
use table::{Budget, Condition, Error, Write, Writer};

use crate::moves::{as_seen, marks};
use crate::order::key;

/// How many cells are given a new price at the same time.
const AT_ONCE: usize = 8;

/// Writes the cells of a new stock, if there is none yet. The first write is the first cell's.
pub fn begin(whole: &WholeStock) -> Result<Vec<Write>, Error> {
    let mut writes = vec![Write::put_new(&whole.first())?];
    for (cell, units) in numbered(&whole.units).skip(1) {
        writes.push(Write::put_new(&new_cell(whole, cell, units))?);
    }
    Ok(writes)
}

/// Gives each cell as many units as `units` says: a write for each cell that is to have another number.
///
/// Orders go on meanwhile, so the difference is written and not the result. No cell falls below zero.
pub fn adjust(whole: &WholeStock, units: &[u64]) -> Result<Vec<Write>, Error> {
    let changed: Vec<_> = numbered(&whole.units)
        .zip(units)
        .filter_map(|((cell, before), after)| (before != *after).then_some((cell, difference(before, *after))))
        .collect();
    if let [(cell, more)] = *changed {
        let enough = enough(more)?;
        let expression = "SET #available = #available + :more ADD #putBacks :one";
        return Ok(vec![Write::update(key(&whole.product_id, cell), expression, enough.value(":one", 1)?)]);
    }
    let marks = marks(changed.len());
    let writes = changed.into_iter().zip(marks).map(|((cell, more), mark)| {
        let expression = "SET #available = #available + :more ADD #moved :mark";
        Ok(Write::update(key(&whole.product_id, cell), expression, enough(more)?.value(":mark", mark)?))
    });
    writes.collect()
}

/// Makes one stock of another, which lies in other cells or has another price: at most one write for each cell. A new
/// price is written to the first cell here, and to the others by [`reprice`] after it.
///
/// Orders go on meanwhile, so the difference is written and not the result; only a cell that is given up must hold what
/// was seen in it. No cell falls below zero.
pub fn change(from: &WholeStock, to: &WholeStock) -> Result<Vec<Write>, Error> {
    let is_repriced = (from.price, from.price_version) != (to.price, to.price_version);
    if from.units == to.units {
        let new_price = Condition::present().value(":price", to.price)?.value(":priceVersion", to.price_version)?;
        let expression = "SET #price = :price, #priceVersion = :priceVersion";
        return Ok(is_repriced
            .then(|| Write::update(key(&to.product_id, 0), expression, new_price))
            .into_iter()
            .collect());
    }
    let changed: Vec<_> = numbered(&to.units)
        .map(|(cell, after)| (cell, from.units.get(usize::from(cell)).copied(), after))
        .filter(|(cell, before, after)| *cell == 0 || *before != Some(*after))
        .collect();
    // What the cells that are given up have of marks is handed over, so that those of all cells still add up to zero.
    let given_up: i64 = from.moved.iter().skip(to.units.len()).sum();
    let mut marks = marks(changed.len());
    let mut mark = || marks.next().unwrap_or_default();
    let mut writes = Vec::new();
    for (cell, before, after) in changed {
        let Some(before) = before else {
            writes.push(Write::put_new(&StockCell { moved: mark(), ..new_cell(to, cell, after) })?);
            continue;
        };
        let enough = enough(difference(before, after))?;
        writes.push(if cell == 0 {
            let expression = "SET #available = #available + :more, #price = :price, #priceVersion = :priceVersion, \
                              #cells = :cells ADD #moved :mark";
            let enough = enough.value(":mark", mark() + given_up)?.value(":cells", to.cells())?;
            let enough = enough.value(":price", to.price)?.value(":priceVersion", to.price_version)?;
            Write::update(key(&to.product_id, 0), expression, enough)
        } else {
            let expression = "SET #available = #available + :more ADD #moved :mark";
            Write::update(key(&to.product_id, cell), expression, enough.value(":mark", mark())?)
        });
    }
    for ((cell, units), moved) in numbered(&from.units).zip(&from.moved).skip(to.units.len()) {
        writes.push(Write::delete_if(key(&from.product_id, cell), as_seen(units, *moved)?));
    }
    Ok(writes)
}

/// Brings the price of the first cell to those that are behind, each by a write of its own, within the budget. Orders
/// from a cell that is still behind do the same: a change that stops halfway is finished by them.
///
/// # Errors
/// Those of any write. What is done stays done.
pub async fn reprice(writer: &Writer, whole: &WholeStock, budget: Budget) -> Result<(), Error> {
    let prices: Vec<_> = whole.behind.iter().map(|cell| new_price(whole, *cell)).collect::<Result<_, _>>()?;
    let mut results = stream::iter(prices).map(|price| writer.write(price, budget)).buffer_unordered(AT_ONCE);
    while let Some(written) = results.next().await {
        // A cell that is not behind, or not there any more, needs none.
        _ = written?;
    }
    Ok(())
}

fn new_price(whole: &WholeStock, cell: u8) -> Result<Write, Error> {
    let is_behind = Condition::new(
        "attribute_exists(#PK) AND (attribute_not_exists(#priceVersion) OR #priceVersion < :priceVersion)",
    );
    let is_behind = is_behind.value(":price", whole.price)?.value(":priceVersion", whole.price_version)?;
    let expression = "SET #price = :price, #priceVersion = :priceVersion";
    Ok(Write::update(key(&whole.product_id, cell), expression, is_behind))
}

/// A condition of a write that adds `:more` units, or takes them away.
fn enough(more: i64) -> Result<Condition, Error> {
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
