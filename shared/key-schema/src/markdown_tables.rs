//! The charts in `docs/key-schema.md`, generated from the layout so that they cannot go stale.

use single_table::charts;

use crate::layout::{ENTITIES, Layout, PATTERNS, PATTERNS_OF_FUNCTIONS, RELATIONS};

pub use single_table::charts::table;

/// The chart of entities, with the keys of each in the table and the indexes of this layout.
pub fn entities(layout: Layout) -> String {
    charts::entities(ENTITIES, |place| {
        let place = layout.place(place);
        [place.partition, place.sort]
    })
}

/// The chart of access patterns.
pub fn patterns() -> String {
    charts::patterns(PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS))
}

/// The drawing of the entities and their relations.
pub fn relations() -> String {
    charts::relations(RELATIONS, ENTITIES)
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
