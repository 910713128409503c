//! Queries: which documents match, how well, and in which order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::aggregation::aggregate;
use super::cluster::{Answer, Index, Refused, words};

/// The parts of a search that this cluster knows.
const KNOWN: [&str; 7] = ["size", "track_total_hits", "query", "post_filter", "aggs", "sort", "search_after"];

/// A document while it is searched.
pub(super) struct Candidate<'a> {
    pub(super) id: &'a str,
    pub(super) source: &'a Value,
    /// The words of each text field.
    words: BTreeMap<String, Vec<String>>,
}

/// The documents of an index, with what scoring needs.
pub(super) struct Searched<'a> {
    index: &'a Index,
    candidates: Vec<Candidate<'a>>,
    /// The average number of words of each text field.
    lengths: BTreeMap<String, f32>,
}

impl<'a> Searched<'a> {
    pub(super) fn new(index: &'a Index) -> Self {
        let fields = index.text_fields();
        let candidates: Vec<_> = index
            .documents
            .iter()
            .map(|(id, document)| {
                let words = fields.iter().map(|field| (field.clone(), Index::words(&document.source, field)));
                Candidate { id, source: &document.source, words: words.collect() }
            })
            .collect();
        let length = |field: &String| {
            let counts = candidates.iter().map(|candidate| candidate.words[field].len()).filter(|count| *count > 0);
            let (sum, with) = counts
                .fold((0_u16, 0_u16), |(sum, with), count| (sum.saturating_add(small(count)), with.saturating_add(1)));
            f32::from(sum) / f32::from(with.max(1))
        };
        let lengths = fields.iter().map(|field| (field.clone(), length(field))).collect();
        Self { index, candidates, lengths }
    }

