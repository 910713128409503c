//! The declarations as charts in Markdown, so that documentation is generated and cannot go stale.

use std::fmt::Write as _;

use crate::{Bound, Consistency, Declaration, Direction, Index, PlaceText};

/// A relation between items of two entities: each item of `to` names an item of `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The entity that is named.
    pub from: &'static str,
    /// The number of items of `from` for one item of `to`.
    pub one: Number,
    /// The number of items of `to` for one item of `from`.
    pub many: Number,
    /// The entity that names the other one.
    pub to: &'static str,
    /// The attribute of `to` that names an item of `from`.
    pub by: &'static str,
    /// The relation in words: "a customer places orders".
    pub verb: &'static str,
}

/// A number of items in a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Exactly one.
    One,
    /// None or one.
    AtMostOne,
    /// One or more.
    Some,
    /// Any number.
    Any,
}

/// The chart of entities, with the keys of each in the table and the indexes. `spell` is the spelling of a place's keys.
pub fn entities(entities: &[(&str, &[PlaceText])], spell: impl Fn(PlaceText) -> [String; 2]) -> String {
    let rows = entities.iter().map(|(entity, places)| {
        let keys = [Index::Table, Index::Gsi1, Index::Gsi2].into_iter().flat_map(|index| {
            let place = places.iter().find(|place| place.index == index);
            place.map_or_else(Default::default, |place| spell(*place).map(|key| code(&key)))
        });
        [code(entity)].into_iter().chain(keys).collect()
    });
    table(&["entity", "PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"], rows)
}

/// The chart of access patterns.
pub fn patterns<'a>(patterns: impl Iterator<Item = &'a Declaration>) -> String {
    let columns = ["#", "question", "index", "partition", "sort", "entities", "consistency", "order", "bound"];
    table(&columns, patterns.map(pattern))
}

/// The drawing of the entities and their relations, in Mermaid. Of each entity it has the parts of its key in the table,
/// and the attributes that name other items.
pub fn relations(relations: &[Relation], entities: &[(&str, &[PlaceText])]) -> String {
    let mut drawing = "```mermaid\nerDiagram\n".to_owned();
    for Relation { from, one, many, to, verb, .. } in relations {
        let one = match one {
            Number::One => "||",
            Number::AtMostOne => "|o",
            Number::Some => "}|",
            Number::Any => "}o",
        };
        let many = match many {
            Number::One => "||",
            Number::AtMostOne => "o|",
            Number::Some => "|{",
            Number::Any => "o{",
        };
        // Writing to a `String` cannot fail.
        _ = writeln!(drawing, "  {from} {one}--{many} {to} : \"{verb}\"");
    }
    for (entity, places) in entities {
        let (own, named) = (parts_of_key(places), names_of_others(relations, entity));
        let mut lines = Vec::new();
        for part in &own {
            lines.push(format!("    string {part} {}\n", if named.contains(part) { "PK, FK" } else { "PK" }));
        }
        lines.extend(named.iter().filter(|name| !own.contains(name)).map(|name| format!("    string {name} FK\n")));
        _ = if lines.is_empty() {
            writeln!(drawing, "  {entity}")
        } else {
            writeln!(drawing, "  {entity} {{\n{}  }}", lines.concat())
        };
    }
    drawing + "```\n"
}

/// The placeholders of the keys in the table, each once.
fn parts_of_key(places: &[PlaceText]) -> Vec<&'static str> {
    let keys = places.iter().take(1).flat_map(|place| [place.partition, place.sort]);
    let parts = keys.flat_map(|key| key.split('{').skip(1).filter_map(|rest| rest.split('}').next()));
    parts.fold(Vec::new(), |mut parts, part| {
        if !parts.contains(&part) {
            parts.push(part);
        }
        parts
    })
}

/// The attributes by which items of this entity name others, each once.
fn names_of_others(relations: &[Relation], entity: &str) -> Vec<&'static str> {
    let names = relations.iter().filter(|relation| relation.to == entity).map(|relation| relation.by);
    names.fold(Vec::new(), |mut names, name| {
        if !names.contains(&name) {
            names.push(name);
        }
        names
    })
}

fn pattern(declared: &Declaration) -> Vec<String> {
    let Declaration { number, question, place, entities, consistency, direction, bound, .. } = *declared;
    vec![
        number.to_string(),
        question.to_owned(),
        place.index.name().unwrap_or("table").to_owned(),
        code(place.partition),
        if place.sort.is_empty() { "all".to_owned() } else { code(place.sort) },
        entities.iter().map(|entity| code(entity)).collect::<Vec<_>>().join(", "),
        match consistency {
            Consistency::Strong => "strong".to_owned(),
            Consistency::Eventual => "eventual".to_owned(),
        },
        match direction {
            Direction::Ascending => "ascending".to_owned(),
            Direction::Descending => "descending".to_owned(),
        },
        match bound {
            Bound::One => "one item".to_owned(),
            Bound::AtMost(most) => format!("at most {most} items"),
            Bound::All => "all items".to_owned(),
            Bound::Page => "a page".to_owned(),
        },
    ]
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A Markdown table.
pub fn table(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = row(&columns.iter().map(|&column| column.to_owned()).collect::<Vec<_>>());
    let rule = format!("|{}\n", "---|".repeat(columns.len()));
    rows.fold(head + &rule, |table, cells| table + &row(&cells))
}
