//! What orders do to a stock. Each is a part of the order's transaction, except that units may be gathered before.

use key_schema::entity::{Stock, StockCell, WholeStock};
use key_schema::layout::Key;
use key_schema::value::{Money, ProductId, Quantity};
use table::{Budget, Condition, Error, Throttle, Write, Writer};

use crate::moves::{move_units, moves_at_once};

/// Where an order takes the units of a line from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The cell.
    pub cell: u8,
    /// The version of the product that set the price, as the first cell says.
    pub price_version: u64,
}

/// Takes units from a cell, if it has as many, at this price.
///
/// A new price reaches the first cell first and each of the others a little later. A cell that is still behind is
/// brought up by the order itself, so an order never waits for the rest of a price change.
pub fn take(product: &ProductId, from: Source, quantity: Quantity, price: Money) -> Result<Write, Error> {
    let Source { cell, price_version } = from;
    if cell == 0 || price_version == 0 {
        let is_there = Condition::new("#available >= :quantity AND #price = :price");
        let is_there = is_there.value(":quantity", quantity)?.value(":price", price)?;
        return Ok(Write::update(key(product, cell), "SET #available = #available - :quantity", is_there));
    }
    let is_there = Condition::new(
        "#available >= :quantity AND (attribute_not_exists(#priceVersion) OR #priceVersion < :priceVersion \
         OR (#priceVersion = :priceVersion AND #price = :price))",
    );
    let is_there = is_there.value(":quantity", quantity)?.value(":price", price)?;
    let is_there = is_there.value(":priceVersion", price_version)?;
    let expression = "SET #available = #available - :quantity, #price = :price, #priceVersion = :priceVersion";
    Ok(Write::update(key(product, cell), expression, is_there))
}

/// Puts units back that were taken from any cell: into the first one, which is there however many there are.
pub fn put_back(product: &ProductId, quantity: Quantity) -> Result<Write, Error> {
    let is_there = Condition::present().value(":quantity", quantity)?.value(":one", 1)?;
    Ok(Write::update(key(product, 0), "SET #available = #available + :quantity ADD #putBacks :one", is_there))
}

/// Moves units until one cell has so many of them, for an order of more than any cell has. All moves are one
/// transaction if nobody is in its way. Otherwise each is one of its own: two cells are free sooner than all.
/// Nothing happens if there are not as many, or others are faster.
///
/// What can be sold is the same before and after, so nobody has to know whether it happened: whoever looks again sees.
///
/// # Errors
/// Those of any transaction, but that it was not answered.
pub async fn gather(writer: &Writer, whole: &WholeStock, units: u64, budget: Budget) -> Result<(), Error> {
    let Some((to, moves)) = whole.moves(units) else { return Ok(()) };
    let at_once = moves_at_once(&whole.product_id, to, &moves)?;
    match writer.clone().fail_fast_on_conflict().commit(at_once, budget).await {
        Ok(_) | Err(Error::Unanswered(_)) => return Ok(()),
        Err(Error::Throttled { by: Throttle::Contention, .. }) => {}
        Err(error) => return Err(error),
    }
    for (from, units) in moves {
        move_units(writer, &whole.product_id, (from, to), units, budget).await?;
    }
    Ok(())
}

/// The writes of the one transaction that [`gather`] tries first. `None` if no move helps.
///
/// # Errors
/// A value that cannot be written: a defect.
pub fn gathering(whole: &WholeStock, units: u64) -> Result<Option<Vec<Write>>, Error> {
    let moves = whole.moves(units);
    moves.map(|(to, moves)| moves_at_once(&whole.product_id, to, &moves)).transpose()
}

/// The key of any cell.
pub(crate) fn key(product: &ProductId, cell: u8) -> Key {
    if cell == 0 { Stock::key_of(product) } else { StockCell::key_of(product, cell) }
}
