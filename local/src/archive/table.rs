//! The table that is archived.

use anyhow::{Context as _, Result};
use copying::Pace;
use futures_util::TryStreamExt as _;
use lambda::{Environment, FromEnvironment as _};
use table::{Description, Item, Segment, WholeTable};

use crate::scan;

/// A table, read as a whole at a pace.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) whole: WholeTable,
    units: Units,
}

/// The capacity that reading may consume.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// The most read units per second.
    pub per_second: u32,
    /// The number of segments that are read at once.
    pub workers: u8,
}

impl Table {
    /// The table of this environment, in its layout: `TABLE_NAME` and `TABLE_LAYOUT`.
    pub fn open(environment: &Environment, units: Units) -> Result<Self> {
        let whole = WholeTable::from_environment(environment).context("cannot reach the table")?;
        Ok(Self { whole, units })
    }

    /// The same, but the table that leads now, if the environment names the two tables of a migration.
    pub async fn leading(self) -> Result<Self> {
        let whole = self.whole.leading().await.context("the phase cannot be read")?;
        Ok(Self { whole, ..self })
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        self.whole.name()
    }

    /// Whether there is such a table.
    pub async fn exists(&self) -> Result<bool> {
        Ok(self.whole.describe().await.context("the table cannot be described")?.is_some())
    }

    pub(super) async fn describe(&self) -> Result<Description> {
        let described = self.whole.describe().await.context("the table cannot be described")?;
        described.with_context(|| format!("there is no table {}", self.name()))
    }

    pub(super) fn workers(&self) -> usize {
        usize::from(self.units.workers.max(1))
    }

    /// One worker's share of the capacity.
    pub(super) fn pace(&self) -> Pace {
        Pace::new(f64::from(self.units.per_second.max(1)) / f64::from(self.units.workers.max(1)), f64::MAX)
    }

    /// Reads a segment of the table page by page, with the items as the table has them.
    pub(super) async fn segment(
        &self,
        segment: Segment,
        pace: &mut Pace,
        mut each: impl FnMut(Vec<Item>) -> Result<()>,
    ) -> Result<()> {
        let mut pages = scan::segment(self.whole.clone(), segment);
        while let Some((items, units)) = pages.try_next().await? {
            each(items)?;
            pace.pay((units, 0.0)).await;
        }
        Ok(())
    }
}
