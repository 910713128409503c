//! The read modes of placing an order: cheap at first, and stronger where the answer depends on it.

use std::collections::BTreeMap;

use key_schema::entity::{Rejection, Stock};
use key_schema::layout::Consistency;
use key_schema::value::ProductId;
use stock::ReadMode;

use crate::found::Found;
use crate::{Basket, RequestedLine};

/// The modes of the next read.
#[derive(Clone, Debug)]
pub(crate) struct ReadPlan {
    /// The mode for all items that the order depends on. An eventually consistent first read may return old values; the
    /// conditions of the transaction detect that.
    all: ReadMode,
    /// The products whose cells are all read, not only the first one, and the mode for them.
    cells: BTreeMap<ProductId, ReadMode>,
}

impl ReadPlan {
    /// The plan for a customer's request.
    ///
    /// The first read is eventually consistent, unless the basket has a discount code: the transaction does not check a
    /// code with unlimited uses, so the read must see a revocation.
    pub(crate) fn of(basket: &Basket) -> Self {
        if basket.request().codes().next().is_some() { Self::strong() } else { Self::new(ReadMode::Eventual) }
    }

    /// A plan whose first read is strongly consistent.
    pub(crate) fn strong() -> Self {
        Self::new(ReadMode::Strong)
    }

    fn new(all: ReadMode) -> Self {
        Self { all, cells: BTreeMap::new() }
    }

    pub(crate) fn consistency(&self) -> Consistency {
        self.all.consistency()
    }

    /// The mode in which to read all cells of a stock, or `None` to read only the first one. `is_scarce` tells that the
    /// first one has too little.
    fn mode_of_cells(&self, product: &ProductId, is_scarce: bool) -> Option<ReadMode> {
        self.cells.get(product).copied().or(is_scarce.then_some(self.all))
    }

    /// The stocks of these lines of which all cells are to be read, with the mode.
    pub(crate) fn cells_to_read<'f>(
        &'f self,
        lines: &'f [RequestedLine],
        found: &'f Found,
    ) -> impl Iterator<Item = (&'f Stock, ReadMode)> {
        lines.iter().filter_map(|line| {
            let first = found.stock.get(&line.product_id).filter(|first| !first.cells.is_one())?;
            let is_scarce = first.available < line.quantity.get().into();
            Some((first, self.mode_of_cells(&line.product_id, is_scarce)?))
        })
    }

    /// Makes the next read strongly consistent, because items have changed since the last one. `short` are the products
    /// whose cell had too little: all of their cells are read.
    pub(crate) fn escalate(&mut self, short: impl IntoIterator<Item = ProductId>) {
        self.all = ReadMode::Strong;
        self.cells = short.into_iter().map(|product| (product, ReadMode::Strong)).collect();
    }

    /// Whether the last read proves the rejection. If not, escalates the next read so that it does.
    pub(crate) fn is_conclusive(&mut self, rejection: &Rejection, found: &Found) -> bool {
        let was_strong = std::mem::replace(&mut self.all, ReadMode::Strong) != ReadMode::Eventual;
        match rejection {
            Rejection::OutOfStock { product, .. } if found.is_in_cells(product) => {
                self.cells.insert(product.clone(), ReadMode::Snapshot) == Some(ReadMode::Snapshot)
            }
            _ => was_strong,
        }
    }
}
