//! `cargo local replay`: processes records of the stream that were given up.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use consumers::count_orders::Recounted;
use consumers::publish_order_events::Replayed;
use lambda::Environment;
use local::replay::{self, Found, Lost, Object, Taken};

use super::place::Place;
use super::print;

/// Process stream records that were given up: publish their events, or count them
///
/// Without a FILE, takes the messages of the queue of lost events, or of lost counts, and deletes each one whose records are
/// processed, together with the object that it names. A FILE has such records, too: messages of this queue or records of the
/// stream, as the AWS CLI prints them, or an object of Lambda.
///
/// Each event has the id that it always had, and a record is counted once. So this may be repeated. This build reads the
/// records, so use one that can read what the deployed release could not read.
#[derive(Args)]
pub(super) struct Arguments {
    /// The files, in the order of their records
    #[arg(value_name = "FILE", conflicts_with_all = ["queue", "bucket"])]
    files: Vec<PathBuf>,

    /// Count the records, instead of publishing their events
    #[arg(long)]
    counts: bool,

    /// The URL of the deployed queue of lost events, or with --counts of lost counts [default: that of the running stack]
    #[arg(long, value_name = "URL", requires = "table")]
    queue: Option<String>,

    /// Take all objects of this bucket of lost events, or with --counts of lost counts, instead of a queue's messages
    #[arg(long, value_name = "NAME", conflicts_with = "queue")]
    bucket: Option<String>,

    /// The name of the deployed bus on which to publish [default: the bus of the running stack]
    #[arg(long, requires = "table", conflicts_with = "counts")]
    bus: Option<String>,

    /// The shop's parameter `TimeZone`, whose days are counted
    #[arg(long, value_name = "ZONE", default_value = "UTC", requires = "counts")]
    time_zone: String,

    /// The shop's parameter `FewLeft`, for events of products that sold out
    #[arg(long, value_name = "UNITS", default_value_t = 5)]
    few_left: u32,

    #[command(flatten)]
    place: Place,
}

/// Processes them, and fails if some could not be processed.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { files, counts, queue, bucket, bus, time_zone, few_left, place } = arguments;
    ensure!(*counts || bus.is_some() || !place.is_deployed(), "--table needs --bus: the output OrderEventsName");
    ensure!(
        !files.is_empty() || queue.is_some() || bucket.is_some() || !place.is_deployed(),
        "--table needs --queue, --bucket or files: the output LostEventsUrl, or LostCountsUrl"
    );
    let found = (!files.is_empty()).then(|| read(files)).transpose()?;
    let bus = bus.iter().map(|bus| ("EVENT_BUS".to_owned(), bus.clone()));
    let variables =
        bus.chain([("TIME_ZONE".to_owned(), time_zone.clone()), ("FEW_LEFT".to_owned(), few_left.to_string())]);
    let mut processor = Processor {
        environment: place.environment(&[]).await?.with(variables),
        counts: *counts,
        total: Total::default(),
    };
    let outcome = if let Some(found) = found {
        processor.take(found).await
    } else {
        let environment = processor.environment.clone();
        let process = async |batches| match &*processor.process(batches).await? {
            [] => Ok(()),
            failures => bail!(failures.join("; ")),
        };
        let taken = match (bucket, queue) {
            (Some(bucket), _) => replay::take_from_bucket(&environment, bucket, process).await,
            (None, Some(queue)) => replay::take_from_queue(&environment, queue, process).await,
            (None, None) => {
                let queue = place.queue(if *counts { "LostCounts" } else { "LostEvents" }).await?;
                replay::take_from_queue(&environment, &queue, process).await
            }
        };
        taken.map(|Taken { done, left }| {
            let done = format!("{done} messages or objects are processed and deleted");
            let left: Vec<_> = left.iter().map(|left| format!("{} is left: {}", left.what, left.why)).collect();
            (vec![done], left)
        })
    };
    // Also if it ends with an error.
    processor.tell()?;
    let (done, left) = outcome?;
    for line in done.iter().chain(&left) {
        print(&format!("{line}\n"))?;
    }
    ensure!(left.is_empty(), "some records were not processed");
    Ok(())
}

fn read(files: &[PathBuf]) -> Result<Found> {
    let mut all = Found::default();
    for file in files {
        let name = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        let found = replay::read(&text).with_context(|| name.to_string())?;
        all.batches.extend(found.batches);
        all.pointers.extend(found.pointers);
        all.objects.extend(found.objects);
    }
    Ok(all)
}

struct Processor {
    environment: Environment,
    counts: bool,
    total: Total,
}

/// The results so far.
#[derive(Default)]
struct Total {
    published: usize,
    counted: usize,
    known: usize,
}

impl Processor {
    /// Processes the records of files. Returns what to print of what is done, and of what is left.
    async fn take(&mut self, found: Found) -> Result<(Vec<String>, Vec<String>)> {
        let mut left = self.process(found.batches).await?;
        let pointers = found.pointers.iter();
        left.extend(pointers.map(|pointer| format!("a message has no records, only their place: {pointer}")));
        let objects = found.objects.iter().map(|Object { bucket, key }| format!("s3://{bucket}/{key}"));
        left.extend(objects.map(|object| format!("a message has no records, only the name of an object: {object}")));
        Ok((Vec::new(), left))
    }

    /// Publishes or counts these records. Returns what could not be processed.
    async fn process(&mut self, batches: Vec<Lost>) -> Result<Vec<String>> {
        if self.counts {
            let Recounted { counted, known, left } = replay::count(&self.environment, batches).await?;
            self.total.counted += counted;
            self.total.known += known;
            return Ok(left.iter().map(|(number, why)| format!("record {number} cannot be counted: {why}")).collect());
        }
        let Replayed { published, unreadable, waiting } = replay::replay(&self.environment, batches).await?;
        self.total.published += published;
        let unreadable = unreadable.iter().map(|(number, why)| format!("record {number} cannot be published: {why}"));
        let waiting = (waiting > 0).then(|| format!("{waiting} events are not on the bus: start the command again"));
        Ok(unreadable.chain(waiting).collect())
    }

    fn tell(&self) -> Result<()> {
        let Total { published, counted, known } = self.total;
        print(&if self.counts {
            format!("counted {counted} records; {known} were counted before\n")
        } else {
            format!("published {published} events\n")
        })
    }
}
