//! A limit of write capacity, like that of a table with provisioned capacity.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Map, Value};

use super::capacity::{Access, Consumed};
use super::fault::Fault;

/// The actions that a limit applies to.
pub(super) const WRITES: [&str; 5] = ["BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"];

/// The write units per second of each table and each index, and the refusal of writes beyond them.
///
/// Each has a token bucket of one second's units, which refills continuously. A write is debited with the units that
/// the engine reports in its response. A write is refused while a bucket of its table is empty or overdrawn. Limited
/// writes run one at a time, so a bucket is overdrawn by one call at most:
///
/// **in any `t` seconds, a table or index consumes less than `(1 + t)` times its units per second and one call more.**
///
/// Three things are simpler than on AWS. If an index's bucket is empty, every write to the table is refused, even one
/// that does not touch the index, because the engine reports only afterwards which indexes a write touched. A write
/// whose condition fails costs nothing, because the engine does not report its cost. Unused units are kept for one
/// second, not for five minutes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteLimit {
    units_per_second: f64,
    cancels: bool,
}

impl WriteLimit {
    /// A limit of `units` write units per second for each table and each index. Zero refuses every write.
    pub fn per_second(units: f64) -> Self {
        Self { units_per_second: units, cancels: false }
    }

    /// Cancels transactions beyond the limit because of their first item in the exhausted table, instead of refusing
    /// them with a `ProvisionedThroughputExceededException`. DynamoDB does both.
    #[must_use]
    pub fn cancelling(self) -> Self {
        Self { cancels: true, ..self }
    }
}

pub(super) struct Meter {
    limit: WriteLimit,
    /// By the names of the table and the index. A table sorts before its indexes.
    buckets: BTreeMap<(String, Option<String>), Bucket>,
}

struct Bucket {
    units: f64,
    counted_at: Instant,
}

impl Meter {
    pub(super) fn new(limit: WriteLimit) -> Self {
        Self { limit, buckets: BTreeMap::new() }
    }

    /// The refusal of this call, if it is beyond the limit.
    pub(super) fn refusal(&mut self, action: &str, request: &Value, now: Instant) -> Option<Fault> {
        let tables = written_tables(action, request);
        for table in &tables {
            self.bucket(table, None, now);
        }
        let rate = self.limit.units_per_second;
        let (item, table, index) = self.buckets.iter().find_map(|((table, index), bucket)| {
            let item = tables.iter().position(|written| written == table)?;
            (bucket.units_at(now, rate) <= 0.0).then_some((item, table, index.as_deref()))
        })?;

        Some(if self.limit.cancels && action == "TransactWriteItems" {
            Fault::exhausted(item, index.is_some())
        } else {
            Fault::beyond_provisioned(table, index)
        })
    }

    /// Debits what a call has consumed. This may overdraw a bucket.
    pub(super) fn debit(&mut self, consumed: &[Consumed], now: Instant) {
        for consumed in consumed.iter().filter(|consumed| consumed.access == Access::Write) {
            self.bucket(&consumed.table, None, now).units -= consumed.table_units;
            for (index, units) in &consumed.index_units {
                self.bucket(&consumed.table, Some(index), now).units -= units;
            }
        }
    }

    /// The bucket, refilled up to now. A new bucket is full.
    fn bucket(&mut self, table: &str, index: Option<&str>, now: Instant) -> &mut Bucket {
        let rate = self.limit.units_per_second;
        let name = (table.to_owned(), index.map(str::to_owned));
        let bucket = self.buckets.entry(name).or_insert(Bucket { units: rate, counted_at: now });
        *bucket = Bucket { units: bucket.units_at(now, rate), counted_at: now };
        bucket
    }
}

impl Bucket {
    fn units_at(&self, now: Instant, rate: f64) -> f64 {
        let refilled = rate * now.saturating_duration_since(self.counted_at).as_secs_f64();
        (self.units + refilled).min(rate)
    }
}

/// The tables that a call writes to. A transaction has one entry for each of its items.
fn written_tables<'a>(action: &str, request: &'a Value) -> Vec<&'a str> {
    let table_of = |write: &'a Value| write["TableName"].as_str().unwrap_or_default();
    match action {
        "BatchWriteItem" => {
            request["RequestItems"].as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
        }
        "TransactWriteItems" => {
            let items = request["TransactItems"].as_array().into_iter().flatten();
            items.map(|item| item.as_object().and_then(|item| item.values().next()).map_or("", table_of)).collect()
        }
        _ => vec![table_of(request)],
    }
}
