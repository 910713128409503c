//! The access pattern of a read, found by its keys.

use key_schema::layout::{
    Consistency, Declaration, ENTITY_TYPE, Index, Key, Layout, PATTERNS, PATTERNS_OF_FUNCTIONS, entity_at, spells,
};
use serde_json::Value;

/// A key of the table: partition and sort key.
pub type TableKey = (String, String);

/// The access pattern of a Query. Of patterns that ask the same, the first one.
pub fn pattern(request: &Value, found: &[Value]) -> Declaration {
    let condition = request["KeyConditionExpression"].as_str().expect("a condition");
    let value = |name: &str| request["ExpressionAttributeValues"][name]["S"].as_str();
    let partition = value(":partition").expect("a partition key");
    let sort = [":key", ":prefix", ":low"].into_iter().find_map(value);
    let literal = |template: &str| template.split('{').next().unwrap_or_default().to_owned();
    let fits = |pattern: &&Declaration| {
        pattern.place.index.name() == request["IndexName"].as_str()
            && spells(pattern.place.partition, partition)
            && match sort {
                None => pattern.place.sort.is_empty() || literal(pattern.place.sort).is_empty(),
                Some(sort) => !pattern.place.sort.is_empty() && sort.starts_with(&literal(pattern.place.sort)),
            }
            && found.iter().all(|item| pattern.entities.iter().any(|entity| item[ENTITY_TYPE]["S"] == *entity))
    };
    let fitting =
        PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS).filter(fits).min_by_key(|pattern| pattern.entities.len());
    let pattern = *fitting.unwrap_or_else(|| panic!("no access pattern: {condition} {request}"));
    Declaration { consistency: consistency(request), ..pattern }
}

/// The access pattern of a batch of keys, if it is along one: the keys are several, all are of the pattern's entities,
/// and one is at its place.
pub fn pattern_of_keys(keys: &[TableKey]) -> Option<Declaration> {
    let is_along = |pattern: &&Declaration| {
        keys.len() > 1
            && pattern.place.index == Index::Table
            && keys.iter().all(|key| pattern.entities.contains(&entity(key)))
            && keys.iter().any(|key| pattern.place.is_of(&at(key)))
    };
    PATTERNS.iter().filter(is_along).min_by_key(|pattern| pattern.entities.len()).copied()
}

/// The consistency of a Query, or of the part of a batch about one table.
pub fn consistency(request: &Value) -> Consistency {
    if request["ConsistentRead"] == true { Consistency::Strong } else { Consistency::Eventual }
}

fn at((partition, sort): &TableKey) -> Key {
    Key { index: Index::Table, partition: partition.clone(), sort: sort.clone() }
}

/// The entity with this key, in any layout.
pub fn entity(key: &TableKey) -> &'static str {
    let found = Layout::ALL.iter().find_map(|layout| entity_at(&layout.canonical(at(key))?));
    found.unwrap_or_else(|| panic!("{key:?} is the key of no entity"))
}
