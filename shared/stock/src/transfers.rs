//! Transferring units from one cell to another.
//!
//! Every write of a transfer adds a mark to the cell's attribute `transferred`. The marks of one transaction are random
//! numbers that add up to zero. If the marks of all cells do not add up to zero, the read has seen only a part of a
//! transfer.

use std::iter;
use std::time::Duration;

use key_schema::entity::{StockCell, WholeStock};
use key_schema::value::ProductId;
use table::{Budget, Cause, Commit, Condition, Error, Throttle, Write, Writer, read_item};

use crate::order::key;

/// The longest that one transfer is retried while others write its cells.
const TRANSFER_BUDGET: Duration = Duration::from_millis(400);

/// The longest that the removal of one cell is retried while others write the cells.
const REMOVAL_BUDGET: Duration = Duration::from_secs(2);

/// The longest that a stock is levelled, so that its request is answered in time.
const LEVELLING_BUDGET: Duration = Duration::from_secs(4);

/// `count` marks that add up to zero. A single mark is zero; of several, none is expected to be.
pub(crate) fn marks(count: usize) -> impl Iterator<Item = i64> {
    let marks: Vec<i64> = (1..count).map(|_| fastrand::i64(1..1 << 31)).collect();
    let last = -marks.iter().sum::<i64>();
    marks.into_iter().chain(iter::once(last))
}

/// The writes of one transaction that transfers units into a cell from others.
pub(crate) fn transfers_at_once(product: &ProductId, to: u8, transfers: &[(u8, u64)]) -> Result<Vec<Write>, Error> {
    let mut marks = marks(transfers.len() + 1);
    let mut mark = || marks.next().unwrap_or_default();
    let gathered: u64 = transfers.iter().map(|(_, units)| units).sum();
    let exists = Condition::present().value(":units", gathered)?.value(":mark", mark())?;
    let put = "SET #available = #available + :units ADD #transferred :mark";
    let mut writes = vec![Write::update(key(product, to), put, exists)];
    for (from, units) in transfers {
        let has_units = Condition::new("#available >= :units").value(":units", units)?.value(":mark", mark())?;
        let take = "SET #available = #available - :units ADD #transferred :mark";
        writes.push(Write::update(key(product, *from), take, has_units));
    }
    Ok(writes)
}

/// Transfers units from one cell to another, in a transaction of its own. Does nothing if the cell has too few, or if
/// the transaction conflicts with others for longer than [`TRANSFER_BUDGET`].
///
/// # Errors
/// Those of any transaction, except contention and a missing answer.
pub(crate) async fn transfer_units(
    writer: &Writer,
    product: &ProductId,
    (from, to): (u8, u8),
    units: u64,
    budget: Budget,
) -> Result<(), Error> {
    let transaction = transfers_at_once(product, to, &[(from, units)])?;
    match writer.commit(transaction, budget.at_most(TRANSFER_BUDGET)).await {
        Ok(_) | Err(Error::Unanswered(_) | Error::Throttled { by: Throttle::Contention, .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Spreads the units of a stock evenly over its cells, transfer by transfer, while orders continue. A transfer that
/// conflicts for too long is skipped: the sum of all cells is the same however many transfers succeed.
///
/// # Errors
/// Those of any transaction, except contention and a missing answer.
pub async fn level(writer: &Writer, whole: &WholeStock, budget: Budget) -> Result<(), Error> {
    let budget = budget.at_most(LEVELLING_BUDGET);
    for (from, to, units) in whole.levelling() {
        transfer_units(writer, &whole.product_id, (from, to), units, budget).await?;
    }
    Ok(())
}

/// Removes the cells from number `count` on, the last one first. Each removal is a transaction of its own, which
/// transfers the cell's units to the first cell. Stops if a removal conflicts with others for too long, or if another
/// request changes the number of cells. The sum of all cells is the same however many cells are removed.
///
/// # Errors
/// Those of any transaction, except contention and a missing answer.
pub async fn give_up_cells(writer: &Writer, whole: &WholeStock, count: u8, budget: Budget) -> Result<(), Error> {
    let cells = (0_u8..).zip(whole.units.iter().copied().zip(whole.transferred.iter().copied()));
    let surplus: Vec<_> = cells.filter(|(cell, _)| *cell >= count.max(1)).collect();
    for (cell, (mut units, mut transferred)) in surplus.into_iter().rev() {
        let mut retries = budget.retries();
        loop {
            let is_last = Condition::new("#cells = :cells").value(":cells", cell + 1)?.value(":fewer", cell)?;
            let is_last = is_last.value(":units", units)?.value(":transferred", transferred)?;
            let fewer = "SET #available = #available + :units, #cells = :fewer ADD #transferred :transferred";
            let first = Write::update(key(&whole.product_id, 0), fewer, is_last);
            let last = Write::delete_if(key(&whole.product_id, cell), as_seen(units, transferred)?);
            let mut causes = match writer.commit(vec![first, last], budget.at_most(REMOVAL_BUDGET)).await {
                Ok(Commit::Done) => break,
                Ok(Commit::Cancelled(causes)) => causes,
                Err(Error::Unanswered(_) | Error::Throttled { by: Throttle::Contention, .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            // If only the removed cell's condition failed, its units were sold or transferred. Try with what it holds
            // now.
            match causes.as_mut_slice() {
                [Cause::None, Cause::Condition(Some(now))] => {
                    let now: StockCell = read_item(std::mem::take(now))?;
                    (units, transferred) = (now.available, now.transferred);
                }
                _ => return Ok(()),
            }
            if !retries.pause().await {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The condition for deleting a cell: it still holds these units and these marks.
pub(crate) fn as_seen(units: u64, transferred: i64) -> Result<Condition, Error> {
    let as_seen = Condition::new(match transferred {
        0 => "#available = :units AND (attribute_not_exists(#transferred) OR #transferred = :transferred)",
        _ => "#available = :units AND #transferred = :transferred",
    });
    as_seen.value(":units", units)?.value(":transferred", transferred)
}
