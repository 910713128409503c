//! The records of the tables' streams, and who made them.

use jiff::Timestamp;
use serde_json::Value;

use super::writes::{Record, writes_of};
use super::{Arrived, Inside, MOST_CALLS, Stories, StreamRecord, call, record_id};

impl Stories {
    /// A call is about to be carried out. The number is that of its writes, if it has some.
    pub(crate) fn writing(&self, arrived: &Arrived, action: &str, request: &Value) -> Option<u64> {
        if !self.is_on {
            return None;
        }
        let writes = writes_of(action, request, |item, table| call::key_of(item, table, &self.keys));
        if writes.is_empty() {
            return None;
        }
        let mut inside = self.inside();
        inside.calls += 1;
        let call = inside.calls;
        inside.writes.begin(call, arrived.by, Timestamp::now().as_second(), writes);
        Some(call)
    }

    /// It was carried out or refused.
    pub(crate) fn wrote(&self, writing: Option<u64>, took_effect: bool) {
        if let Some(call) = writing {
            self.inside().writes.end(call, took_effect);
        }
    }

    /// These records, in Lambda's format, were read from a shard of a table's stream. Each consumer reads them.
    pub(crate) fn streamed<'a>(&self, table: &str, shard: &str, records: impl Iterator<Item = &'a Value>) {
        if !self.is_on {
            return;
        }
        let number = |event: &Value| event["dynamodb"]["SequenceNumber"].as_str().and_then(|text| text.parse().ok());
        self.change(|inside| {
            let last = inside.read.get(shard).copied();
            let new = records.filter(|event| number(event) > last);
            let (read, events): (Vec<_>, Vec<_>) =
                new.filter_map(|event| Some((self.record_of(table, event)?, event))).unzip();
            let Some(newest) = events.last().and_then(|event| number(event)) else { return };
            inside.read.insert(shard.to_owned(), newest);
            for (at, event) in events.into_iter().enumerate() {
                let Some(write) = inside.writes.take(&read[at..]) else { continue };
                // The embedded engine makes a record of a write that changes nothing; AWS does not.
                let is_idle = !read[at].new.is_null() && read[at].new == read[at].old;
                if let (Some(by), false) = (write.by, is_idle) {
                    inside.made(by, StreamRecord::of(table, &read[at].place.1, event));
                }
            }
        });
    }

    fn record_of<'a>(&self, table: &str, event: &'a Value) -> Option<Record<'a>> {
        let written = &event["dynamodb"];
        let key = call::key_of(&written["Keys"], table, &self.keys)?;
        let second = written["ApproximateCreationDateTime"].as_i64()?;
        Some(Record { place: (table.to_owned(), key), second, old: &written["OldImage"], new: &written["NewImage"] })
    }
}

impl Inside {
    fn made(&mut self, by: u64, record: StreamRecord) {
        let Some(node) = self.nodes.get_mut(&by) else { return };
        let id = record_id(&record.table, &record.sequence_number);
        if node.records.len() < MOST_CALLS {
            node.records.push(record);
        }
        node.made.push(id.clone());
        self.makers.insert(id, by);
    }
}
