//! The reads and the duration of comparing the counts with the orders.
//!
//! A comparison reads each order of some days completely. Then it reads the counters of each customer and product of
//! these orders, and the whole history of each of them, because the counters are sums over it.

use anyhow::{Context, Result, ensure};
use capacity::rules::read_units;
use capacity::size::of_kind;
use consumers::reconcile_counts::{DAYS, LAST_STEP, RATE_MARGIN, page_size};
use key_schema::entity::OrderStatus;
use key_schema::layout::Consistency::{Eventual, Strong};
use key_schema::layout::share_of_page;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use sample_items::{Kind, Sample};

use super::cases::operation;
use super::deployment::Deployment;
use super::month::Month;
use super::profile::Profile;
use super::share;
use super::units_by_index::{UnitsByIndex, exact};

/// The function that runs comparisons.
pub(super) const RECONCILE: &str = "reconcile-counts";

/// The comparison of the last days, which begins each day unless the last one is still running.
#[derive(Debug, Clone, Copy, Default)]
pub struct Comparison {
    pub units: UnitsByIndex,
    /// The duration of one comparison in days.
    pub days: Decimal,
    /// The most units read in a second while the function runs.
    pub pace: Decimal,
    /// The invocations in a month. One comparison takes many.
    pub invocations: Decimal,
}

impl Comparison {
    /// The comparison of this shop, with this deployment.
    ///
    /// # Errors
    /// The profile's sizes are not valid, or the deployment has no such function.
    pub fn of(profile: &Profile, deployment: &Deployment, month: Month) -> Result<Self> {
        let function = deployment.function(RECONCILE)?;
        let interval = function.interval_seconds.with_context(|| format!("{RECONCILE} has no schedule"))?;
        // Between two invocations nothing is read.
        let at_work = Decimal::from(function.timeout_seconds.saturating_sub(LAST_STEP.as_secs())).min(interval);
        ensure!(at_work > Decimal::ZERO, "{RECONCILE}: {} s are too few for it", function.timeout_seconds);
        let pace = deployment.reconcile_read_units * (Decimal::ONE - exact(RATE_MARGIN)?);

        let invocations = month.seconds() / interval;
        let units = units(profile, deployment, month)?;
        let days = units.read() * month.days() / (pace * at_work * invocations);
        Ok(Self { units, days, pace, invocations })
    }

    pub(super) fn units_a_month(&self, month: Month) -> UnitsByIndex {
        self.units * (month.days() / self.days.max(Decimal::ONE))
    }
}

fn units(profile: &Profile, deployment: &Deployment, month: Month) -> Result<UnitsByIndex> {
    let sample = Sample::new(profile.typical(deployment)).context("sizes")?;
    let [header, line] = [Kind::Order(OrderStatus::Delivered), Kind::OrderItem].map(|kind| of_kind(&sample, kind));
    let page = page_size(deployment.reconcile_read_units.to_u32().context("ReconcileReadUnits")?);
    let in_a_list = |bytes| exact(read_units(bytes * usize::from(page), Eventual) / f64::from(page));
    let alone = |bytes, consistency| exact(read_units(bytes, consistency));
    let charge = |function, case| UnitsByIndex::of(&operation(function, case)?.charge(&sample));

    let Profile { orders, order, kept, .. } = profile;
    let ever = orders * kept.order_months;
    let recent = (orders * Decimal::from(DAYS) / month.days()).min(ever);
    // The lists of a status, and the queries for a later order of its customer and of its products.
    let in_its_day =
        [Decimal::ZERO, in_a_list(header)? + alone(line, Eventual)? * order.lines, alone(header, Eventual)?];
    let each = charge("get-order", "found")? + UnitsByIndex::reading(in_its_day);

    // All customers order equally often, and none twice within these days.
    let (customers, products) = (recent.min(kept.customers), (recent * order.lines).min(kept.products));
    // An order in a terminal state does not change any more, so an eventually consistent read is enough. Orders are
    // assumed to reach a terminal state within these days; until then the header is read again.
    let still_open = alone(header, Strong)? * share(recent, ever);
    let of_customer = UnitsByIndex::reading([still_open, Decimal::ZERO, in_a_list(header)?]);
    // A page of a product's orders is merged from all shards, so all of them are queried.
    let shards = deployment.product_shards;
    let of_shards = line * usize::from(share_of_page(page, shards.into()));
    let listed = alone(of_shards, Eventual)? * Decimal::from(shards) / Decimal::from(page);
    let of_product = UnitsByIndex::reading([alone(header, Eventual)? + still_open, listed, Decimal::ZERO]);
    let other_shards = alone(line, Eventual)? * Decimal::from(shards.saturating_sub(1)) * products;

    let counters = UnitsByIndex::reading([customers + products, other_shards, Decimal::ZERO]);
    Ok(charge(RECONCILE, "scheduled, after a week of no orders")?.reads()
        + each * recent
        + counters
        + of_customer * (ever * share(customers, kept.customers))
        + of_product * (ever * order.lines * share(products, kept.products)))
}
