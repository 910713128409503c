//! Facets: `filter`, `terms` and `range`, which may contain each other.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::cluster::{Answer, Index, Refused};
use super::query::{Candidate, Searched};

/// The answers to these aggregations of these documents, by name.
pub(super) fn aggregate(of: &Searched<'_>, wanted: &Value, documents: &[&Candidate<'_>]) -> Answer {
    let mut answers = Map::new();
    for (name, wanted) in wanted.as_object().into_iter().flatten() {
        answers.insert(name.clone(), one(of, wanted, documents)?);
    }
    Ok(answers.into())
}

fn one(of: &Searched<'_>, wanted: &Value, documents: &[&Candidate<'_>]) -> Answer {
    if let Some(filter) = wanted.get("filter") {
        let mut matching = Vec::new();
        for document in documents {
            if of.matches(filter, document)?.is_some() {
                matching.push(*document);
            }
        }
        return bucket(of, wanted, &matching);
    }
    if let Some(terms) = wanted.get("terms") {
        let field = field(of, terms)?;
        let mut by_value: BTreeMap<&str, Vec<&Candidate<'_>>> = BTreeMap::new();
        for document in documents {
            if let Some(value) = Index::value(document.source, field).as_str() {
                by_value.entry(value).or_default().push(document);
            }
        }
        let mut sorted: Vec<_> = by_value.into_iter().collect();
        // Stable: of two values with the same count, the lower one comes first.
        sorted.sort_by_key(|(_, documents)| std::cmp::Reverse(documents.len()));
        let size = terms["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(10);
        let mut buckets = Vec::new();
        for (value, documents) in sorted.into_iter().take(size) {
            let mut bucket = bucket(of, wanted, &documents)?;
            bucket["key"] = json!(value);
            buckets.push(bucket);
        }
        return Ok(json!({ "buckets": buckets }));
    }
    if let Some(range) = wanted.get("range") {
        let field = field(of, range)?;
        let mut buckets = Vec::new();
        for range in range["ranges"].as_array().into_iter().flatten() {
            let (from, to) = (range["from"].as_i64(), range["to"].as_i64());
            let is_in = |value: i64| from.is_none_or(|from| value >= from) && to.is_none_or(|to| value < to);
            let value = |document: &Candidate<'_>| Index::value(document.source, field).as_i64();
            let within: Vec<_> =
                documents.iter().copied().filter(|document| value(document).is_some_and(is_in)).collect();
            buckets.push(bucket(of, wanted, &within)?);
        }
        return Ok(json!({ "buckets": buckets }));
    }
    Err(Refused::unknown(format!("the aggregation {wanted}")))
}

/// The number of documents of a bucket, and the aggregations in it.
fn bucket(of: &Searched<'_>, wanted: &Value, documents: &[&Candidate<'_>]) -> Answer {
    let mut bucket = aggregate(of, &wanted["aggs"], documents)?;
    bucket["doc_count"] = json!(documents.len());
    Ok(bucket)
}

fn field<'a>(of: &Searched<'_>, wanted: &'a Value) -> Result<&'a str, Refused> {
    let field = wanted["field"].as_str().ok_or_else(|| Refused::unknown("an aggregation of no field"))?;
    of.ensure_field(field).map(|()| field)
}
