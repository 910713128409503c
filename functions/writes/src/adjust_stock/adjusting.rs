//! The attempts of one adjustment, until it is done or refused.

use http_api::{Answer, IfMatch, Once, Problem, ProductView, Reply, Respond, Versioned};
use key_schema::entity::{Product, WholeStock};
use key_schema::value::ProductId;
use stock::ReadMode;
use table::{Budget, Commit, Condition, Error, Reader, Throttle, Write, Writer, stored_answer};

use crate::optimistic::pause;

/// An adjustment, with its conditions.
pub(crate) struct Adjusting<'a> {
    pub table: &'a Reader,
    pub writer: &'a Writer,
    pub product: ProductId,
    pub delta: i64,
    pub if_match: IfMatch,
    pub once: Option<&'a Once>,
    pub budget: Budget,
}

struct Attempt {
    writes: Vec<Write>,
    /// The stock as it was read.
    before: WholeStock,
    /// The stock after the transaction, if nothing is sold in the meantime.
    after: WholeStock,
    /// The answer if the transaction succeeds.
    reply: Reply,
}

impl Adjusting<'_> {
    /// Adjusts the stock. The first attempt writes all cells in one transaction and spreads the units evenly over them.
    /// Under load, a transaction over all cells always conflicts with orders. So each conflict halves the number of
    /// cells that the next attempt writes, down to one. If the successful attempt wrote only some of the cells, the
    /// units are then levelled over all cells, one transfer at a time.
    pub(crate) async fn run(&self) -> Answer {
        let fails_fast = self.writer.clone().fail_fast_on_conflict();
        let mut most_cells = usize::MAX;
        let mut retries = self.budget.retries();
        loop {
            let Attempt { writes, before, after, reply } = self.attempt(most_cells).await?;
            match fails_fast.commit(writes, self.budget).await {
                Ok(Commit::Done) => {
                    // The adjustment is done, so an error while levelling the cells does not change the answer.
                    if most_cells < before.units.len() {
                        _ = stock::level(self.writer, &after, self.budget).await;
                    }
                    return Ok(reply);
                }
                Ok(Commit::Cancelled(mut causes)) => {
                    if let Some(once) = self.once
                        && let Some(stored) = stored_answer(&mut causes)?
                    {
                        return once.replay(stored);
                    }
                }
                Err(Error::Throttled { by: Throttle::Contention, .. }) => {
                    let cells = before.units.iter().zip(&after.units).filter(|(before, after)| before != after).count();
                    most_cells = (most_cells.min(cells) / 2).max(1);
                    // Fewer cells can only give the units if these cells hold enough of them.
                    let wanted = self.delta.min(0).unsigned_abs();
                    if wanted > 0 && cells > 1 {
                        stock::gather(self.writer, &before, wanted, self.budget).await?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
            pause(&mut retries, "product").await?;
        }
    }

    /// The next attempt, for the product as it is now. It writes at most `most_cells` cells.
    ///
    /// # Errors
    /// The reason why the adjustment is refused. Only a snapshot read proves "out of stock", unless there is one cell.
    async fn attempt(&self, most_cells: usize) -> Result<Attempt, Problem> {
        let mut mode = ReadMode::Strong;
        loop {
            let found = stock::product(self.table, &self.product, mode, self.budget).await?;
            let (product, before) = found.ok_or_else(|| Problem::not_found("product"))?;
            if !self.if_match.matches(product.version) {
                return Err(Problem::version_conflict(product.version));
            }
            if let Some(units) = before.adjusted(self.delta, most_cells) {
                let after = WholeStock { units, ..before.clone() };
                return self.transaction(&product, before, after);
            }
            if mode == ReadMode::Snapshot || before.cells().is_one() {
                return Err(Problem::out_of_stock(&self.product, before.available()));
            }
            mode = ReadMode::Snapshot;
        }
    }

    fn transaction(&self, product: &Product, before: WholeStock, after: WholeStock) -> Result<Attempt, Problem> {
        let version = product.version + 1;
        let next = Product { version, ..product.clone() };
        let mut writes = vec![Write::change(product, &next, Condition::version(product.version)?)?];
        writes.extend(stock::adjust(&before, &after.units)?);
        let reply = Versioned::new(version, ProductView::with_stock(next, &after)).respond()?;
        writes.extend(self.once.map(|once| Write::answer(&once.record(&reply), once.now())).transpose()?);
        Ok(Attempt { writes, before, after, reply })
    }
}
