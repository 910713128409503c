//! What orders do to a stock. Each is a part of the order's transaction, except that units may be gathered before.

use key_schema::entity::{Stock, StockCell, WholeStock};
use key_schema::layout::Key;
use key_schema::value::{Money, ProductId, Quantity};
use table::{Budget, Condition, Error, Write, Writer};

/// Takes units from a cell, if it has as many, at this price.
pub fn take(product: &ProductId, cell: u8, quantity: Quantity, price: Money) -> Result<Write, Error> {
    let is_there = Condition::new("#available >= :quantity AND #price = :price")
        .value(":quantity", quantity)?
        .value(":price", price)?;
    Ok(Write::update(key(product, cell), "SET #available = #available - :quantity", is_there))
}

/// Puts units back that were taken from any cell: into the first one, which is there however many there are.
pub fn put_back(product: &ProductId, quantity: Quantity) -> Result<Write, Error> {
    let is_there = Condition::present().value(":quantity", quantity)?;
    Ok(Write::update(key(product, 0), "SET #available = #available + :quantity", is_there))
}

/// Moves units until one cell has `quantity` of them, for an order of more than any cell has: a transaction of its own,
/// at most one write for each cell. Nothing happens if there are not as many, or others are faster.
///
/// What can be sold is the same before and after, so nobody has to know whether it happened: whoever looks again sees.
///
/// # Errors
/// Those of any transaction, but that it was not answered.
pub async fn gather(writer: &Writer, whole: &WholeStock, quantity: Quantity, budget: Budget) -> Result<(), Error> {
    let Some((to, moves)) = whole.moves(quantity.get().into()) else { return Ok(()) };
    let gathered: u64 = moves.iter().map(|(_, units)| units).sum();
    let is_there = Condition::present().value(":units", gathered)?;
    let mut transaction =
        vec![Write::update(key(&whole.product_id, to), "SET #available = #available + :units", is_there)];
    for (from, units) in moves {
        let has = Condition::new("#available >= :units").value(":units", units)?;
        transaction.push(Write::update(key(&whole.product_id, from), "SET #available = #available - :units", has));
    }
    match writer.commit(transaction, budget).await {
        Ok(_) | Err(Error::Unanswered(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The key of any cell.
pub(crate) fn key(product: &ProductId, cell: u8) -> Key {
    if cell == 0 { Stock::key_of(product) } else { StockCell::key_of(product, cell) }
}
