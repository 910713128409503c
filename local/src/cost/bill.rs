//! A month's bill, and what it would be with other choices.

use anyhow::{Result, ensure};
use rust_decimal::{Decimal, RoundingStrategy};
use serde::Serialize;

use super::billing_mode::{Cost, Provisioning, break_even, on_demand, provisioned};
use super::deployment::Deployment;
use super::prices::{DynamoDb, Price, PriceList, TableClassPrices};
use super::profile::Profile;
use super::usage::Usage;

/// Autoscaling watches each capacity from above and from below, and so it does with what was provisioned.
const ALARMS_PER_SCALING_POLICY: u64 = 4;

/// The days of a month, as log storage is counted.
const DAYS_PER_MONTH: Decimal = Decimal::from_parts(30, 0, 0, false, 0);

/// A bill: lines that add up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bill {
    /// Service by service.
    pub lines: Vec<Line>,
    /// The sum of the lines.
    pub total: Decimal,
}

/// One line of a bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// AWS's name for who asks for it.
    pub service: &'static str,
    /// What is paid for.
    pub what: &'static str,
    /// How much of it.
    pub quantity: Decimal,
    /// In what it is counted.
    pub unit: &'static str,
    /// Rounded to the cent.
    pub usd: Decimal,
}

/// How the table's capacity is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// By request.
    OnDemand,
    /// By the hour, with autoscaling, at the utilization that the profile states.
    Autoscaled,
    /// By the hour, enough for the peak all the time.
    ForThePeak,
}

/// The table's class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// `STANDARD`.
    Standard,
    /// `STANDARD_INFREQUENT_ACCESS`.
    InfrequentAccess,
}

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
    /// Who consumes how much, by name.
    pub functions: Vec<Function>,
    /// Read units of the comparison of counts with orders: how much of what it wants it may have, from 0 to 1.
    pub comparison_share: Decimal,
}

/// Where one choice becomes cheaper than the other. All from 0 to 1.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Thresholds {
    /// The utilization above which provisioned capacity is the cheaper one; none if it never is.
    pub break_even_utilization: Option<Decimal>,
    /// The utilization of a capacity that is enough for the peak, all the time.
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
    let usage = Usage::of(profile, deployment, prices.hours_per_month)?;
    let payer = Payer { profile, prices, deployment, usage: &usage };
    let chosen_mode = if deployment.is_on_demand { Mode::OnDemand } else { Mode::Autoscaled };
    let chosen_class = if deployment.is_standard { Class::Standard } else { Class::InfrequentAccess };

    let mut choices = Vec::new();
    for mode in [Mode::OnDemand, Mode::Autoscaled, Mode::ForThePeak] {
        for class in [Class::Standard, Class::InfrequentAccess] {
            let of_table: Decimal = payer.table(mode, class).iter().map(|line| line.usd).sum();
            let is_chosen = (mode, class) == (chosen_mode, chosen_class);
            let total = payer.bill(mode, class).total;
            choices.push(Choice { mode, class, capacity_and_storage: of_table, total, is_chosen, is_cheapest: false });
        }
    }
    if let Some(cheapest) = choices.iter_mut().min_by_key(|choice| choice.total) {
        cheapest.is_cheapest = true;
    }
    let functions = usage.calls.iter().map(|(name, calls)| Function {
        name: name.clone(),
        calls: calls.count,
        read_units: calls.units.0.iter().map(|units| units.read).sum(),
        write_units: calls.units.0.iter().map(|units| units.write).sum(),
        gb_seconds: calls.gb_seconds,
    });
    let share = |part: Decimal, all: Decimal| if all.is_zero() { Decimal::ONE } else { part / all };
    Ok(Estimate {
        region: prices.region.clone(),
        prices_of: prices.date.clone(),
        orders: profile.orders,
        bill: payer.bill(chosen_mode, chosen_class),
        choices,
        thresholds: payer.thresholds(chosen_class),
        functions: functions.collect(),
        comparison_share: share(usage.comparison_read, usage.comparison_wanted),
    })
}

/// Above which share of storage, in what requests and storage cost, the class for infrequent access is cheaper: where
/// what storage is less is as much as what requests are more.
pub fn break_even_storage_share(usage: &Usage, standard: &TableClassPrices, infrequent: &TableClassPrices) -> Decimal {
    let places = usage.places().0;
    let gb = usage.table_gb + usage.indexes_gb;
    let relative = |cheap: Decimal, dear: Decimal| if dear.is_zero() { Decimal::ZERO } else { cheap / dear };
    let dearer = relative(on_demand(&places, infrequent).sum(), on_demand(&places, standard).sum()) - Decimal::ONE;
    let cheaper = Decimal::ONE - relative(infrequent.storage_gb_month.of(gb), standard.storage_gb_month.of(gb));
    relative(dearer, dearer + cheaper)
}

struct Payer<'a> {
    profile: &'a Profile,
    prices: &'a PriceList,
    deployment: &'a Deployment,
    usage: &'a Usage,
}

