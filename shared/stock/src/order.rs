//! The changes that orders make to a stock. Each is a part of the order's transaction, except gathering, which comes
//! before it.

use key_schema::entity::{Stock, StockCell, WholeStock};
use key_schema::layout::Key;
use key_schema::value::{Money, ProductId, Quantity};
use table::{Budget, Condition, Error, Throttle, Write, Writer};

use crate::transfers::{transfer_units, transfers_at_once};

/// The cell and the price from which an order takes the units of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The number of the cell.
    pub cell: u8,
    /// The version of the product that set the price and whether it is recalled, as read from the first cell.
    pub price_version: u64,
}

/// The writes that take units from a cell for an order of a guest that waits for its payment, as [`take`] does. The first
/// cell counts them among the units that guests hold, on condition that guests hold at most `most` so far.
///
/// The count is exact, because every order of a guest writes the first cell: two of them that exceed the share together
/// cannot both be placed. An order whose units come from another cell has one write more.
pub fn take_for_guest(
    product: &ProductId,
    from: Source,
    quantity: Quantity,
    price: Money,
    most: i64,
) -> Result<Vec<Write>, Error> {
    let has_share = Condition::guests_hold_at_most(most)?;
    if from.cell == 0 {
        let condition = in_first_cell(quantity, price)?.and(has_share);
        let expression = "SET #available = #available - :quantity ADD #heldByGuests :quantity";
        return Ok(vec![Write::update(key(product, 0), expression, condition)]);
    }
    let condition = Condition::present().and(has_share).value(":quantity", quantity)?;
    let count = Write::update(key(product, 0), "ADD #heldByGuests :quantity", condition);
    Ok(vec![take(product, from, quantity, price)?, count])
}

fn in_first_cell(quantity: Quantity, price: Money) -> Result<Condition, Error> {
    let has_units = Condition::new("#available >= :quantity AND #price = :price AND attribute_not_exists(#recalled)");
    has_units.value(":quantity", quantity)?.value(":price", price)
}

/// The write that takes units from a cell, on condition that it has enough of them at this price and that the product is
/// not recalled.
///
/// A new price is written to the first cell first and to the others a little later. An order that takes units from a
/// cell with an older price also updates its price, so an order never waits for the rest of a price change.
///
/// A recall is written in the same way, but only the first cell says that the product is recalled. Every other cell has
/// the recall's `priceVersion` by the time the recall is answered. An order that does not know of the recall has read an
/// older version, and the cell refuses that.
pub fn take(product: &ProductId, from: Source, quantity: Quantity, price: Money) -> Result<Write, Error> {
    let Source { cell, price_version } = from;
    let expression = "SET #available = #available - :quantity";
    if cell == 0 {
        return Ok(Write::update(key(product, cell), expression, in_first_cell(quantity, price)?));
    }
    if price_version == 0 {
        let has_units =
            Condition::new("#available >= :quantity AND #price = :price AND attribute_not_exists(#priceVersion)");
        let has_units = has_units.value(":quantity", quantity)?.value(":price", price)?;
        return Ok(Write::update(key(product, cell), expression, has_units));
    }
    let has_units = Condition::new(
        "#available >= :quantity AND (attribute_not_exists(#priceVersion) OR #priceVersion < :priceVersion \
         OR (#priceVersion = :priceVersion AND #price = :price))",
    );
    let has_units = has_units.value(":quantity", quantity)?.value(":price", price)?;
    let has_units = has_units.value(":priceVersion", price_version)?;
    let expression = "SET #available = #available - :quantity, #price = :price, #priceVersion = :priceVersion";
    Ok(Write::update(key(product, cell), expression, has_units))
}

/// The write that puts units back, whichever cell they were taken from. They go to the first cell, which always exists.
pub fn put_back(product: &ProductId, quantity: Quantity) -> Result<Write, Error> {
    let exists = Condition::present().value(":quantity", quantity)?.value(":one", 1)?;
    Ok(Write::update(key(product, 0), "SET #available = #available + :quantity ADD #putBacks :one", exists))
}

/// The write that takes units out of those that guests hold unpaid, and puts some of them back. Every write that puts units
/// back changes `putBacks`.
pub fn release(product: &ProductId, held: u32, put_back: Option<Quantity>) -> Result<Write, Error> {
    let exists = Condition::present().value(":released", -i64::from(held))?;
    let Some(quantity) = put_back else {
        return Ok(Write::update(key(product, 0), "ADD #heldByGuests :released", exists));
    };
    let exists = exists.value(":quantity", quantity)?.value(":one", 1)?;
    let expression = "SET #available = #available + :quantity ADD #putBacks :one, #heldByGuests :released";
    Ok(Write::update(key(product, 0), expression, exists))
}

/// Transfers units into one cell until it has `units`, for an order line of more units than any cell has.
///
/// Tries all transfers in one transaction first. If that conflicts with others, each transfer is a transaction of its
/// own: two cells are free of other writes sooner than all of them. Does nothing if there are too few units in all
/// cells.
///
/// The sum of all cells stays the same, so the caller need not know whether the transfers happened: it reads the stock
/// again.
///
/// # Errors
/// Those of any transaction, except a missing answer.
pub async fn gather(writer: &Writer, whole: &WholeStock, units: u64, budget: Budget) -> Result<(), Error> {
    let Some((to, transfers)) = whole.transfers(units) else { return Ok(()) };
    let at_once = transfers_at_once(&whole.product_id, to, &transfers)?;
    match writer.clone().fail_fast_on_conflict().commit(at_once, budget).await {
        Ok(_) | Err(Error::Unanswered(_)) => return Ok(()),
        Err(Error::Throttled { by: Throttle::Contention, .. }) => {}
        Err(error) => return Err(error),
    }
    for (from, units) in transfers {
        transfer_units(writer, &whole.product_id, (from, to), units, budget).await?;
    }
    Ok(())
}

/// The writes of the transaction that [`gather`] tries first. `None` if no transfer helps.
///
/// # Errors
/// A value that cannot be written: a defect.
pub fn gathering(whole: &WholeStock, units: u64) -> Result<Option<Vec<Write>>, Error> {
    let transfers = whole.transfers(units);
    transfers.map(|(to, transfers)| transfers_at_once(&whole.product_id, to, &transfers)).transpose()
}

/// The key of a cell. The first cell, number 0, is the stock's own item.
pub(crate) fn key(product: &ProductId, cell: u8) -> Key {
    if cell == 0 { Stock::key_of(product) } else { StockCell::key_of(product, cell) }
}
