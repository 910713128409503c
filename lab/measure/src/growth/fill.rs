//! Fills a table directly in the engine, without DynamoDB's protocol.

use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use aws_sdk_dynamodb::types::AttributeValue;
use counting::{Aggregate, Counts};
use dynoxide::types::{AttributeValue as Stored, Item as StoredItem};
use dynoxide::{Database, ImportOptions};
use indicatif::ProgressBar;
use table::{Item, write_item};

use super::shop::Shop;

/// The number of orders imported in one transaction of the engine.
const BATCH: usize = 5_000;

/// Writes the whole shop into the table, including the counters, without stream records. `progress` counts orders.
pub(super) fn fill(database: &Database, table: &str, shop: &Shop, progress: &ProgressBar) -> Result<()> {
    database.enable_bulk_loading()?;
    let import = |items: Vec<Item>| -> Result<()> {
        let items = items.into_iter().map(stored).collect::<Result<_>>()?;
        // The table is new, and the counters are written directly.
        database.import_items(table, items, ImportOptions::default())?;
        Ok(())
    };
    import(shop.catalogue()?)?;

    // The engine writes one batch while the next one is generated.
    let (made, batches) = sync_channel(1);
    let counts = thread::scope(|scope| {
        let maker = scope.spawn(move || -> Result<Counts> {
            let mut counts = Counts::default();
            for first in (0..shop.orders()).step_by(BATCH) {
                let mut items = Vec::with_capacity(4 * BATCH);
                for number in first..(first + BATCH).min(shop.orders()) {
                    let placed = shop.order(number)?;
                    counts.add(&placed.counts());
                    items.extend(placed.items()?);
                }
                made.send(items).context("the import failed")?;
            }
            Ok(counts)
        });
        for items in batches {
            import(items)?;
            progress.inc(u64::try_from(BATCH)?);
        }
        maker.join().map_err(|_| anyhow!("the orders could not be made"))?
    })?;

    let counters = counts.aggregates().map(|aggregate| match aggregate {
        Aggregate::Customer(id) => write_item(&counts.customer(id)),
        Aggregate::Product(id) => write_item(&counts.product(id)),
        Aggregate::Day(day) => write_item(&counts.day(*day)),
    });
    import(counters.collect::<Result<_, _>>()?)?;
    database.disable_bulk_loading()?;
    Ok(())
}

/// The item in the engine's format.
fn stored(item: Item) -> Result<StoredItem> {
    item.into_iter().map(|(name, value)| Ok((name, stored_value(value)?))).collect()
}

fn stored_value(value: AttributeValue) -> Result<Stored> {
    Ok(match value {
        AttributeValue::S(text) => Stored::S(text),
        AttributeValue::N(digits) => Stored::N(digits),
        AttributeValue::Bool(flag) => Stored::BOOL(flag),
        AttributeValue::L(values) => Stored::L(values.into_iter().map(stored_value).collect::<Result<_>>()?),
        AttributeValue::M(fields) => Stored::M(stored(fields)?),
        other => bail!("no item of the shop holds {other:?}"),
    })
}