impl Payer<'_> {
    fn bill(&self, mode: Mode, class: Class) -> Bill {
        let mut lines = self.table(mode, class);
        lines.extend(self.others());
        Bill { total: lines.iter().map(|line| line.usd).sum(), lines }
    }

    /// The lines that the choice decides about.
    fn table(&self, mode: Mode, class: Class) -> Vec<Line> {
        let prices = self.class(class);
        let places = self.usage.places().0;
        let (reads, writes) = places.iter().fold(Default::default(), |(reads, writes): (Decimal, Decimal), units| {
            (reads + units.read, writes + units.write)
        });
        let gb = self.usage.table_gb + self.usage.indexes_gb;
        let mut lines = vec![Line::new("DynamoDB", "storage, with indexes", gb, "GB-months", &prices.storage_gb_month)];
        let mut capacity = |what, quantity, unit, usd| lines.push(Line::of("DynamoDB", what, quantity, unit, usd));
        if mode == Mode::OnDemand {
            let Cost { reads: for_reads, writes: for_writes } = on_demand(&places, prices);
            capacity("writes", writes, "units", for_writes);
            capacity("reads", reads, "units", for_reads);
            return lines;
        }
        let utilization =
            if mode == Mode::Autoscaled { self.profile.utilization } else { self.utilization_for_the_peak() };
        let how = Provisioning { utilization, least: self.deployment.least, hours: self.prices.hours_per_month };
        let cost = provisioned(&places, prices, how);
        capacity("provisioned writes", cost.unit_hours.write, "unit-hours", cost.cost.writes);
        capacity("provisioned reads", cost.unit_hours.read, "unit-hours", cost.cost.reads);
        if mode == Mode::Autoscaled {
            let alarms = self.scaling_alarms();
            let price = &self.prices.cloudwatch.alarm_metric_month;
            lines.push(Line::new("CloudWatch", "alarms of autoscaling", alarms, "alarms", price));
        }
        lines
    }

    /// The lines that are the same whatever is chosen.
    fn others(&self) -> Vec<Line> {
        let Self { prices, deployment, usage, .. } = self;
        let calls = usage.calls.values().map(|calls| calls.count).sum();
        let gb_second =
            if deployment.is_arm { &prices.lambda.arm64_gb_second } else { &prices.lambda.x86_64_gb_second };
        let logs_kept = usage.log_gb * deployment.log_retention_days / DAYS_PER_MONTH;
        let backups = usage.table_gb * deployment.backup_days;
        let alarms = Decimal::from(deployment.alarm_metrics);
        let (dynamodb, cloudwatch) = (&prices.dynamodb, &prices.cloudwatch);
        vec![
            Line::new("DynamoDB", "recovery to any second", usage.table_gb, "GB-months", &dynamodb.recovery_gb_month),
            Line::new("DynamoDB", "daily backups", backups, "GB-months", &dynamodb.backup_gb_month),
            Line::new("HTTP API", "requests", usage.http_requests, "requests", &prices.http_api.request),
            Line::new("Lambda", "requests", calls, "calls", &prices.lambda.request),
            Line::new("Lambda", "duration", usage.gb_seconds(), "GB-seconds", gb_second),
            Line::new("EventBridge", "events", usage.events, "events", &prices.eventbridge.event),
            Line::new("SQS", "orders that wait", usage.sqs_requests, "requests", &prices.sqs.request),
            Line::new("CloudWatch", "logs written", usage.log_gb, "GB", &cloudwatch.log_gb),
            Line::new("CloudWatch", "logs kept", logs_kept, "GB-months", &cloudwatch.log_storage_gb_month),
            Line::new("CloudWatch", "metrics", usage.metrics, "metrics", &cloudwatch.metric_month),
            Line::new("CloudWatch", "alarms", alarms, "metrics", &cloudwatch.alarm_metric_month),
            Line::new(
                "CloudWatch",
                "dashboard",
                deployment.dashboards.into(),
                "dashboards",
                &cloudwatch.dashboard_month,
            ),
            Line::new("Transfer", "to the internet", usage.out_gb, "GB", &prices.transfer.out_gb),
        ]
    }

    fn thresholds(&self, class: Class) -> Thresholds {
        let DynamoDb { standard, infrequent_access, .. } = &self.prices.dynamodb;
        let places = self.usage.places().0;
        let storage = standard.storage_gb_month.of(self.usage.table_gb + self.usage.indexes_gb);
        let both = storage + on_demand(&places, standard).sum();
        let alarms = self.prices.cloudwatch.alarm_metric_month.of(self.scaling_alarms());
        Thresholds {
            break_even_utilization: break_even(&places, self.class(class), alarms),
            utilization_for_the_peak: self.utilization_for_the_peak(),
            utilization: self.profile.utilization,
            break_even_storage_share: break_even_storage_share(self.usage, standard, infrequent_access),
            storage_share: if both.is_zero() { Decimal::ZERO } else { storage / both },
        }
    }

    fn class(&self, class: Class) -> &TableClassPrices {
        match class {
            Class::Standard => &self.prices.dynamodb.standard,
            Class::InfrequentAccess => &self.prices.dynamodb.infrequent_access,
        }
    }

    /// Enough that the peak uses as much of it as autoscaling aims at.
    fn utilization_for_the_peak(&self) -> Decimal {
        self.deployment.target_utilization / self.profile.peak_to_mean
    }

    fn scaling_alarms(&self) -> Decimal {
        (self.deployment.scaling_policies * ALARMS_PER_SCALING_POLICY).into()
    }
}

impl Line {
    fn new(service: &'static str, what: &'static str, quantity: Decimal, unit: &'static str, price: &Price) -> Self {
        Self::of(service, what, quantity, unit, price.of(quantity))
    }

    fn of(service: &'static str, what: &'static str, quantity: Decimal, unit: &'static str, usd: Decimal) -> Self {
        Self { service, what, quantity, unit, usd: to_the_cent(usd) }
    }
}

/// Half a cent is a cent.
pub fn to_the_cent(usd: Decimal) -> Decimal {
    let mut usd = usd.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    usd.rescale(2);
    usd
}