    pub(super) fn search(&self, request: &Value) -> Answer {
        if let Some((unknown, _)) =
            request.as_object().into_iter().flatten().find(|(name, _)| !KNOWN.contains(&name.as_str()))
        {
            return Err(Refused::unknown(format!("[{unknown}] in a search")));
        }
        let mut matching = Vec::new();
        for candidate in &self.candidates {
            if let Some(score) = self.matches(&request["query"], candidate)? {
                matching.push((candidate, score));
            }
        }
        let all: Vec<_> = matching.iter().map(|(candidate, _)| *candidate).collect();
        let aggregations = aggregate(self, &request["aggs"], &all)?;

        let mut hits = Vec::new();
        for (candidate, score) in matching {
            if request["post_filter"].is_null() || self.matches(&request["post_filter"], candidate)?.is_some() {
                hits.push((self.sort_values(&request["sort"], candidate, score)?, candidate));
            }
        }
        let orders: Vec<bool> = sorts(&request["sort"]).map(|(_, order)| order == "asc").collect();
        hits.sort_by(|(a, _), (b, _)| compare(a, b, &orders));
        let total = hits.len();
        if let Some(after) = request["search_after"].as_array() {
            hits.retain(|(values, _)| compare(values, after, &orders) == Ordering::Greater);
        }
        let size = request["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(10);
        let hits = hits.into_iter().take(size);
        let hits: Vec<_> = hits.map(|(sort, it)| json!({ "_id": it.id, "_source": it.source, "sort": sort })).collect();
        Ok(json!({
            "took": 0,
            "timed_out": false,
            "hits": { "total": { "value": total, "relation": "eq" }, "hits": hits },
            "aggregations": aggregations,
        }))
    }

    /// The score of a document that matches.
    pub(super) fn matches(&self, query: &Value, candidate: &Candidate<'_>) -> Result<Option<f32>, Refused> {
        let Some((kind, of)) = query.as_object().filter(|it| it.len() == 1).and_then(|query| query.iter().next())
        else {
            return Err(Refused::new(400, "parsing_exception", "a query has one name"));
        };
        match kind.as_str() {
            "match_all" => Ok(Some(1.0)),
            "bool" => self.matches_bool(of, candidate),
            "term" => {
                let (field, value) = self.field(of)?;
                Ok((Index::value(candidate.source, field) == value).then_some(1.0))
            }
            "range" => {
                let (field, range) = self.field(of)?;
                let Some(value) = Index::value(candidate.source, field).as_i64() else { return Ok(None) };
                let end = |name: &str| range[name].as_i64();
                let is_in = end("gte").is_none_or(|least| value >= least) && end("lt").is_none_or(|most| value < most);
                Ok(is_in.then_some(1.0))
            }
            "multi_match" if of["operator"] == "and" => {
                let words = words(of["query"].as_str().unwrap_or_default());
                let mut best: Option<f32> = None;
                for field in of["fields"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    let (field, boost) = field.split_once('^').unwrap_or((field, "1"));
                    let score = self.all_words(field, &words, candidate)?;
                    let boost: f32 = boost.parse().map_err(|_| Refused::unknown(format!("the boost [{boost}]")))?;
                    best = score.map(|score| (score * boost).max(best.unwrap_or_default())).or(best);
                }
                Ok(best)
            }
            "match_bool_prefix" => {
                let (field, of) = self.field(of)?;
                let words = words(of["query"].as_str().unwrap_or_default());
                let Some((last, whole)) = words.split_last() else { return Ok(None) };
                let has_prefix = candidate.words.get(field).into_iter().flatten().any(|word| word.starts_with(last));
                if !has_prefix {
                    return Ok(None);
                }
                Ok(if whole.is_empty() {
                    Some(1.0)
                } else {
                    self.all_words(field, whole, candidate)?.map(|score| score + 1.0)
                })
            }
            other => Err(Refused::unknown(format!("the query [{other}]"))),
        }
    }

    fn matches_bool(&self, of: &Value, candidate: &Candidate<'_>) -> Result<Option<f32>, Refused> {
        let clauses = |name: &str| of[name].as_array().into_iter().flatten();
        let mut sum = 0.0;
        for clause in clauses("must") {
            let Some(score) = self.matches(clause, candidate)? else { return Ok(None) };
            sum += score;
        }
        for clause in clauses("filter") {
            if self.matches(clause, candidate)?.is_none() {
                return Ok(None);
            }
        }
        for clause in clauses("must_not") {
            if self.matches(clause, candidate)?.is_some() {
                return Ok(None);
            }
        }
        let mut found = 0;
        for clause in clauses("should") {
            if let Some(score) = self.matches(clause, candidate)? {
                found += 1;
                sum += score;
            }
        }
        Ok((found >= of["minimum_should_match"].as_u64().unwrap_or_default()).then_some(sum))
    }

    /// The score of a document that has all of these words in this field: BM25, with Lucene's parameters.
    fn all_words(&self, field: &str, words: &[String], candidate: &Candidate<'_>) -> Result<Option<f32>, Refused> {
        const K1: f32 = 1.2;
        const B: f32 = 0.75;
        let own =
            candidate.words.get(field).ok_or_else(|| Refused::unknown(format!("words in the field [{field}]")))?;
        let count = |words: &[String], word: &String| small(words.iter().filter(|other| *other == word).count());
        let mut sum = 0.0;
        for word in words {
            let times = f32::from(count(own, word));
            if times == 0.0 {
                return Ok(None);
            }
            let with = self.candidates.iter().filter(|other| other.words[field].contains(word)).count();
            let (with, all) = (f32::from(small(with)), f32::from(small(self.candidates.len())));
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            let length = f32::from(small(own.len())) / self.lengths[field].max(1.0);
            sum += rarity * times / (times + K1 * (1.0 - B + B * length));
        }
        Ok((!words.is_empty()).then_some(sum))
    }

    /// The only field of a query, and what is asked of it.
    fn field<'q>(&self, of: &'q Value) -> Result<(&'q str, &'q Value), Refused> {
        let (field, of) = of.as_object().and_then(|of| of.iter().next()).ok_or_else(|| Refused::unknown("no field"))?;
        self.index.ensure_field(field)?;
        Ok((field, of))
    }

    fn sort_values(&self, sort: &Value, candidate: &Candidate<'_>, score: f32) -> Result<Vec<Value>, Refused> {
        let values = sorts(sort).map(|(field, _)| {
            if field == "_score" {
                return Ok(json!(score));
            }
            self.index.ensure_field(field)?;
            Ok(Index::value(candidate.source, field).clone())
        });
        values.collect()
    }

    pub(super) fn ensure_field(&self, field: &str) -> Result<(), Refused> {
        self.index.ensure_field(field)
    }
}

/// The fields of an order, each with its direction.
fn sorts(sort: &Value) -> impl Iterator<Item = (&str, &str)> {
    let fields = sort.as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    fields.map(|(field, order)| (field.as_str(), order.as_str().unwrap_or("asc")))
}

fn compare(a: &[Value], b: &[Value], ascending: &[bool]) -> Ordering {
    let parts = a.iter().zip(b).zip(ascending).map(|((a, b), ascending)| {
        let order = match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.as_str().cmp(&b.as_str()),
        };
        if *ascending { order } else { order.reverse() }
    });
    parts.fold(Ordering::Equal, Ordering::then)
}

/// A count, or the greatest number that a float has exactly: scores need no more.
fn small(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
