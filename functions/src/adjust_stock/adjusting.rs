//! The attempts at one adjustment, until it is made or refused.

use std::time::Duration;

use http_api::{Answer, IfMatch, Kind, Once, Problem, ProductView, Reply};
use key_schema::entity::{Product, WholeStock};
use key_schema::value::ProductId;
use stock::ReadMode;
use table::{Budget, Commit, Condition, Error, Reader, Throttle, Write, Writer};

/// How long units that have arrived are moved on to other cells before the request is answered.
const SHARING_OUT: Duration = Duration::from_secs(4);

/// An adjustment, and on what terms it is made.
pub(crate) struct Adjusting<'a> {
    pub table: &'a Reader,
    pub writer: &'a Writer,
    pub product: ProductId,
    pub delta: i64,
    pub if_match: IfMatch,
    pub once: Option<&'a Once>,
    pub budget: Budget,
}

/// The transaction of one attempt.
struct Attempt {
    writes: Vec<Write>,
    /// The stock as it was read.
    before: WholeStock,
    /// The stock as it will be, but for what is sold meanwhile.
    after: WholeStock,
    /// What is answered if it succeeds.
    reply: Reply,
}

impl Adjusting<'_> {
    /// A stock in several cells is shared out anew, all cells in one transaction. Under load they are never all free at
    /// once, so each conflict halves the number of cells that the next attempt writes, down to one. Units that came into
    /// few cells are then moved to the others one move at a time.
    pub(crate) async fn run(&self) -> Answer {
        let hasty = self.writer.clone().fail_fast_on_conflict();
        let mut most_cells = usize::MAX;
        let mut retries = self.budget.retries();
        loop {
            let Attempt { writes, before, after, reply } = self.attempt(most_cells).await?;
            match hasty.commit(writes, self.budget).await {
                Ok(Commit::Done) => {
                    // The units are there. How far they are shared out changes no answer.
                    if most_cells < before.units.len() {
                        _ = stock::level(self.writer, &after, self.budget.at_most(SHARING_OUT)).await;
                    }
                    return Ok(reply);
                }
                Ok(Commit::Cancelled(mut causes)) => {
                    if let Some(reply) = self.once.map(|once| once.done_before(&mut causes)).transpose()?.flatten() {
                        return Ok(reply);
                    }
                }
                Err(Error::Throttled { by: Throttle::Contention, .. }) => {
                    let cells = before.units.iter().zip(&after.units).filter(|(before, after)| before != after).count();
                    most_cells = (most_cells.min(cells) / 2).max(1);
                    // Units that are taken out must first lie in few cells.
                    let wanted = self.delta.min(0).unsigned_abs();
                    if wanted > 0 && cells > 1 {
                        stock::gather(self.writer, &before, wanted, self.budget).await?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
            if !retries.pause().await {
                return Err(Error::contention("others were changing the product for too long").into());
            }
        }
    }

    /// The adjustment of the product as it is now, in at most so many cells.
    ///
    /// # Errors
    /// Why it cannot be made. That there are too few units is only certain once all cells were read at once.
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
                let available = before.available();
                return Err(Problem::new(Kind::OutOfStock, format!("Only {available} are there."))
                    .with("productId", &self.product)
                    .with("available", available));
            }
            mode = ReadMode::Snapshot;
        }
    }

    fn transaction(&self, product: &Product, before: WholeStock, after: WholeStock) -> Result<Attempt, Problem> {
        let version = product.version + 1;
        let next = Product { version, ..product.clone() };
        let mut writes = vec![Write::change(product, &next, Condition::version(product.version)?)?];
        writes.extend(stock::adjust(&before, &after.units)?);
        let reply = Reply::ok(&ProductView::with_stock(next, &after))?.etag(version);
        writes.extend(self.once.map(|once| once.keep(&reply)).transpose()?);
        Ok(Attempt { writes, before, after, reply })
    }
}
