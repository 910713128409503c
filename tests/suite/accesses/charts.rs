//! The charts in `docs/key-schema.md` of who reads what and who writes what, from the recorded accesses, the declarations
//! and the ledger.

use std::collections::{BTreeMap, BTreeSet};

use capacity::Units;
use capacity::ledger::{self, Write};
use consumers::CONSUMERS;
use key_schema::access::Action;
use key_schema::layout::{Declaration, ENTITIES, ENTITY_TYPE, PATTERNS, PATTERNS_OF_FUNCTIONS};
use key_schema::markdown_tables::table;
use local::functions::routes;
use sample_items::{Kind, Sample, SampleSizes};
use serde_dynamo::AttributeValue;
use shop::accesses::{Accesses, Written};

use super::recorded;

/// The chart of who asks along each access pattern. Several patterns are the same read; so the functions that Query are
/// those that declare the question.
fn askers(record: &Accesses) -> String {
    let of_routes = routes().map(|route| (route.function.name(), route.route.access.concat()));
    let of_consumers = CONSUMERS.iter().map(|consumer| (consumer.function.name(), consumer.access.concat()));
    let declared: BTreeMap<String, BTreeSet<&str>> = of_routes
        .chain(of_consumers)
        .map(|(name, accesses)| {
            let queries = accesses.into_iter().filter(|access| access.action == Action::Query);
            (name, queries.map(|access| access.subject).collect())
        })
        .collect();
    let is_query = |question: &str| declared.values().any(|questions| questions.contains(question));
    let rows = PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS).map(|pattern| {
        let asks = |name: &str| match declared.get(name) {
            Some(questions) if is_query(pattern.question) => questions.contains(pattern.question),
            _ => record[name].patterns.contains(pattern.question),
        };
        let names: BTreeSet<_> = record.keys().filter(|name| asks(name)).cloned().collect();
        let asked_by = if names.is_empty() { as_another(pattern) } else { code(&names) };
        vec![pattern.number.to_string(), pattern.question.to_owned(), asked_by]
    });
    table(&["#", "question", "asked by"], rows)
}

/// The number of the pattern as which this one is asked: the same read answers both.
fn as_another(pattern: &Declaration) -> String {
    let is_same = |other: &&Declaration| {
        other.question != pattern.question && other.place == pattern.place && other.entities == pattern.entities
    };
    let other = PATTERNS.iter().find(is_same).expect("somebody asks for each pattern");
    format!("as {}", other.number)
}

/// The chart of the reads that are along no access pattern.
fn reads(record: &Accesses) -> String {
    let rows = record.iter().flat_map(|(name, asked)| {
        asked.reads.iter().map(move |(request, entities)| vec![format!("`{name}`"), request.clone(), code(entities)])
    });
    table(&["by", "request", "entities"], rows)
}

/// The chart of writes: one row for all that do the same.
fn writes(record: &Accesses) -> String {
    let sample = Sample::new(SampleSizes::TYPICAL).expect("a sample");
    let mut rows: BTreeMap<(usize, Written), BTreeSet<String>> = BTreeMap::new();
    for (name, asked) in record {
        for written in asked.writes.clone() {
            let place = ENTITIES.iter().position(|(entity, _)| *entity == written.entity).unwrap_or(ENTITIES.len());
            rows.entry((place, written)).or_default().insert(name.clone());
        }
    }
    let rows = rows.into_iter().map(|((_, written), names)| {
        let conditions = written.conditions.iter().map(|condition| match condition.as_str() {
            "" => "none".to_owned(),
            condition => format!("`{condition}`"),
        });
        vec![
            format!("`{}`", written.entity),
            key(&written.entity),
            written.write.clone(),
            conditions.collect::<Vec<_>>().join(" or "),
            if written.transaction { others(&written.with) } else { "alone".to_owned() },
            units(&sample, &written, &names),
            code(&names),
        ]
    });
    table(&["entity", "key", "write", "condition", "in a transaction with", "units", "by"], rows)
}

fn code(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The templates of the key in the table.
fn key(entity: &str) -> String {
    match ENTITIES.iter().find(|(name, _)| *name == entity) {
        Some((_, [place, ..])) if place.partition == place.sort => format!("`{}`", place.partition),
        Some((_, [place, ..])) => format!("`{}`, `{}`", place.partition, place.sort),
        _ => String::new(),
    }
}

/// The other writes of a transaction: `change a, b; put c`.
fn others(with: &BTreeSet<String>) -> String {
    let mut verbs: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (verb, entity) in with.iter().filter_map(|other| other.split_once(' ')) {
        verbs.entry(verb).or_default().insert(entity.to_owned());
    }
    verbs.iter().map(|(verb, entities)| format!("{verb} {}", code(entities))).collect::<Vec<_>>().join("; ")
}

/// The units of such a write in the ledger: by these functions, or else by any function, or else as the rules say of a
/// sample item.
fn units(sample: &Sample, written: &Written, names: &BTreeSet<String>) -> String {
    let of = |is_by: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
        let operations = ledger::operations().filter(|operation| is_by(&operation.function));
        let writes = operations.flat_map(|operation| operation.writes().collect::<Vec<_>>());
        let alike = writes.filter(|(write, is_in_transaction)| {
            *is_in_transaction == written.transaction
                && told(sample, *write) == Some((written.write.as_str(), written.entity.as_str()))
        });
        alike.map(|(write, is_in_transaction)| text(write.units(sample, is_in_transaction))).collect()
    };
    let mut all = of(&|name| names.contains(name));
    if all.is_empty() {
        all = of(&|_| true);
    }
    if all.is_empty() {
        let mut kinds =
            sample.images().map(|(kind, _)| kind).filter(|kind| entity(sample, *kind) == Some(written.entity.as_str()));
        let first = kinds.next();
        let write = first.map(|first| match written.write.as_str() {
            "put" => Write::New(first),
            "change" => Write::Update(first, kinds.next().unwrap_or(first)),
            "delete" => Write::Delete(first),
            _ => Write::Check(first),
        });
        all.extend(write.map(|write| text(write.units(sample, written.transaction))));
    }
    all.into_iter().collect::<Vec<_>>().join(" or ")
}

/// Verb and entity of a write of the ledger.
fn told(sample: &Sample, write: Write) -> Option<(&'static str, &str)> {
    let verb = match write {
        Write::New(_) | Write::Over(..) => "put",
        Write::Update(..) => "change",
        Write::Delete(_) => "delete",
        Write::Check(_) => "check",
    };
    Some((verb, entity(sample, write.kind())?))
}

fn entity(sample: &Sample, kind: Kind) -> Option<&str> {
    match sample.item(kind)?.get(ENTITY_TYPE)? {
        AttributeValue::S(name) => Some(name),
        _ => None,
    }
}

fn text(units: Units) -> String {
    format!("{}+{}+{}", units.table, units.gsi1, units.gsi2)
}

/// Every declared write is in the chart, and no cell breaks its row.
#[tokio::test(flavor = "multi_thread")]
async fn the_charts_of_reads_and_writes_equal_the_record() {
    let record = recorded().await;
    let charts = [("asked-by", askers(record)), ("reads-by-key", reads(record)), ("writes", writes(record))];
    for (_, chart) in &charts {
        let columns: Vec<_> = chart.lines().map(|line| line.matches('|').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{chart}");
    }
    for line in charts[2].1.lines().skip(2) {
        let cells: Vec<_> = line.split(" | ").collect();
        assert!(cells[1].is_empty() || !cells[5].is_empty(), "{line}");
    }
    docs_check::check("key-schema.md", &charts).expect("docs/key-schema.md");
}
