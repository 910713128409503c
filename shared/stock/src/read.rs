//! Reading all cells of a stock.

use std::collections::BTreeMap;

use key_schema::entity::{Product, Stock, StockCell, WholeStock};
use key_schema::layout::{Consistency, InProduct, InStock, Key, WholeProduct};
use key_schema::value::ProductId;
use table::{Budget, Error, Reader};

/// After this many reads whose marks do not add up, the cells are read in one transaction.
const MOST_TORN_READS: u32 = 5;

/// The consistency of a read, from cheap to certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Eventually consistent: the cheapest read. It may return old values.
    Eventual,
    /// Strongly consistent, cell by cell. Units that are transferred during the read may be seen twice or not at all.
    Strong,
    /// All cells, with the guarantee that at one moment they held no more units than the read returns. Only a snapshot
    /// read proves "out of stock".
    Snapshot,
}

impl ReadMode {
    /// The consistency of the ordinary reads that this mode needs.
    pub fn consistency(self) -> Consistency {
        match self {
            Self::Eventual => Consistency::Eventual,
            Self::Strong | Self::Snapshot => Consistency::Strong,
        }
    }

    /// The mode to read in after a read found nothing of a stock that an earlier read has seen. An eventually consistent
    /// read may not see a new stock. Any other read finds each stock that exists.
    fn escalate_after_nothing(self) -> Option<Self> {
        match self {
            Self::Eventual => Some(Self::Strong),
            Self::Strong | Self::Snapshot => None,
        }
    }
}

/// All cells of a stock whose first cell was just read. One request, or none for a stock of one cell; a snapshot read
/// takes at least two.
///
/// # Errors
/// Those of any read.
pub async fn whole(reader: &Reader, first: Stock, mode: ReadMode, budget: Budget) -> Result<WholeStock, Error> {
    let (mut first, mut mode) = (first, mode);
    // The loop repeats only if an admin changed the number of cells in between.
    while !first.cells.is_one() {
        let keys = StockCell::keys_of(&first.product_id, first.cells);
        let items = match mode {
            ReadMode::Eventual | ReadMode::Strong => reader.batch(keys, mode.consistency(), budget).await?,
            ReadMode::Snapshot => snapshot(reader, keys, budget).await?,
        };
        match InStock::assemble(first.cells, items) {
            Ok(whole) => return Ok(whole),
            Err(Some(other)) => first = other,
            Err(None) => {
                mode = mode.escalate_after_nothing().ok_or(Error::Inconsistent("a stock that existed is gone"))?;
            }
        }
    }
    Ok(first.into())
}

/// The cells of a snapshot read, proved by [`Proof`].
async fn snapshot(reader: &Reader, keys: Vec<Key>, budget: Budget) -> Result<Vec<InStock>, Error> {
    let mut proof = Proof::default();
    let mut retries = budget.retries();
    loop {
        let items = reader.batch(keys.clone(), Consistency::Strong, budget).await?;
        match proof.found(items) {
            NextRead::None(items) => return Ok(items),
            NextRead::Snapshot => return reader.transact_get(keys, budget).await,
            NextRead::Cells { backoff } => {
                if backoff && !retries.pause().await {
                    return Err(Error::contention("units were transferred between cells for too long"));
                }
            }
        }
    }
}

/// The decisions of a snapshot read, without I/O: it takes two strongly consistent reads of all cells between which no
/// cell gained units.
///
/// A read of many items reads each of them at a different moment, so it can overlook units that are transferred in the
/// meantime. If no cell gained units between its first read and its second, then at the moment when the first reads had
/// ended no cell held more than its first read returned. So all cells together did not hold more either.
///
/// A cell that gains units changes its `put_backs` or its `transferred`. Both reads may still see a transfer in one of
/// its cells and not in another. Then the marks of all cells do not add up to zero, or a cell is missing.
///
/// Orders that take units do not disturb these reads. They would conflict with a read of all cells in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    before: Option<Vec<InStock>>,
    attempts: u32,
}

/// What to read next for a [`Proof`].
#[derive(Debug)]
pub enum NextRead {
    /// All cells, strongly consistent. Then call [`found`](Proof::found) again.
    Cells {
        /// Whether to pause first, because units were being transferred.
        backoff: bool,
    },
    /// All cells, in one transaction. Its result needs no further read.
    Snapshot,
    /// Nothing: these are the cells.
    None(Vec<InStock>),
}

impl Proof {
    /// Takes the cells that were read, and decides what to read next.
    pub fn found(&mut self, items: Vec<InStock>) -> NextRead {
        let after = Marks::of(&items);
        let Some(before) = self.before.replace(items) else { return NextRead::Cells { backoff: false } };
        let marks = Marks::of(&before);
        if marks.are_complete() && marks == after {
            return NextRead::None(before);
        }
        self.attempts += 1;
        // A transfer is partly visible for milliseconds only. If the marks do not add up for longer, somebody changed
        // them by hand, or a release that knew no marks transferred units.
        if self.attempts >= MOST_TORN_READS && !marks.are_complete() {
            return NextRead::Snapshot;
        }
        NextRead::Cells { backoff: true }
    }
}

/// The attributes of the cells that change when a cell gains units.
#[derive(PartialEq, Eq)]
struct Marks {
    /// The number of cells, according to the first one.
    cells: usize,
    /// The put-backs and the marks of transfers of each cell that was found.
    of_cells: BTreeMap<u8, (u64, i64)>,
}

impl Marks {
    fn of(items: &[InStock]) -> Self {
        let mut marks = Self { cells: 0, of_cells: BTreeMap::new() };
        for item in items {
            let (cell, of_cell) = match item {
                InStock::Stock(first) => {
                    marks.cells = first.cells.get().into();
                    (0, (first.put_backs, first.transferred))
                }
                InStock::StockCell(other) => (other.cell, (other.put_backs, other.transferred)),
                InStock::Unknown => continue,
            };
            marks.of_cells.insert(cell, of_cell);
        }
        marks
    }

    /// Whether every transfer is visible in all of its cells or in none.
    fn are_complete(&self) -> bool {
        let sum: i128 = self.of_cells.values().map(|(_, transferred)| i128::from(*transferred)).sum();
        self.of_cells.len() == self.cells && sum == 0
    }
}

/// A product with its stock. `None` if there is no such product.
///
/// # Errors
/// Those of any read.
pub async fn product(
    reader: &Reader,
    id: &ProductId,
    mode: ReadMode,
    budget: Budget,
) -> Result<Option<(Product, WholeStock)>, Error> {
    let keys = vec![Product::key_of(id), Stock::key_of(id)];
    let items = reader.batch(keys, mode.consistency(), budget).await?;
    let Some(WholeProduct { product, stock, .. }) = InProduct::assemble(items) else { return Ok(None) };
    Ok(Some((product, whole(reader, stock, mode, budget).await?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_eventually_consistent_read_that_finds_nothing_is_repeated() {
        let modes = [ReadMode::Eventual, ReadMode::Strong, ReadMode::Snapshot];
        assert_eq!(modes.map(ReadMode::escalate_after_nothing), [Some(ReadMode::Strong), None, None]);
    }
}
