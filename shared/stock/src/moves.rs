//! Units that move from one cell to another.
//!
//! Every write that moves units adds a mark to `moved` of the cell: random numbers that add up to zero over all writes of
//! one transaction. A reader who finds that the marks of all cells do not add up to zero has seen half of a move.

use std::iter;
use std::time::Duration;

use key_schema::entity::{StockCell, WholeStock};
use key_schema::value::ProductId;
use table::{Budget, Cause, Commit, Condition, Error, Throttle, Write, Writer, read_item};

use crate::order::key;

/// How long one move is tried again while others write its cells.
const PATIENCE: Duration = Duration::from_millis(400);

/// How long a cell is tried to be given up.
const LONG_PATIENCE: Duration = Duration::from_secs(2);

/// So many marks, none of them zero, which add up to zero. One mark alone is zero.
pub(crate) fn marks(count: usize) -> impl Iterator<Item = i64> {
    let marks: Vec<i64> = (1..count).map(|_| fastrand::i64(1..1 << 31)).collect();
    let last = -marks.iter().sum::<i64>();
    marks.into_iter().chain(iter::once(last))
}

/// The writes of one transaction that moves units into a cell from others.
pub(crate) fn moves_at_once(product: &ProductId, to: u8, moves: &[(u8, u64)]) -> Result<Vec<Write>, Error> {
    let mut marks = marks(moves.len() + 1);
    let mut mark = || marks.next().unwrap_or_default();
    let gathered: u64 = moves.iter().map(|(_, units)| units).sum();
    let is_there = Condition::present().value(":units", gathered)?.value(":mark", mark())?;
    let put = "SET #available = #available + :units ADD #moved :mark";
    let mut writes = vec![Write::update(key(product, to), put, is_there)];
    for (from, units) in moves {
        let has = Condition::new("#available >= :units").value(":units", units)?.value(":mark", mark())?;
        let take = "SET #available = #available - :units ADD #moved :mark";
        writes.push(Write::update(key(product, *from), take, has));
    }
    Ok(writes)
}

/// Moves units from one cell to another, in a transaction of its own. Nothing happens if the one has not as many, or if
/// others are in the way for too long.
///
/// # Errors
/// Those of any transaction, but contention, and that it was not answered.
pub(crate) async fn move_units(
    writer: &Writer,
    product: &ProductId,
    (from, to): (u8, u8),
    units: u64,
    budget: Budget,
) -> Result<(), Error> {
    let transaction = moves_at_once(product, to, &[(from, units)])?;
    match writer.commit(transaction, budget.at_most(PATIENCE)).await {
        Ok(_) | Err(Error::Unanswered(_) | Error::Throttled { by: Throttle::Contention, .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Shares the units of a stock out evenly, move by move, while orders go on. One that cannot be made now is left out:
/// the stock is the same however far this comes.
///
/// # Errors
/// Those of any transaction, but contention, and that it was not answered.
pub async fn level(writer: &Writer, whole: &WholeStock, budget: Budget) -> Result<(), Error> {
    for (from, to, units) in whole.levelling() {
        move_units(writer, &whole.product_id, (from, to), units, budget).await?;
    }
    Ok(())
}

/// Gives up the cells from number `count` on, the last one first: each in a transaction of its own, which moves its units
/// to the first cell. It stops when others are in the way for too long, or change the number of cells, too. The stock is
/// the same however far this comes.
///
/// # Errors
/// Those of any transaction, but contention, and that it was not answered.
pub async fn give_up_cells(writer: &Writer, whole: &WholeStock, count: u8, budget: Budget) -> Result<(), Error> {
    let cells = (0_u8..).zip(whole.units.iter().copied().zip(whole.moved.iter().copied()));
    let given_up: Vec<_> = cells.filter(|(cell, _)| *cell >= count.max(1)).collect();
    for (cell, (mut units, mut moved)) in given_up.into_iter().rev() {
        let mut retries = budget.retries();
        loop {
            let is_last = Condition::new("#cells = :cells").value(":cells", cell + 1)?.value(":fewer", cell)?;
            let is_last = is_last.value(":units", units)?.value(":moved", moved)?;
            let fewer = "SET #available = #available + :units, #cells = :fewer ADD #moved :moved";
            let first = Write::update(key(&whole.product_id, 0), fewer, is_last);
            let last = Write::delete_if(key(&whole.product_id, cell), as_seen(units, moved)?);
            let mut causes = match writer.commit(vec![first, last], budget.at_most(LONG_PATIENCE)).await {
                Ok(Commit::Done) => break,
                Ok(Commit::Cancelled(causes)) => causes,
                Err(Error::Unanswered(_) | Error::Throttled { by: Throttle::Contention, .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            // Something was sold from the cell, or moved: now it holds this.
            match causes.as_mut_slice() {
                [Cause::None, Cause::Condition(Some(now))] => {
                    let now: StockCell = read_item(std::mem::take(now))?;
                    (units, moved) = (now.available, now.moved);
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

/// The condition under which a cell may be deleted: it holds these units, and has these marks.
pub(crate) fn as_seen(units: u64, moved: i64) -> Result<Condition, Error> {
    let as_seen = Condition::new(match moved {
        0 => "#available = :units AND (attribute_not_exists(#moved) OR #moved = :moved)",
        _ => "#available = :units AND #moved = :moved",
    });
    as_seen.value(":units", units)?.value(":moved", moved)
}
