//! A month's bill, and those with other billing modes and table classes.

use anyhow::{Result, ensure};
use rust_decimal::Decimal;
use serde::Serialize;

use super::bill::{Bill, Class, Mode, Payer};
use super::billing_mode::{Units, break_even, never_idle, on_demand};
use super::deployment::Deployment;
use super::prices::{DynamoDb, PriceList, TableClassPrices};
use super::profile::Profile;
use super::share;
use super::usage::Usage;

/// A billing mode and table class, with the resulting cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The billing mode.
    pub mode: Mode,
    /// The table class.
    pub class: Class,
    /// The sum of the lines that depend on the choice.
    pub capacity_and_storage: Decimal,
    /// The total of the bill.
    pub total: Decimal,
    /// Whether this is the deployed choice.
    pub is_chosen: bool,
    /// Whether no choice is cheaper.
    pub is_cheapest: bool,
}

/// The estimate for a month.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The Region of the prices.
    pub region: String,
    /// The day of the price list.
    pub prices_of: String,
    /// Orders in the month.
    pub orders: Decimal,
    /// The bill of the deployment.
    pub bill: Bill,
    /// All choices of billing mode and table class.
    pub choices: Vec<Choice>,
    /// The thresholds between the choices.
    pub thresholds: Thresholds,
    /// The peak units a second of the table, GSI1 and GSI2.
    pub peak: [Units; 3],
    /// The consumption of each function.
    pub functions: Vec<Function>,
    /// The duration of comparing the counts with the orders.
    pub comparison: ComparisonTime,
}

/// The duration of comparing the counts of the last days with the orders.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonTime {
    /// In days, with the deployed `ReconcileReadUnits`.
    pub days: Decimal,
    /// The `ReconcileReadUnits` for a duration of one day.
    pub units_for_one_day: Decimal,
}

/// Thresholds between the choices, all from 0 to 1.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Thresholds {
    /// The utilization above which provisioned capacity is cheaper. `None` if it never is.
    pub break_even_utilization: Option<Decimal>,
    /// The mean utilization, weighted by cost, of capacity that is permanently provisioned for the peak at the target
    /// utilization.
    pub utilization_for_the_peak: Decimal,
    /// The profile's utilization.
    pub utilization: Decimal,
    /// The share of storage in the cost of storage and requests above which infrequent access is cheaper.
    pub break_even_storage_share: Decimal,
    /// The actual share, on demand.
    pub storage_share: Decimal,
}

/// The usage of a function in a month.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The number of calls.
    pub calls: Decimal,
    /// Units of the table and its indexes.
    pub read_units: Decimal,
    /// Units of the table and its indexes.
    pub write_units: Decimal,
    /// The billed duration, multiplied by the memory.
    pub gb_seconds: Decimal,
}

/// Estimates the bill of this shop for a month.
pub fn estimate(profile: &Profile, prices: &PriceList, deployment: &Deployment) -> Result<Estimate> {
    ensure!(
        profile.utilization <= deployment.target_utilization,
        "utilization: {} is more than {}, which autoscaling aims at (the template's TargetUtilization)",
        profile.utilization,
        deployment.target_utilization.normalize()
    );
    let usage = Usage::of(profile, deployment, prices.month)?;
    let payer = Payer { profile, prices, deployment, usage: &usage };
    let chosen_mode = if deployment.is_on_demand { Mode::OnDemand } else { Mode::Autoscaled };
    let chosen_class = if deployment.is_standard { Class::Standard } else { Class::InfrequentAccess };

    let others = payer.others();
    let for_others: Decimal = others.iter().map(|line| line.usd).sum();
    let mut choices = Vec::new();
    for mode in [Mode::OnDemand, Mode::Autoscaled, Mode::ForThePeak] {
        for class in [Class::Standard, Class::InfrequentAccess] {
            let of_table: Decimal = payer.table(mode, class).iter().map(|line| line.usd).sum();
            choices.push(Choice {
                mode,
                class,
                capacity_and_storage: of_table,
                total: of_table + for_others,
                is_chosen: (mode, class) == (chosen_mode, chosen_class),
                is_cheapest: false,
            });
        }
    }
    if let Some(cheapest) = choices.iter_mut().min_by_key(|choice| choice.total) {
        cheapest.is_cheapest = true;
    }
    let functions = usage.calls.iter().map(|(name, calls)| Function {
        name: name.clone(),
        calls: calls.count,
        read_units: calls.units.read(),
        write_units: calls.units.write(),
        gb_seconds: calls.gb_seconds,
    });
    Ok(Estimate {
        region: prices.region.clone(),
        prices_of: prices.date.clone(),
        orders: profile.orders,
        bill: Bill::of([payer.table(chosen_mode, chosen_class), others].concat()),
        choices,
        thresholds: Thresholds::of(&payer, chosen_class),
        peak: payer.peak().0,
        functions: functions.collect(),
        comparison: ComparisonTime {
            days: usage.comparison.days,
            units_for_one_day: (deployment.reconcile_read_units * usage.comparison.days).ceil(),
        },
    })
}

/// The share of storage, in the cost of storage and requests, above which infrequent access is cheaper: there the
/// savings on storage equal the extra cost of requests.
pub fn break_even_storage_share(usage: &Usage, standard: &TableClassPrices, infrequent: &TableClassPrices) -> Decimal {
    let places = usage.places().0;
    let gb = usage.table_gb + usage.indexes_gb;
    let relative = |part: Decimal, all: Decimal| share(part, all).unwrap_or_default();
    let dearer = relative(on_demand(&places, infrequent).sum(), on_demand(&places, standard).sum()) - Decimal::ONE;
    let cheaper = Decimal::ONE - relative(infrequent.storage_gb_month.of(gb), standard.storage_gb_month.of(gb));
    relative(dearer, dearer + cheaper)
}

impl Thresholds {
    /// The deployment with this table class.
    fn of(payer: &Payer, class: Class) -> Self {
        let Payer { profile, prices, usage, .. } = payer;
        let DynamoDb { standard, infrequent_access, .. } = &prices.dynamodb;
        let (places, of_class) = (usage.places().0, payer.class(class));
        let storage = standard.storage_gb_month.of(usage.table_gb + usage.indexes_gb);
        let both = storage + on_demand(&places, standard).sum();
        let alarms = prices.cloudwatch.alarm_metric_month.of(payer.scaling_alarms());
        let for_the_peak = payer.provisioned(Mode::ForThePeak, of_class).cost.sum();
        Self {
            break_even_utilization: break_even(&places, of_class, alarms),
            utilization_for_the_peak: share(never_idle(&places, of_class), for_the_peak).unwrap_or_default(),
            utilization: profile.utilization,
            break_even_storage_share: break_even_storage_share(usage, standard, infrequent_access),
            storage_share: share(storage, both).unwrap_or_default(),
        }
    }
}
