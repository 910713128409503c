//! A month's bill, and those with other billing modes and table classes.

use anyhow::{Result, ensure};
use rust_decimal::Decimal;

use super::bill::{Bill, Class, Mode, Payer};
use super::deployment::Deployment;
use super::prices::PriceList;
use super::profile::Profile;
use super::units_by_index::Units;
use super::usage::Usage;

/// A billing mode and table class, with the resulting cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub mode: Mode,
    pub class: Class,
    /// The sum of the lines that depend on the choice.
    pub capacity_and_storage: Decimal,
    pub total: Decimal,
    pub is_chosen: bool,
    pub is_cheapest: bool,
}

/// The estimate for a month.
#[derive(Debug, Clone)]
pub struct Estimate {
    pub region: String,
    pub prices_of: String,
    pub orders: Decimal,
    pub bill: Bill,
    pub choices: Vec<Choice>,
    /// The peak units a second of the table, GSI1 and GSI2.
    pub peak: [Units; 3],
    pub usage: Usage,
    /// The `ReconcileReadUnits` for a comparison of the counts with the orders in one day.
    pub units_for_one_day: Decimal,
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
    Ok(Estimate {
        region: prices.region.clone(),
        prices_of: prices.date.clone(),
        orders: profile.orders,
        bill: Bill::of([payer.table(chosen_mode, chosen_class), others].concat()),
        choices,
        peak: payer.peak().0,
        units_for_one_day: (deployment.reconcile_read_units * usage.comparison.days).ceil(),
        usage,
    })
}
