//! Looking at all cells of a stock.

use std::collections::BTreeMap;

use key_schema::entity::{Product, Stock, WholeStock};
use key_schema::layout::{CellsOfStock, Consistency, InStock, ProductById};
use key_schema::value::ProductId;
use table::{Budget, Error, Reader};

/// So many times marks may not add up before another proof is looked for.
const PATIENCE: u32 = 5;

/// How closely something is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Cheaply. What is seen may be behind.
    Eventual,
    /// Each cell as it is when it is read. What is moved meanwhile may be seen twice, or not at all.
    Strong,
    /// All cells, so that what they hold together was not exceeded at one moment. Only this look bears out that there is
    /// not enough.
    Snapshot,
}

impl ReadMode {
    /// How fresh ordinary reads are that belong to it.
    pub fn consistency(self) -> Consistency {
        match self {
            Self::Eventual => Consistency::Eventual,
            Self::Strong | Self::Snapshot => Consistency::Strong,
        }
    }
}

/// What lies in all cells of a stock whose first cell was just read. One request, and none for a stock of one cell.
///
/// # Errors
/// Those of any read.
pub async fn whole(reader: &Reader, first: Stock, mode: ReadMode, budget: Budget) -> Result<WholeStock, Error> {
    let (mut first, mut mode) = (first, mode);
    // The number of cells changes seldom: an admin changes it.
    while !first.cells.is_one() {
        let pattern = CellsOfStock { product: &first.product_id, cells: first.cells };
        let items = match mode {
            ReadMode::Eventual | ReadMode::Strong => reader.batch(pattern.keys(), mode.consistency(), budget).await?,
            ReadMode::Snapshot => snapshot(reader, &pattern, budget).await?,
        };
        match pattern.assemble(items) {
            Ok(whole) => return Ok(whole),
            Err(Some(other)) => first = other,
            // A read that may be behind may know nothing yet of a stock that another one has seen.
            Err(None) if mode == ReadMode::Eventual => mode = ReadMode::Strong,
            Err(None) => return Err(Error::Inconsistent("a stock was there and is gone")),
        }
    }
    Ok(first.into())
}

/// All cells, so that what they hold together was not exceeded at one moment: [`Proof`].
async fn snapshot(reader: &Reader, pattern: &CellsOfStock<'_>, budget: Budget) -> Result<Vec<InStock>, Error> {
    let mut proof = Proof::default();
    let mut retries = budget.retries();
    loop {
        let items = reader.batch(pattern.keys(), Consistency::Strong, budget).await?;
        match proof.found(items) {
            NextRead::None(items) => return Ok(items),
            NextRead::Snapshot => return reader.transact_get(pattern.keys(), budget).await,
            NextRead::Cells { backoff } => {
                if backoff && !retries.pause().await {
                    return Err(Error::contention("units were moved between cells for too long"));
                }
            }
        }
    }
}

/// All cells as two strongly consistent reads found them between which nothing came into any of them. No I/O.
///
/// A read of many items sees each of them at another moment, so units that move meanwhile may be overlooked. Here, no
/// cell gained units between its first read and its second. At the moment when the first reads had ended, no cell held
/// more than its first read saw, and so all of them together did not. `put_backs` and `moved` tell whether a cell gained
/// units. A transaction that moves units may be seen in one of its cells and not yet in another for as long as both reads
/// take: then the marks of all cells do not add up to zero, or a cell is missing.
///
/// Orders that take units are in nobody's way here, as they would be if all cells were read in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    before: Option<Vec<InStock>>,
    attempts: u32,
}

/// What to read next for a [`Proof`].
#[derive(Debug)]
pub enum NextRead {
    /// All cells, strongly consistent, after a pause if units were being moved.
    Cells {
        /// Whether to pause first.
        backoff: bool,
    },
    /// All cells, in one transaction. Nothing more after that.
    Snapshot,
    /// Nothing: these are the cells.
    None(Vec<InStock>),
}

impl Proof {
    /// All cells were read.
    pub fn found(&mut self, items: Vec<InStock>) -> NextRead {
        let after = Marks::of(&items);
        let Some(before) = self.before.replace(items) else { return NextRead::Cells { backoff: false } };
        let marks = Marks::of(&before);
        if marks.are_whole() && marks == after {
            return NextRead::None(before);
        }
        self.attempts += 1;
        // A move is half visible for milliseconds. Marks that do not add up for longer have been changed by hand, or by
        // a release that did not write them.
        if self.attempts >= PATIENCE && !marks.are_whole() {
            return NextRead::Snapshot;
        }
        NextRead::Cells { backoff: true }
    }
}

/// What changes of the cells when units come into one of them.
#[derive(PartialEq, Eq)]
struct Marks {
    /// How many cells there are, as the first one says.
    cells: usize,
    /// The put-backs and the marks of moves of each cell that is there.
    of_cells: BTreeMap<u8, (u64, i64)>,
}

impl Marks {
    fn of(items: &[InStock]) -> Self {
        let mut marks = Self { cells: 0, of_cells: BTreeMap::new() };
        for item in items {
            let (cell, of_cell) = match item {
                InStock::Stock(first) => {
                    marks.cells = first.cells.get().into();
                    (0, (first.put_backs, first.moved))
                }
                InStock::StockCell(other) => (other.cell, (other.put_backs, other.moved)),
            };
            marks.of_cells.insert(cell, of_cell);
        }
        marks
    }

    /// Whether no move was half visible.
    fn are_whole(&self) -> bool {
        let sum: i128 = self.of_cells.values().map(|(_, moved)| i128::from(*moved)).sum();
        self.of_cells.len() == self.cells && sum == 0
    }
}

/// A product with its stock as they are: what a change of either is decided on.
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
    let Some((product, stock, _)) = ProductById::assemble(items) else { return Ok(None) };
    Ok(Some((product, whole(reader, stock, mode, budget).await?)))
}
