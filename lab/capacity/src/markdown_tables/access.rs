//! The tables of reads by key and of writes in `docs/key-schema.md`, rendered from the ledger. The tests compare the
//! ledger with every recorded call.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::layout::{Consistency, ENTITY_TYPE};
use key_schema::markdown_tables::table;
use serde_dynamo::AttributeValue;

use super::LARGE;
use crate::ledger::{self, Request, Several, Write};
use sample_items::{Kind, NoSample, Sample};

/// The kinds of items of each operation, by its name: `get`, `put` and so on.
type Done = BTreeMap<&'static str, BTreeSet<String>>;

/// The table of reads by key that are not access patterns.
pub fn reads() -> Result<String, NoSample> {
    let sample = Sample::new(LARGE)?;
    let mut functions: BTreeMap<&str, Done> = BTreeMap::new();
    for operation in ledger::operations() {
        for Several { of, .. } in &operation.requests {
            let (how, kinds) = match of {
                Request::Batch(Consistency::Eventual, kinds) => ("BatchGetItem, eventual", kinds),
                Request::Batch(Consistency::Strong, kinds) => ("BatchGetItem, strong", kinds),
                Request::ReadTransaction(kinds) => ("TransactGetItems", kinds),
                _ => continue,
            };
            let done = functions.entry(&operation.function).or_default().entry(how).or_default();
            done.extend(kinds.iter().filter_map(|kind| entity(&sample, kind.of)));
        }
    }
    let rows = functions.into_iter().flat_map(|(function, done)| {
        let known = done.into_iter().filter(|(_, entities)| !entities.is_empty());
        known.map(move |(how, entities)| vec![format!("`{function}`"), how.to_owned(), list(&entities)])
    });
    Ok(table(&["function", "request", "entities"], rows))
}

/// The table of writes.
pub fn writes() -> Result<String, NoSample> {
    let sample = Sample::new(LARGE)?;
    // Single writes, and writes in a transaction.
    let mut functions: BTreeMap<&str, [Done; 2]> = BTreeMap::new();
    for operation in ledger::operations() {
        let [alone, together] = functions.entry(&operation.function).or_default();
        for Several { of, .. } in &operation.requests {
            match of {
                Request::Write(write) | Request::Failed(write) => note(&sample, alone, *write),
                Request::Transaction(writes) | Request::Cancelled(writes) | Request::Repeated(writes) => {
                    for write in writes {
                        note(&sample, together, write.of);
                    }
                }
                _ => {}
            }
        }
    }
    let rows = functions.into_iter().filter(|(_, done)| done.iter().any(|done| !done.is_empty()));
    let rows = rows.map(|(function, [alone, together])| vec![format!("`{function}`"), told(&alone), told(&together)]);
    Ok(table(&["function", "alone", "in a transaction"], rows))
}

fn note(sample: &Sample, done: &mut Done, write: Write) {
    let (how, kind) = match write {
        Write::New(kind) | Write::Over(_, kind) => ("put", kind),
        Write::Update(_, kind) => ("change", kind),
        Write::Delete(kind) => ("delete", kind),
        Write::Check(kind) => ("check", kind),
    };
    if let Some(entity) = entity(sample, kind) {
        done.entry(how).or_default().insert(entity);
    }
}

/// The item's entity type.
fn entity(sample: &Sample, kind: Kind) -> Option<String> {
    match sample.item(kind)?.get(ENTITY_TYPE)? {
        AttributeValue::S(name) => Some(name.clone()),
        _ => None,
    }
}

fn told(done: &Done) -> String {
    done.iter().map(|(how, entities)| format!("{how} {}", list(entities))).collect::<Vec<_>>().join("; ")
}

fn list(entities: &BTreeSet<String>) -> String {
    entities.iter().map(|entity| format!("`{entity}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tables_of_reads_and_writes_equal_the_ledger() {
        let charts = [("reads-by-key", super::reads()), ("writes", super::writes())];
        let charts = charts.map(|(name, chart)| (name, chart.expect("a chart")));
        docs_check::check("key-schema.md", &charts, "cargo test -p capacity").expect("docs/key-schema.md");
    }
}
