//! `cargo local replay`: publishes the events of records that were given up.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use local::replay::{self, Found};

use super::place::Place;
use super::print;

/// Publish the events of stream records that `publish-order-events` has given up
///
/// Each FILE has such records: messages of the queue of lost events, or records of the stream, as the AWS CLI prints them.
/// Each event has the id that it always had, so this may be repeated. This build publishes them, so use one that can read
/// what the deployed release could not read.
#[derive(Args)]
pub(super) struct Arguments {
    /// The files, in the order of their records
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The name of the deployed bus on which to publish [default: the bus of the running stack]
    #[arg(long, requires = "table")]
    bus: Option<String>,

    #[command(flatten)]
    place: Place,
}

/// Publishes them, and fails if some could not be published.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        arguments.bus.is_some() || !arguments.place.is_deployed(),
        "--table needs --bus: the output OrderEventsName"
    );
    let mut all = Found::default();
    for file in &arguments.files {
        let name = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        let found = replay::read(&text).with_context(|| name.to_string())?;
        all.batches.extend(found.batches);
        all.pointers.extend(found.pointers);
    }
    let bus = arguments.bus.iter().map(|bus| ("EVENT_BUS".to_owned(), bus.clone()));
    let environment = arguments.place.environment(&[]).await?.with(bus);
    let replayed = replay::replay(&environment, all.batches).await?;
    print(&format!("published {} events\n", replayed.published))?;
    for (number, reason) in &replayed.unreadable {
        print(&format!("record {number} cannot be published: {reason}\n"))?;
    }
    for pointer in &all.pointers {
        print(&format!("a message has no records, only their place: {pointer}\n"))?;
    }
    ensure!(replayed.waiting == 0, "{} events are not on the bus: start the command again", replayed.waiting);
    ensure!(replayed.unreadable.is_empty() && all.pointers.is_empty(), "some records were not published");
    Ok(())
}
