//! `docs/personal-data.md` says of every attribute of every entity what becomes of it when its customer is erased.

use std::collections::BTreeMap;
use std::fs;

use key_schema::layout::{ENTITY_TYPE, Index};
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/items");

/// The attributes of keys. They hold nothing that the others do not hold.
fn is_key(attribute: &str) -> bool {
    let of_indexes = [Index::Table, Index::Gsi1, Index::Gsi2].map(Index::attributes);
    attribute == ENTITY_TYPE || of_indexes.iter().any(|(partition, sort)| [partition, sort].contains(&&attribute))
}

/// `spent:EUR` and `spent:USD` are one attribute of the page.
fn named(attribute: &str) -> String {
    attribute.split_once(':').map_or(attribute.to_owned(), |(name, _)| format!("{name}:*"))
}

/// Every attribute of every entity in any release: those of the fixtures, which another test keeps complete.
fn attributes() -> BTreeMap<(String, String), u32> {
    let mut attributes = BTreeMap::new();
    for folder in fs::read_dir(FIXTURES).expect("a folder").map(|folder| folder.expect("a folder")) {
        let entity = folder.file_name().into_string().expect("a name");
        for file in fs::read_dir(folder.path()).expect("files").map(|file| file.expect("a file")) {
            let text = fs::read_to_string(file.path()).expect("a text");
            let items: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(&text).expect("items");
            let all = items.values().flat_map(BTreeMap::keys).filter(|attribute| !is_key(attribute));
            attributes.extend(all.map(|attribute| ((entity.clone(), named(attribute)), 0)));
        }
    }
    attributes
}

#[test]
fn every_attribute_of_every_entity_is_in_the_table() {
    let mut attributes = attributes();
    let page = shop::read("docs/personal-data.md");
    let (_, rest) = page.split_once("<!-- attributes -->").expect("the beginning of the table");
    let (table, _) = rest.split_once("<!-- /attributes -->").expect("the end of the table");
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let code = |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let [entity] = &code(cells[1])[..] else { panic!("{row}: one entity") };
        for attribute in code(cells[2]) {
            let rows = attributes.get_mut(&(entity.clone(), attribute.clone()));
            *rows.unwrap_or_else(|| panic!("no fixture of {entity} has {attribute}")) += 1;
        }
        assert!(!cells[3].is_empty(), "{row}: what becomes of it");
    }
    let wrong: Vec<_> = attributes.iter().filter(|(_, rows)| **rows != 1).collect();
    assert!(wrong.is_empty(), "each attribute belongs in one row of docs/personal-data.md: {wrong:?}");
}
