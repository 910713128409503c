//! Reads one shard.

use std::sync::Arc;

use anyhow::Result;

use super::record::Record;
use crate::aws_json::Refusal;
use crate::stories::Stories;
use crate::stream::{Position, Stream};
use crate::template::Pattern;

/// Reads one shard from a position.
///
/// The position is kept in memory only. After a restart over the same data all records are read and delivered again.
/// Streams deliver records at least once, so consumers must tolerate that.
pub(super) struct Reader {
    pub(super) stream: Arc<Stream>,
    pub(super) table: String,
    pub(super) stories: Arc<Stories>,
    pub(super) shard: String,
    pub(super) filters: Vec<Pattern>,
    pub(super) position: Position,
    /// The iterator of the next read. `None`: it is derived from the position.
    pub(super) iterator: Option<String>,
}

pub(super) enum Found {
    Records(Vec<Record>),
    /// No records at present.
    Nothing,
    /// No records, now or later: the shard has ended.
    End,
}

impl Reader {
    /// Reads the next records, and keeps those that match a filter.
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
            // The iterator may have expired before the read: get another one from the position.
            Ok(Err(refusal)) => return Err(self.recover(refusal, "GetRecords")),
            Err(error) => {
                self.iterator = Some(iterator);
                return Err(error);
            }
        };

        let none = page.records.is_empty();
        let records = page.records.into_iter().map(|record| Record::new(record, self.stream.arn()));
        let records = records.collect::<Result<Vec<_>>>()?;
        self.stories.streamed(&self.table, &self.shard, records.iter().map(|record| &record.event));
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
