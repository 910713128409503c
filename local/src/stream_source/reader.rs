//! Reads one shard.

use std::sync::Arc;

use anyhow::Result;

use super::record::Record;
use crate::aws_json::Refusal;
use crate::stream::{Position, Stream};
use crate::template::Pattern;

/// Reads one shard from its position on.
///
/// The position is kept in memory alone. After a restart over the same data everything is read, and delivered, again:
/// that is legal, for a stream's records come at least once, and it shows whether a consumer is exact under it.
pub(super) struct Reader {
    pub(super) stream: Arc<Stream>,
    pub(super) shard: String,
    pub(super) filters: Vec<Pattern>,
    pub(super) position: Position,
    /// Where the next read begins. None: it follows from the position.
    pub(super) iterator: Option<String>,
}

/// What one read found.
pub(super) enum Found {
    /// These records, or only such as nobody wants.
    Records(Vec<Record>),
    /// No records at present.
    Nothing,
    /// No records, now or ever.
    End,
}

impl Reader {
    /// Where reading begins, noted now: what is written after this is read.
    pub(super) async fn begin(&mut self) -> Result<()> {
        let iterator = self.stream.iterator(&self.shard, &self.position).await?;
        self.iterator = iterator.map_err(|refusal| refusal.into_error("GetShardIterator"))?;
        Ok(())
    }

    /// The records that come next and match a filter.
    pub(super) async fn read(&mut self) -> Result<Found> {
        let iterator = match self.iterator.take() {
            Some(iterator) => iterator,
            None => match self.stream.iterator(&self.shard, &self.position).await? {
                Ok(Some(iterator)) => iterator,
                Ok(None) => return Ok(Found::End),
                Err(refusal) => return Err(self.recover(refusal, "GetShardIterator")),
            },
        };
        let page = match self.stream.read(&iterator).await {
            Ok(Ok(page)) => page,
            // A read may be late and the iterator have expired: the position makes another one.
            Ok(Err(refusal)) => return Err(self.recover(refusal, "GetRecords")),
            Err(error) => {
                self.iterator = Some(iterator);
                return Err(error);
            }
        };

        let none = page.records.is_empty();
        let records = page.records.into_iter().map(|record| Record::new(record, self.stream.arn()));
        let records = records.collect::<Result<Vec<_>>>()?;
        if let Some(last) = records.last() {
            self.position = Position::After(last.sequence_number.clone());
        }
        self.iterator = page.next;
        match (&self.iterator, none) {
            (None, true) => Ok(Found::End),
            (_, true) => Ok(Found::Nothing),
            (_, false) => Ok(Found::Records(records.into_iter().filter(|record| self.wants(record)).collect())),
        }
    }

    fn wants(&self, record: &Record) -> bool {
        let matches = self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(&record.event));
        matches && !record.is_idle()
    }

    fn recover(&mut self, refusal: Refusal, action: &str) -> anyhow::Error {
        if refusal.is("TrimmedDataAccessException") {
            self.position = Position::TrimHorizon;
        }
        refusal.into_error(action)
    }
}
