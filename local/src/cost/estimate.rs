//! A month's bill, beside those of the other ways to pay for the table.

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

/// A way to pay for the table, and what it comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// How capacity is paid for.
    pub mode: Mode,
    /// How storage is.
    pub class: Class,
    /// Of the lines that depend on the choice.
    pub capacity_and_storage: Decimal,
    /// Of the whole bill.
    pub total: Decimal,
    /// Whether it is what is deployed.
    pub is_chosen: bool,
    /// Whether none is cheaper.
    pub is_cheapest: bool,
}

/// What a month costs.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Where.
    pub region: String,
    /// The day of the price list.
    pub prices_of: String,
    /// Orders in the month.
    pub orders: Decimal,
    /// As it is deployed.
    pub bill: Bill,
    /// All ways to pay for the table.
    pub choices: Vec<Choice>,
    /// Where one becomes cheaper than another.
    pub thresholds: Thresholds,
    /// Units a second in the busiest minutes, of the table, of GSI1 and of GSI2.
    pub peak: [Units; 3],
    /// Who consumes how much, by name.
    pub functions: Vec<Function>,
    /// How long comparing the counts with the orders takes.
    pub comparison: ComparisonTime,
}

/// How long comparing the counts of the last days with the orders takes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonTime {
    /// In days, at the `ReconcileReadUnits` that are deployed.
    pub days: Decimal,
    /// So many `ReconcileReadUnits` would do it in one day.
    pub units_for_one_day: Decimal,
}

/// Where one choice becomes cheaper than the other. All from 0 to 1.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Thresholds {
    /// The utilization above which provisioned capacity is the cheaper one; none if it never is.
    pub break_even_utilization: Option<Decimal>,
    /// The utilization of a capacity of which the peak uses as much as autoscaling aims at, all the time. On average,
    /// by what it costs.
    pub utilization_for_the_peak: Decimal,
    /// The utilization that the profile states.
    pub utilization: Decimal,
    /// The share of storage in what requests and storage cost above which infrequent access is the cheaper class.
    pub break_even_storage_share: Decimal,
    /// That share as it is here, on demand.
    pub storage_share: Decimal,
}

/// What a function does in a month.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// Its folder.
    pub name: String,
    /// How often it is called.
    pub calls: Decimal,
    /// Of the table and its indexes.
    pub read_units: Decimal,
    /// Of the table and its indexes.
    pub write_units: Decimal,
    /// For how long, times its memory.
    pub gb_seconds: Decimal,
}

/// What this shop costs in a month.
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

/// Above which share of storage, in what requests and storage cost, the class for infrequent access is cheaper: where
/// what storage is less is as much as what requests are more.
pub fn break_even_storage_share(usage: &Usage, standard: &TableClassPrices, infrequent: &TableClassPrices) -> Decimal {
    let places = usage.places().0;
    let gb = usage.table_gb + usage.indexes_gb;
    let relative = |part: Decimal, all: Decimal| share(part, all).unwrap_or_default();
    let dearer = relative(on_demand(&places, infrequent).sum(), on_demand(&places, standard).sum()) - Decimal::ONE;
    let cheaper = Decimal::ONE - relative(infrequent.storage_gb_month.of(gb), standard.storage_gb_month.of(gb));
    relative(dearer, dearer + cheaper)
}

impl Thresholds {
    /// With what is deployed, in this class.
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
