//! Lines that are sorted on disk, so that the memory of an export does not grow with the shop.

use anyhow::{Context as _, Result};
use rusqlite::{Connection, params};

/// The memory for the lines that are not in the file, in KiB.
const CACHE: u32 = 64 * 1024;

/// Lines by their positions. `SQLite` keeps them in a temporary file, which is removed when this is dropped.
pub(super) struct Sorted(Connection);

impl Sorted {
    pub(super) fn new() -> Result<Self> {
        Self::with_cache(CACHE)
    }

    fn with_cache(kibibytes: u32) -> Result<Self> {
        // A database without a name is temporary. Nobody rolls back or recovers it.
        let database = Connection::open("").context("there is no temporary file")?;
        database.execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{kibibytes};
             CREATE TABLE lines (position TEXT NOT NULL UNIQUE, line TEXT NOT NULL);
             BEGIN;"
        ))?;
        Ok(Self(database))
    }

    /// Adds a line, unless there is one with this position. Returns whether it is new.
    pub(super) fn add(&mut self, position: &str, line: &str) -> Result<bool> {
        let mut insert = self.0.prepare_cached("INSERT OR IGNORE INTO lines VALUES (?1, ?2)")?;
        Ok(insert.execute(params![position, line]).context("a line cannot be kept in a temporary file")? > 0)
    }

    /// Passes each line in the order of the positions.
    pub(super) fn each(self, mut pass: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut lines = self.0.prepare("SELECT line FROM lines ORDER BY position")?;
        let mut rows = lines.query([])?;
        while let Some(row) = rows.next()? {
            pass(row.get_ref(0)?.as_str()?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The positions come in another order, some twice, with bytes beyond ASCII, and are much more than the cache holds.
    #[test]
    fn more_lines_than_fit_into_memory_are_sorted_like_few() {
        let positions = (0..6000_u32).map(|number| {
            let number = number * 7919 % 5003;
            format!("{} {number:05} {}", 1 + number % 5, if number % 2 == 0 { "ä" } else { "z" })
        });
        let lines: Vec<_> =
            positions.enumerate().map(|(at, position)| (position, format!("{at} {}", "x".repeat(at % 700)))).collect();
        let mut expected = BTreeMap::new();
        for (position, line) in &lines {
            expected.entry(position.clone()).or_insert_with(|| line.clone());
        }
        assert!(expected.len() < lines.len(), "some positions come twice");
        for cache in [40, CACHE] {
            let mut sorted = Sorted::with_cache(cache).expect("a sorter");
            let mut new = 0;
            for (position, line) in &lines {
                new += usize::from(sorted.add(position, line).expect("a line"));
            }
            let mut passed = Vec::new();
            sorted
                .each(|line| {
                    passed.push(line.to_owned());
                    Ok(())
                })
                .expect("the lines");
            assert_eq!(new, expected.len());
            assert!(passed.iter().eq(expected.values()), "a cache of {cache} KiB");
        }
    }
}
