//! The charts in `docs/key-schema.md`, generated from the layout so that they cannot go stale.

use std::fmt::Write as _;

use crate::layout::{
    Bound, Consistency, Declaration, Direction, ENTITIES, Index, Layout, Number, PATTERNS, PATTERNS_OF_FUNCTIONS,
    PlaceText, RELATIONS, Relation,
};

/// The chart of entities, with the keys of each in the table and the indexes of this layout.
pub fn entities(layout: Layout) -> String {
    let rows = ENTITIES.iter().map(|(entity, places)| {
        let indexes = [Index::Table, Index::Gsi1, Index::Gsi2];
        let keys = indexes.into_iter().flat_map(|index| keys_in(places, index, layout));
        [code(entity)].into_iter().chain(keys).collect()
    });
    table(&["entity", "PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"], rows)
}

/// The chart of access patterns.
pub fn patterns() -> String {
    let columns = ["#", "question", "index", "partition", "sort", "entities", "consistency", "order", "bound"];
    table(&columns, PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS).map(pattern))
}

/// The drawing of the entities and their relations, in Mermaid. Of each entity it has the parts of its key in the table,
/// and the attributes that name other items.
pub fn relations() -> String {
    let mut drawing = "```mermaid\nerDiagram\n".to_owned();
    for Relation { from, one, many, to, verb, .. } in RELATIONS {
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
    for (entity, places) in ENTITIES {
        let (own, named) = (parts_of_key(places), names_of_others(entity));
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
fn names_of_others(entity: &str) -> Vec<&'static str> {
    let names = RELATIONS.iter().filter(|relation| relation.to == entity).map(|relation| relation.by);
    names.fold(Vec::new(), |mut names, name| {
        if !names.contains(&name) {
            names.push(name);
        }
        names
    })
}

fn pattern(declared: &Declaration) -> Vec<String> {
    let Declaration { number, question, place, entities, consistency, direction, bound } = *declared;
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

fn keys_in(places: &[PlaceText], index: Index, layout: Layout) -> [String; 2] {
    match places.iter().find(|place| place.index == index).map(|place| layout.place(*place)) {
        Some(place) => [code(&place.partition), code(&place.sort)],
        None => [String::new(), String::new()],
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use crate::layout::Layout;

    #[test]
    fn the_charts_in_the_documentation_are_those_of_the_code() {
        let charts = [
            ("entities", super::entities(Layout::V1)),
            ("patterns", super::patterns()),
            ("relations", super::relations()),
            ("entities-v2", super::entities(Layout::V2)),
        ];
        docs_check::check("key-schema.md", &charts).expect("docs/key-schema.md");
    }

    #[test]
    fn no_cell_breaks_its_row() {
        for chart in [super::entities(Layout::V1), super::entities(Layout::V2), super::patterns()] {
            let columns: Vec<_> = chart.lines().map(|line| line.matches('|').count()).collect();
            assert!(columns.iter().all(|count| *count == columns[0]), "{chart}");
        }
    }
}
