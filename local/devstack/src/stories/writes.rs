//! Which call made a record of a table's stream.
//!
//! A stream has the records of an item in the sequence of its writes, and those of a transaction together. So a record belongs
//! to the oldest write of its item that has no record yet. Two calls that were under way at the same time may have
//! been carried out in either sequence. Then the images of the record decide, the other records of the transaction, and
//! last the answer that came first.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use serde_json::{Map, Value};

/// The most writes without a record that are remembered.
const MOST: usize = 5000;

/// The place of a write: its table and the item's key.
pub(super) type Place = (String, Vec<String>);

/// Writes whose records have not been read.
#[derive(Default)]
pub(super) struct Writes {
    by_place: BTreeMap<Place, Vec<Write>>,
    /// The places of each call, oldest first.
    calls: VecDeque<(u64, Vec<Place>)>,
    /// The call of the record that was read last.
    last: Option<u64>,
}

/// A write of one item.
pub(super) struct Write {
    call: u64,
    /// Who made it, if that is known.
    pub(super) by: Option<u64>,
    /// The second at which it began, since 1970.
    began: i64,
    /// When it was answered. `None`: it is under way.
    answered: Option<Instant>,
    kind: Kind,
}

pub(super) enum Kind {
    Put(Value),
    Update(Value),
    Delete,
}

/// A record of a stream.
pub(super) struct Record<'a> {
    pub(super) place: Place,
    pub(super) second: i64,
    pub(super) old: &'a Value,
    pub(super) new: &'a Value,
}

impl Writes {
    /// Remembers a call that is about to be made, with its writes.
    pub(super) fn begin(&mut self, call: u64, by: Option<u64>, began: i64, writes: Vec<(Place, Kind)>) {
        let places = writes.iter().map(|(place, _)| place.clone()).collect();
        for (place, kind) in writes {
            self.by_place.entry(place).or_default().push(Write { call, by, began, answered: None, kind });
        }
        self.calls.push_back((call, places));
        while self.calls.len() > MOST {
            if let Some((oldest, places)) = self.calls.pop_front() {
                self.forget(oldest, &places);
            }
        }
    }

    /// The call was answered: its writes took effect, or none did.
    pub(super) fn end(&mut self, call: u64, took_effect: bool) {
        let Ok(at) = self.calls.binary_search_by_key(&call, |(call, _)| *call) else { return };
        if took_effect {
            let answered = Some(Instant::now());
            for place in &self.calls[at].1 {
                let writes = self.by_place.get_mut(place).into_iter().flatten();
                writes.filter(|write| write.call == call).for_each(|write| write.answered = answered);
            }
        } else if let Some((_, places)) = self.calls.remove(at) {
            self.forget(call, &places);
        }
    }

    fn forget(&mut self, call: u64, places: &[Place]) {
        for place in places {
            if let Some(writes) = self.by_place.get_mut(place) {
                writes.retain(|write| write.call != call);
                if writes.is_empty() {
                    self.by_place.remove(place);
                }
            }
        }
    }

    /// The write of the first of these records, which are in the sequence of their stream.
    pub(super) fn take(&mut self, records: &[Record]) -> Option<Write> {
        let first = records.first()?;
        let call = match &*self.candidates(first) {
            [] => None,
            [only] => Some(*only),
            several => {
                let unique = || {
                    let behind = records.iter().skip(1).map(|record| self.candidates(record));
                    let only = behind.take_while(|calls| calls.iter().any(|call| several.contains(call)));
                    only.filter_map(|calls| <[u64; 1]>::try_from(calls).ok()).map(|[call]| call).next()
                };
                let last = self.last.filter(|last| several.contains(last));
                last.or_else(|| unique().filter(|call| several.contains(call))).or(several.first().copied())
            }
        };
        self.last = call;
        let writes = self.by_place.get_mut(&first.place)?;
        let taken = writes.iter().position(|write| Some(write.call) == call).map(|at| writes.remove(at));
        if writes.is_empty() {
            self.by_place.remove(&first.place);
        }
        taken
    }

    /// The calls that may have made this record, in the sequence of their answers.
    fn candidates(&self, record: &Record) -> Vec<u64> {
        let writes = self.by_place.get(&record.place).into_iter().flatten();
        let mut fitting: Vec<_> = writes.filter(|write| write.fits(record)).collect();
        fitting.sort_by_key(|write| (write.answered.is_none(), write.answered));
        fitting.into_iter().map(|write| write.call).collect()
    }
}

impl Write {
    fn fits(&self, record: &Record) -> bool {
        // DynamoDB tells the time to the second.
        record.second >= self.began
            && match &self.kind {
                Kind::Put(item) => is_same(item, record.new),
                Kind::Update(request) => !record.new.is_null() && updates(request, record.old, record.new),
                Kind::Delete => record.new.is_null(),
            }
    }
}

/// Whether two values are the same, however numbers are written and sets are sorted.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| match (name.as_str(), other.get(name)) {
                    ("N", Some(number)) => number_of(value) == number_of(number),
                    ("SS" | "NS" | "BS", Some(set)) => value.as_array().map(Vec::len) == set.as_array().map(Vec::len),
                    (_, Some(same)) => is_same(value, same),
                    (_, None) => false,
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (one, other) => one == other,
    }
}

fn number_of(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok()
}

