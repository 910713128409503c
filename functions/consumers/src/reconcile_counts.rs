//! On a schedule, or invoked by hand: compares the counts with the orders, and repairs the counts if the event says so.
//!
//! Orders are placed and counted meanwhile. The modules `walk` and `repair`, and `counting::Bounds`, explain why that
//! disturbs neither a comparison nor a repair.
//!
//! - `{"from": "2026-11-20", "to": "2026-11-21", "repair": true}` compares the days from `from` up to, not including,
//!   `to`, and every customer and product with an order on these days. If the time does not suffice, the answer has a
//!   `resume`. The event `{"resume": ...}` then continues the run.
//! - A scheduled event continues the unfinished run. If there is none, it begins one over the last days, at most once a
//!   day. If a run took longer than that, the next one begins where it ended, so that no day of the last 92 is left out.

mod reads;
mod repair;
mod run;
mod schedule;
mod walk;

use std::time::Duration;

use key_schema::access::Access;
use key_schema::entity::{
    CustomerStats, DayTotals, Order, ParkedCounts, ProductStats, Reconciliation, StreamCheckpoint,
};
use key_schema::layout::{COUNTS_PARKED, ORDER_BY_ID, ORDERS_OF_CUSTOMER, ORDERS_OF_PRODUCT, ORDERS_OF_STATUS};
use key_schema::value::{Day, Days, Timestamp, Zone};
use lambda::{Environment, Error, FromEnvironment, Grant, Measure, Misconfigured};
use serde::{Deserialize, Serialize};
use table::{Budget, ProductShards, StatusShards, Writer};
use tokio::time::Instant;
use tracing::info;

use crate::count_orders::Folder;

use reads::Reads;
pub use reads::{RATE_MARGIN, page_size};
pub use run::{Drift, LAST_STEP, Report, Run};
pub use schedule::DAYS;

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[&[
    Access::query(ORDER_BY_ID),
    Access::query(ORDERS_OF_STATUS),
    Access::query(ORDERS_OF_PRODUCT),
    Access::query(ORDERS_OF_CUSTOMER),
    Access::batch_get::<CustomerStats>(),
    Access::batch_get::<ProductStats>(),
    Access::batch_get::<DayTotals>(),
    Access::batch_get::<Order>(),
    Access::batch_get::<Reconciliation>(),
    Access::update::<CustomerStats>(),
    Access::update::<ProductStats>(),
    Access::update::<DayTotals>(),
    Access::put::<Reconciliation>(),
    Access::put::<StreamCheckpoint>(),
    Access::query(COUNTS_PARKED),
    Access::delete::<ParkedCounts>().in_transactions(),
]];

/// None: the function calls no other service.
pub const GRANTS: &[Grant] = &[];

/// The longest time between the beginning of a batch and its last parked counts.
const LONGEST_BATCH: Duration = Duration::from_mins(2);

/// The function's dependencies, and its settings in the deployment.
#[derive(Clone, Debug)]
pub struct Reconciler {
    reads: Reads,
    writer: Writer,
    folder: Folder,
    status_shards: StatusShards,
    product_shards: ProductShards,
    /// A change that is older than this is counted, or lost forever.
    settle_seconds: u32,
    /// The zone of the days: the variable `TIME_ZONE`.
    zone: Zone,
}

impl FromEnvironment for Reconciler {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reads: Reads::from_environment(environment)?,
            writer: Writer::from_environment(environment)?,
            folder: Folder::from_environment(environment)?,
            status_shards: StatusShards::from_environment(environment)?,
            product_shards: ProductShards::from_environment(environment)?,
            settle_seconds: environment.number("SETTLE_SECONDS", 0..=7 * 24 * 60 * 60)?,
            zone: environment.parsed("TIME_ZONE")?,
        })
    }
}

/// The event. A scheduled event has none of these fields.
#[derive(Debug, Deserialize)]
pub struct Command {
    from: Option<Day>,
    to: Option<Day>,
    #[serde(default)]
    repair: bool,
    resume: Option<Run>,
}

/// The answer: the figures of the whole run so far.
#[derive(Debug, Serialize)]
pub struct Answer {
    #[serde(flatten)]
    report: Report,
    /// The first drifts, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drifts: Vec<Drift>,
    done: bool,
    /// The unfinished run: the `resume` of the next event.
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<Run>,
}

pub async fn handle(reconciler: Reconciler, command: Command, time: Duration) -> Result<Answer, Error> {
    let end = Instant::now() + time;
    reconciler.fold(Budget::of(time)).await?;
    let mut run = match command {
        Command { resume: Some(run), .. } => run,
        Command { from: Some(from), to: Some(to), repair, .. } => Run::new(Days::new(from, to)?, repair),
        Command { from: None, to: None, repair: false, .. } => return reconciler.scheduled(end).await,
        Command { .. } => return Err("name both from and to, and repair only with them".into()),
    };
    let done = reconciler.go_on(&mut run, end).await?;
    Ok(Answer::new(run, done))
}

impl Answer {
    fn new(run: Run, done: bool) -> Self {
        Self { report: run.report(), drifts: run.drifts().to_vec(), done, resume: Some(run).filter(|_| !done) }
    }
}

impl Reconciler {
    /// Folds what is parked. So a change that `count-orders` parks later is a recent one: it was delivered during this
    /// invocation. A replay parks older ones, which each repair folds itself.
    async fn fold(&self, budget: Budget) -> Result<(), Error> {
        let oldest = self.folder.sweep(budget).await?;
        let now = Timestamp::now().as_second();
        let age = oldest.map_or(0, |oldest| u64::try_from(now - oldest.as_second()).unwrap_or(0));
        lambda::metrics(&[("OldestParkedCounts", Measure::Seconds(age))]);
        // Counts may be parked at any time of a batch, whose time of beginning they have.
        if age > LONGEST_BATCH.as_secs() { Err("parked counts cannot be folded".into()) } else { Ok(()) }
    }

    /// Continues the run until it or the time ends, and emits the metrics. Returns whether the run is done.
    async fn go_on(&self, run: &mut Run, end: Instant) -> Result<bool, table::Error> {
        let before = run.report();
        let done = run.go_on(self, end).await;
        let Report { checked, drifted, repaired, unsettled, busy } = run.report().since(&before);
        info!(checked, drifted, repaired, unsettled, busy, done = matches!(done, Ok(true)), "compared");
        lambda::metrics(&[
            ("CountersChecked", Measure::Count(checked)),
            ("CountersDrifted", Measure::Count(drifted)),
            ("CountersRepaired", Measure::Count(repaired)),
        ]);
        done
    }

    /// Emits how long ago the last day ended up to which everything is compared. Every scheduled invocation emits that, also
    /// one with nothing to compare.
    fn report_age(&self, compared_up_to: Day) {
        let ended = self.zone.moments(compared_up_to, compared_up_to.plus(1));
        let ended = ended.from().map(|moment| moment.as_second()).unwrap_or_default();
        let age = u64::try_from(Timestamp::now().as_second() - ended).unwrap_or(0);
        lambda::metrics(&[("ComparedUpToAge", Measure::Seconds(age))]);
    }
}
