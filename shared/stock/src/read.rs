//! Looking at all cells of a stock.

use key_schema::entity::{Product, Stock, WholeStock};
use key_schema::layout::{CellsOfStock, Consistency, ProductById};
use key_schema::value::ProductId;
use table::{Budget, Error, Reader};

/// How closely something is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Cheaply. What is seen may be behind.
    Glance,
    /// Each cell as it is when it is read. What is moved meanwhile may be seen twice, or not at all.
    Close,
    /// All cells at one moment, at which nothing is under way on them. Only this look bears out that there is not
    /// enough.
    AtOnce,
}

impl Look {
    /// How fresh ordinary reads are that belong to it.
    pub fn consistency(self) -> Consistency {
        match self {
            Self::Glance => Consistency::Eventual,
            Self::Close | Self::AtOnce => Consistency::Strong,
        }
    }
}

/// What lies in all cells of a stock whose first cell was just read. One request, and none for a stock of one cell.
///
/// # Errors
/// Those of any read.
pub async fn whole(reader: &Reader, first: Stock, look: Look, budget: Budget) -> Result<WholeStock, Error> {
    let (mut first, mut look) = (first, look);
    // The number of cells changes seldom: an admin changes it.
    while !first.cells.is_one() {
        let pattern = CellsOfStock { product: &first.product_id, cells: first.cells };
        let items = match look {
            Look::Glance | Look::Close => reader.batch(pattern.keys(), look.consistency(), budget).await?,
            Look::AtOnce => reader.settled(pattern.keys(), budget).await?,
        };
        match pattern.assemble(items) {
            Ok(whole) => return Ok(whole),
            Err(Some(other)) => first = other,
            // A read that may be behind may know nothing yet of a stock that another one has seen.
            Err(None) if look == Look::Glance => look = Look::Close,
            Err(None) => return Err(Error::Refused("a stock was there and is gone".into())),
        }
    }
    Ok(first.into())
}

/// A product with its stock as they are: what a change of either is decided on.
///
/// # Errors
/// Those of any read.
pub async fn product(
    reader: &Reader,
    id: &ProductId,
    look: Look,
    budget: Budget,
) -> Result<Option<(Product, WholeStock)>, Error> {
    let keys = vec![Product::key_of(id), Stock::key_of(id)];
    let items = reader.batch(keys, look.consistency(), budget).await?;
    let Some((product, stock, _)) = ProductById::assemble(items) else { return Ok(None) };
    Ok(Some((product, whole(reader, stock, look, budget).await?)))
}