/// Whether an update can have made the new image of the old one, by the assignments that are easy to check: of a value, and
/// of a number that a value was added to or taken from.
fn updates(request: &Value, old: &Value, new: &Value) -> bool {
    let text = request["UpdateExpression"].as_str().unwrap_or_default();
    let name = |word: &str| request["ExpressionAttributeNames"][word].as_str().unwrap_or(word).to_owned();
    let value = |word: &str| request["ExpressionAttributeValues"].get(word);
    let assignments = text.split(',').filter_map(|clause| {
        let clause = ["SET ", "ADD "].iter().find_map(|verb| clause.trim().strip_prefix(verb)).unwrap_or(clause);
        clause.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
    });
    for (attribute, assigned) in assignments {
        let attribute = name(attribute);
        if attribute.contains(['.', '[']) {
            continue;
        }
        let words: Vec<_> = assigned.split_whitespace().collect();
        let fits = match words.as_slice() {
            [word] if word.starts_with(':') => value(word).is_none_or(|value| is_same(value, &new[&attribute])),
            [from, sign @ ("+" | "-"), by] if name(from) == attribute => {
                let number = |image: &Value| number_of(&image[&attribute]["N"]);
                let by = value(by).and_then(|by| number_of(&by["N"]));
                match (number(old), by, number(new)) {
                    (Some(old), Some(by), Some(new)) => {
                        let expected = if *sign == "+" { old + by } else { old - by };
                        (expected - new).abs() < 0.5
                    }
                    _ => true,
                }
            }
            _ => true,
        };
        if !fits {
            return false;
        }
    }
    true
}

/// The writes of a call, each with its place.
pub(super) fn writes_of(
    action: &str,
    request: &Value,
    key: impl Fn(&Value, &str) -> Option<Vec<String>>,
) -> Vec<(Place, Kind)> {
    let one = |action: &str, table: &str, write: &Value| {
        let (item, kind) = match action {
            "Put" => (&write["Item"], Kind::Put(write["Item"].clone())),
            "Update" => (&write["Key"], Kind::Update(write.clone())),
            "Delete" => (&write["Key"], Kind::Delete),
            _ => return None,
        };
        Some(((table.to_owned(), key(item, table)?), kind))
    };
    let table = |write: &Value| write["TableName"].as_str().unwrap_or_default().to_owned();
    match action {
        "PutItem" | "UpdateItem" | "DeleteItem" => {
            one(action.trim_end_matches("Item"), &table(request), request).into_iter().collect()
        }
        "TransactWriteItems" => {
            let items = request["TransactItems"].as_array().into_iter().flatten();
            let items = items.filter_map(Value::as_object).flatten();
            items.filter_map(|(action, write)| one(action, &table(write), write)).collect()
        }
        "BatchWriteItem" => {
            let tables = request["RequestItems"].as_object().into_iter().flatten();
            let writes = tables.flat_map(|(table, writes)| {
                let writes = writes.as_array().into_iter().flatten().filter_map(Value::as_object).flat_map(Map::iter);
                writes.filter_map(|(action, write)| one(action.trim_end_matches("Request"), table, write))
            });
            writes.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(key: &str) -> Place {
        ("notes".to_owned(), vec![key.to_owned()])
    }

    fn taking(units: &str) -> Kind {
        let values = json!({ ":u": { "N": units } });
        Kind::Update(json!({ "UpdateExpression": "SET units = units - :u", "ExpressionAttributeValues": values }))
    }

    fn item(key: &str, units: u64) -> Value {
        json!({ "PK": { "S": key }, "units": { "N": units.to_string() } })
    }

    /// Who made each of these records: the key, and the units before and after.
    fn makers(writes: &mut Writes, records: &[(&str, Option<u64>, Option<u64>)]) -> Vec<Option<u64>> {
        let image = |key: &str, units: Option<u64>| units.map_or(Value::Null, |units| item(key, units));
        let images: Vec<_> =
            records.iter().map(|(key, old, new)| (place(key), image(key, *old), image(key, *new))).collect();
        let records: Vec<_> =
            images.iter().map(|(place, old, new)| Record { place: place.clone(), second: 10, old, new }).collect();
        (0..records.len()).map(|at| writes.take(&records[at..]).and_then(|write| write.by)).collect()
    }

    #[test]
    fn records_of_calls_at_the_same_time_belong_to_the_call_whose_images_and_neighbours_they_have() {
        let mut writes = Writes::default();
        let put = |key: &str| (place(key), Kind::Put(item(key, 1)));
        // The first two take the same number of units, and are carried out in the other sequence.
        for (call, key, units) in [(1, "a", "2"), (2, "b", "2"), (3, "c", "5")] {
            writes.begin(call, Some(call * 10), 9, vec![(place("stock"), taking(units)), put(key)]);
        }
        for call in [1, 2] {
            writes.end(call, true);
        }
        let records = [
            ("stock", Some(20), Some(18)),
            ("b", None, Some(1)),
            ("stock", Some(18), Some(13)),
            ("c", None, Some(1)),
            ("stock", Some(13), Some(11)),
            ("a", None, Some(1)),
        ];
        assert_eq!(makers(&mut writes, &records), [20, 20, 30, 30, 10, 10].map(Some));
        assert_eq!(makers(&mut writes, &records), [None; 6], "each write has one record");
    }

    #[test]
    fn a_write_that_was_refused_or_came_later_made_no_record_and_neither_did_one_of_other_values() {
        let mut writes = Writes::default();
        let delete = || vec![(place("a"), Kind::Delete)];
        writes.begin(1, Some(1), 9, delete());
        writes.end(1, false);
        writes.begin(2, Some(2), 11, delete());
        writes.begin(3, Some(3), 9, vec![(place("a"), Kind::Put(item("a", 7)))]);
        let seen = makers(&mut writes, &[("a", None, Some(6)), ("a", Some(6), None), ("a", None, Some(7))]);
        assert_eq!(seen, [None, None, Some(3)], "the first two were somebody else's");
    }
}
