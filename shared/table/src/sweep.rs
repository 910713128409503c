//! Working through a list that is spread over shards, as schedules do.

use key_schema::layout::{Index, Query};
use serde::de::DeserializeOwned;
use tracing::error;

use crate::{Error, Reader};

/// A list from its beginning, page by page.
#[derive(Debug)]
pub struct Sweep<'a, T> {
    reader: &'a Reader,
    shards: &'a [Query<T>],
    limit: u8,
    /// The position of the last page's last item. `None` before the first page.
    position: Option<String>,
    is_over: bool,
}

/// One page of a sweep.
#[derive(Debug)]
pub struct Swept<T> {
    /// The items that can be read, in the order of the list.
    pub items: Vec<T>,
    /// The number of items that cannot be read, for example those of a later release after a rollback. They do not hold up
    /// the items behind them. The log names them.
    pub unreadable: u64,
}

impl Reader {
    /// A sweep of the list with these shards, in pages of at most `limit` items.
    pub fn sweep<'a, T>(&'a self, shards: &'a [Query<T>], limit: u8) -> Sweep<'a, T> {
        Sweep { reader: self, shards, limit, position: None, is_over: false }
    }
}

impl<T: DeserializeOwned> Sweep<'_, T> {
    /// The next page, with the requests of [`Reader::merged_after`]. `None` at the end of the list.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn next(&mut self) -> Result<Option<Swept<T>>, Error> {
        if self.is_over {
            return Ok(None);
        }
        let (found, stopped) = self.reader.merged_items(self.shards, self.position.as_deref(), self.limit).await?;
        self.is_over = stopped.is_none();
        self.position = stopped;
        let mut page = Swept { items: Vec::with_capacity(found.len()), unreadable: 0 };
        for found in found {
            match found.read() {
                Ok(item) => page.items.push(item),
                Err(cause) => {
                    page.unreadable += 1;
                    let key = found.key(Index::Table);
                    error!(?key, cause = lambda::chain(&cause), "an item of a list cannot be read");
                }
            }
        }
        Ok(Some(page))
    }
}
