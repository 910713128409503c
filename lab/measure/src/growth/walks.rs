//! The time of a start over a table, and of each walk over all its items.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use key_schema::markdown_tables::table;
use local::archive::{Table, Units, write_files};

use super::open;
use super::shop::Shop;
use crate::workspace;

/// A start may take this long, however many items there are.
const START: Duration = Duration::from_secs(3);

/// An item of a large table may cost this many times what it costs in the smallest one, where the processor's caches hold
/// the whole table.
const ROOM: f64 = 3.0;

/// One table, measured.
#[derive(Clone, Debug)]
pub(super) struct Walked {
    pub(super) items: u64,
    pub(super) start: Duration,
    pub(super) walks: Vec<(&'static str, Duration)>,
}

/// Starts a stack over the filled table in this folder, and walks over it.
pub(super) async fn measure(data: &Path) -> Result<Walked> {
    let began = Instant::now();
    let stack = open(Some(data)).await?;
    let start = began.elapsed();
    let operator = workspace::operator_of(stack.dynamodb_url(), stack.template().table_name());
    let mut walks = Vec::new();

    let began = Instant::now();
    let items = local::audit::audit(&operator, Shop::moment(1000)?, |_| ()).await?.items;
    walks.push(("audit", began.elapsed()));

    let began = Instant::now();
    local::history::export(&operator, &mut io::sink(), |_| ()).await?;
    walks.push(("export", began.elapsed()));

    let directory = data.join("exported");
    let began = Instant::now();
    let table = Table::open(&operator, Units { per_second: u32::MAX, workers: 4 })?;
    write_files(&directory, &table, |_| ()).await?;
    walks.push(("export-table", began.elapsed()));
    std::fs::remove_dir_all(&directory)?;

    stack.shutdown().await?;
    Ok(Walked { items, start, walks })
}

/// The times, one row a table.
///
/// # Errors
/// A start takes too long, or an item costs more in a larger table.
pub(super) fn report(tables: &[Walked]) -> Result<String> {
    #[expect(clippy::cast_precision_loss, reason = "numbers of items are far below 2^53")]
    let each = |time: Duration, items: u64| time.as_secs_f64() * 1e6 / items.max(1) as f64;
    for Walked { items, start, walks } in tables {
        ensure!(*start < START, "the start over {items} items took {start:?}");
        for ((walk, time), (_, first)) in walks.iter().zip(&tables[0].walks) {
            let (here, there) = (each(*time, *items), each(*first, tables[0].items));
            ensure!(
                here < ROOM * there,
                "{walk}: {here:.0} µs an item of {items}, and {there:.0} of {}",
                tables[0].items
            );
        }
    }
    let names = tables.first().map(|first| first.walks.iter().map(|(walk, _)| format!("{walk}, µs an item")));
    let names: Vec<_> = names.into_iter().flatten().collect();
    let head: Vec<_> = ["items", "start, s"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let rows = tables.iter().map(|Walked { items, start, walks }| {
        let walks = walks.iter().map(|(_, time)| format!("{:.0}", each(*time, *items)));
        [items.to_string(), format!("{:.1}", start.as_secs_f64())].into_iter().chain(walks).collect::<Vec<_>>()
    });
    Ok(table(&head, rows))
}
