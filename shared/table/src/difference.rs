//! The difference between two versions of an item, as an update that leaves everything else alone.

use std::collections::HashMap;
use std::fmt::Write as _;

use aws_sdk_dynamodb::types::AttributeValue;

use key_schema::layout::{Index, Key};

use crate::expression::join_clauses;
use crate::home::Home;
use crate::item::Item;

/// The attributes and nested fields in which two versions of an item differ.
///
/// An update made from a difference keeps every attribute that neither version has. The same holds for fields inside
/// maps, and for fields of maps in a list whose length stays the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Difference {
    changed: Vec<Changed>,
    /// The partition keys of which only the sort key differs, by their attributes: another layout needs both.
    partitions: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug)]
struct Changed {
    path: Vec<Step>,
    from: Option<AttributeValue>,
    to: Option<AttributeValue>,
}

/// One step of a document path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Field(String),
    Element(usize),
}

impl Difference {
    pub(crate) fn between(from: &Item, to: &Item) -> Self {
        let mut changed = Vec::new();
        compare_maps(&mut Vec::new(), from, to, &mut changed);
        // A `HashMap` has no order, and the same difference must render as the same expression.
        changed.sort_by(|a, b| a.path.cmp(&b.path));
        let partitions = partitions_of_moved(&changed, to);
        Self { changed, partitions }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// The difference with the keys of this table.
    pub(crate) fn respelled(mut self, home: &Home) -> Self {
        for index in [Index::Gsi1, Index::Gsi2] {
            let (partition, sort) = index.attributes();
            let known = self.partitions.iter().find(|(name, _)| *name == partition).map(|(_, key)| key.clone());
            let new_partition = self.text(partition).or(known).unwrap_or_default();
            let new_sort = self.text(sort).unwrap_or_default();
            let key = home.key(Key { index, partition: new_partition, sort: new_sort });
            for (name, key) in [(partition, key.partition), (sort, key.sort)] {
                if let Some(AttributeValue::S(text)) = self.changed_mut(name).and_then(|changed| changed.to.as_mut()) {
                    *text = key;
                }
            }
        }
        self
    }

    /// The new value of a changed attribute that is a text.
    fn text(&self, name: &str) -> Option<String> {
        let changed = self.changed.iter().find(|changed| changed.is_of(name))?;
        changed.to.as_ref().and_then(|to| to.as_s().ok()).cloned()
    }

    fn changed_mut(&mut self, name: &str) -> Option<&mut Changed> {
        self.changed.iter_mut().find(|changed| changed.is_of(name))
    }

    /// The update expression that turns the first version into the second.
    pub(crate) fn update(&self, names: &mut HashMap<String, String>, values: &mut Item) -> String {
        let mut paths = Paths { letter: 'u', names: Vec::new() };
        let (mut set, mut removed) = (Vec::new(), Vec::new());
        for (at, Changed { path, to, .. }) in self.changed.iter().enumerate() {
            let path = paths.spell(path);
            match to {
                Some(value) => {
                    values.insert(format!(":u{at}"), value.clone());
                    set.push(format!("{path} = :u{at}"));
                }
                None => removed.push(path),
            }
        }
        names.extend(paths.into_names());
        join_clauses([("SET", set), ("REMOVE", removed)])
    }

    /// The condition's terms: every path that differs must still be as in the first version. Keys are left out: they
    /// follow from other attributes, and each layout spells them in its own way.
    pub(crate) fn unchanged(
        &self,
        names: &mut Vec<(String, String)>,
        values: &mut Vec<(String, AttributeValue)>,
    ) -> Vec<String> {
        let mut paths = Paths { letter: 'b', names: Vec::new() };
        let mut terms = Vec::new();
        let others = self.changed.iter().filter(|changed| !KEYS.iter().any(|key| changed.is_of(key)));
        for (at, Changed { path, from, .. }) in others.enumerate() {
            let path = paths.spell(path);
            terms.push(match from {
                Some(value) => {
                    values.push((format!(":b{at}"), value.clone()));
                    format!("{path} = :b{at}")
                }
                None => format!("attribute_not_exists({path})"),
            });
        }
        names.extend(paths.into_names());
        terms
    }
}

/// The attributes of keys in the table and in the indexes.
const KEYS: [&str; 6] = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"];

impl Changed {
    /// Whether this is a change of the attribute itself.
    fn is_of(&self, name: &str) -> bool {
        matches!(&*self.path, [Step::Field(field)] if field == name)
    }
}

/// The partition key of each index entry of which only the sort key differs.
fn partitions_of_moved(changed: &[Changed], to: &Item) -> Vec<(&'static str, String)> {
    let has = |name: &str| changed.iter().any(|changed| changed.is_of(name));
    let indexes = [Index::Gsi1, Index::Gsi2].map(Index::attributes).into_iter();
    let moved = indexes.filter(|(partition, sort)| has(sort) && !has(partition));
    moved.filter_map(|(partition, _)| Some((partition, to.get(partition)?.as_s().ok()?.clone()))).collect()
}

fn compare_maps(path: &mut Vec<Step>, from: &Item, to: &Item, changed: &mut Vec<Changed>) {
    for (name, before) in from {
        path.push(Step::Field(name.clone()));
        match to.get(name) {
            Some(after) => compare_values(path, before, after, changed),
            None => changed.push(Changed { path: path.clone(), from: Some(before.clone()), to: None }),
        }
        path.pop();
    }
    for (name, after) in to.iter().filter(|(name, _)| !from.contains_key(*name)) {
        path.push(Step::Field(name.clone()));
        changed.push(Changed { path: path.clone(), from: None, to: Some(after.clone()) });
        path.pop();
    }
}

fn compare_values(path: &mut Vec<Step>, from: &AttributeValue, to: &AttributeValue, changed: &mut Vec<Changed>) {
    match (from, to) {
        _ if from == to => {}
        (AttributeValue::M(from), AttributeValue::M(to)) => compare_maps(path, from, to, changed),
        (AttributeValue::L(from), AttributeValue::L(to)) if from.len() == to.len() => {
            for (at, (from, to)) in from.iter().zip(to).enumerate() {
                path.push(Step::Element(at));
                compare_values(path, from, to, changed);
                path.pop();
            }
        }
        _ => changed.push(Changed { path: path.clone(), from: Some(from.clone()), to: Some(to.clone()) }),
    }
}

/// Spells document paths with a placeholder for each name: a name may be a reserved word or have characters that an
/// expression does not allow.
struct Paths {
    letter: char,
    names: Vec<String>,
}

impl Paths {
    fn spell(&mut self, path: &[Step]) -> String {
        let mut spelled = String::new();
        for step in path {
            // Writing to a `String` cannot fail.
            let _ = match step {
                Step::Element(at) => write!(spelled, "[{at}]"),
                Step::Field(name) => {
                    let at = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
                        self.names.push(name.clone());
                        self.names.len() - 1
                    });
                    write!(spelled, "{}#{}{at}", if spelled.is_empty() { "" } else { "." }, self.letter)
                }
            };
        }
        spelled
    }

    fn into_names(self) -> impl Iterator<Item = (String, String)> {
        let letter = self.letter;
        self.names.into_iter().enumerate().map(move |(at, name)| (format!("#{letter}{at}"), name))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use serde_json::json;

    fn item(json: serde_json::Value) -> Item {
        serde_dynamo::to_item(json).expect("an item")
    }

    /// The update between two versions, with the names in place of their placeholders.
    fn update(from: serde_json::Value, to: serde_json::Value) -> (String, Item) {
        let (mut names, mut values) = (HashMap::new(), Item::new());
        let mut update = Difference::between(&item(from), &item(to)).update(&mut names, &mut values);
        for (placeholder, name) in &names {
            update = update.replace(placeholder, name);
        }
        (update, values)
    }

    #[test]
    fn only_changed_attributes_are_written() {
        let from = json!({ "a": 1, "b": "x", "gone": true, "same": { "in": 1 } });
        let to = json!({ "a": 2, "b": "x", "new": [1], "same": { "in": 1 } });
        let (update, values) = update(from, to);
        assert_eq!(update, "SET a = :u0, new = :u2 REMOVE gone");
        assert_eq!(values.len(), 2);
    }

    #[test]
    fn inside_maps_and_lists_only_changed_fields_are_written() {
        let from =
            json!({ "payments": [{ "status": "captured", "amount": { "amount": 5 } }, { "status": "authorized" }] });
        let to = json!({ "payments": [{ "status": "captured", "amount": { "amount": 5 } },
                                      { "status": "captured", "reference": "bank-1" }] });
        let (update, _) = update(from, to);
        assert_eq!(update, "SET payments[1].reference = :u0, payments[1].status = :u1");
    }

    #[test]
    fn a_list_of_another_length_is_written_as_a_whole() {
        let (update, values) = update(json!({ "list": [1, 2] }), json!({ "list": [1] }));
        assert_eq!((update.as_str(), values.len()), ("SET list = :u0", 1));
    }

    #[test]
    fn unchanged_names_the_old_values_and_the_absent_attributes() {
        let difference = Difference::between(&item(json!({ "a": 1 })), &item(json!({ "a": 2, "b": 1 })));
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let terms = difference.unchanged(&mut names, &mut values);
        assert_eq!(terms, ["#b0 = :b0", "attribute_not_exists(#b1)"]);
        assert_eq!(values, [(":b0".to_owned(), AttributeValue::N("1".to_owned()))]);
        assert!(Difference::between(&item(json!({ "a": 1 })), &item(json!({ "a": 1 }))).is_empty());
    }
}
