//! The charts in `docs/key-schema.md`, generated from the layout so that they cannot go stale.

use crate::layout::{Bound, Consistency, Declaration, Direction, ENTITIES, Index, Layout, PATTERNS, PlaceText};

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
    table(&columns, PATTERNS.iter().map(pattern))
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
            Bound::Collection(most) => format!("at most {most} items"),
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
            ("entities-v2", super::entities(Layout::V2)),
        ];
        docs_check::check("key-schema.md", &charts, "cargo test -p key-schema").expect("docs/key-schema.md");
    }

    #[test]
    fn no_cell_breaks_its_row() {
        for chart in [super::entities(Layout::V1), super::entities(Layout::V2), super::patterns()] {
            let columns: Vec<_> = chart.lines().map(|line| line.matches('|').count()).collect();
            assert!(columns.iter().all(|count| *count == columns[0]), "{chart}");
        }
    }
}
