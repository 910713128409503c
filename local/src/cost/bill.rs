//! A month's bill, and what it would be with other choices.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rust_decimal::{Decimal, RoundingStrategy, dec};
use serde::Serialize;

use super::billing_mode::{Cost, Provisioned, SECONDS_PER_HOUR, Units, break_even, never_idle, on_demand, provisioned};
use super::deployment::Deployment;
use super::prices::{DynamoDb, Price, PriceList, TableClassPrices};
use super::profile::Profile;
use super::usage::{Places, Usage};

/// Autoscaling watches each capacity from above and from below, and so it does with what was provisioned.
const ALARMS_PER_SCALING_POLICY: u64 = 4;

/// The days of a month, as log storage is counted.
const DAYS_PER_MONTH: Decimal = dec!(30);

/// A bill: lines that add up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bill {
    /// Service by service.
    pub lines: Vec<Line>,
    /// The sum of each service's lines.
    pub services: BTreeMap<Service, Decimal>,
    /// The sum of the lines.
    pub total: Decimal,
}

/// Who asks for money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Service {
    /// Amazon DynamoDB, with the backups that AWS Backup makes of it.
    #[serde(rename = "DynamoDB")]
    DynamoDb,
    /// Amazon API Gateway.
    #[serde(rename = "HTTP API")]
    HttpApi,
    /// AWS Lambda.
    Lambda,
    /// Amazon EventBridge.
    EventBridge,
    /// Amazon SQS.
    #[serde(rename = "SQS")]
    Sqs,
    /// Amazon CloudWatch, with its logs.
    CloudWatch,
    /// What leaves AWS.
    Transfer,
}

/// One line of a bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// Who asks for it.
    pub service: Service,
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
    /// Units a second in the busiest minutes, of the table, of GSI1 and of GSI2.
    pub peak: [Units; 3],
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
    /// The utilization of a capacity of which the peak uses as much as autoscaling aims at, all the time. On average, by
    /// what it costs.
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
    Ok(Estimate {
        region: prices.region.clone(),
        prices_of: prices.date.clone(),
        orders: profile.orders,
        bill: payer.bill(chosen_mode, chosen_class),
        choices,
        thresholds: payer.thresholds(chosen_class),
        peak: payer.peak().0,
        functions: functions.collect(),
        comparison_share: share(usage.comparison_read, usage.comparison_wanted).unwrap_or(Decimal::ONE),
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
        lines.sort_by_key(|line| line.service);
        let mut services = BTreeMap::new();
        for line in &lines {
            *services.entry(line.service).or_default() += line.usd;
        }
        Bill { total: services.values().sum(), services, lines }
    }

    /// The lines that the choice decides about.
    fn table(&self, mode: Mode, class: Class) -> Vec<Line> {
        let prices = self.class(class);
        let places = self.usage.places().0;
        let (reads, writes) = places.iter().fold(Default::default(), |(reads, writes): (Decimal, Decimal), units| {
            (reads + units.read, writes + units.write)
        });
        let gb = self.usage.table_gb + self.usage.indexes_gb;
        let mut lines =
            vec![Line::new(Service::DynamoDb, "storage, with indexes", gb, "GB-months", &prices.storage_gb_month)];
        let mut capacity =
            |what, quantity, unit, usd| lines.push(Line::of(Service::DynamoDb, what, quantity, unit, usd));
        if mode == Mode::OnDemand {
            let Cost { reads: for_reads, writes: for_writes } = on_demand(&places, prices);
            capacity("writes", writes, "units", for_writes);
            capacity("reads", reads, "units", for_reads);
            return lines;
        }
        let Provisioned { unit_hours, cost } = self.provisioned(mode, prices);
        capacity("provisioned writes", unit_hours.write, "unit-hours", cost.writes);
        capacity("provisioned reads", unit_hours.read, "unit-hours", cost.reads);
        if mode == Mode::Autoscaled {
            let alarms = self.scaling_alarms();
            let price = &self.prices.cloudwatch.alarm_metric_month;
            lines.push(Line::new(Service::CloudWatch, "alarms of autoscaling", alarms, "alarms", price));
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
            Line::new(
                Service::DynamoDb,
                "recovery to any second",
                usage.table_gb,
                "GB-months",
                &dynamodb.recovery_gb_month,
            ),
            Line::new(Service::DynamoDb, "daily backups", backups, "GB-months", &dynamodb.backup_gb_month),
            Line::new(Service::HttpApi, "requests", usage.http_requests, "requests", &prices.http_api.request),
            Line::new(Service::Lambda, "requests", calls, "calls", &prices.lambda.request),
            Line::new(Service::Lambda, "duration", usage.gb_seconds(), "GB-seconds", gb_second),
            Line::new(Service::EventBridge, "events", usage.events, "events", &prices.eventbridge.event),
            Line::new(Service::Sqs, "orders that wait", usage.sqs_requests, "requests", &prices.sqs.request),
            Line::new(Service::CloudWatch, "logs written", usage.log_gb, "GB", &cloudwatch.log_gb),
            Line::new(Service::CloudWatch, "logs kept", logs_kept, "GB-months", &cloudwatch.log_storage_gb_month),
            Line::new(Service::CloudWatch, "metrics", usage.metrics, "metrics", &cloudwatch.metric_month),
            Line::new(Service::CloudWatch, "alarms", alarms, "metrics", &cloudwatch.alarm_metric_month),
            Line::new(
                Service::CloudWatch,
                "dashboard",
                deployment.dashboards.into(),
                "dashboards",
                &cloudwatch.dashboard_month,
            ),
            Line::new(Service::Transfer, "to the internet", usage.out_gb, "GB", &prices.transfer.out_gb),
        ]
    }

    fn thresholds(&self, class: Class) -> Thresholds {
        let DynamoDb { standard, infrequent_access, .. } = &self.prices.dynamodb;
        let (places, prices) = (self.usage.places().0, self.class(class));
        let storage = standard.storage_gb_month.of(self.usage.table_gb + self.usage.indexes_gb);
        let both = storage + on_demand(&places, standard).sum();
        let alarms = self.prices.cloudwatch.alarm_metric_month.of(self.scaling_alarms());
        let for_the_peak = self.provisioned(Mode::ForThePeak, prices).cost.sum();
        Thresholds {
            break_even_utilization: break_even(&places, prices, alarms),
            utilization_for_the_peak: share(never_idle(&places, prices), for_the_peak).unwrap_or_default(),
            utilization: self.profile.utilization,
            break_even_storage_share: break_even_storage_share(self.usage, standard, infrequent_access),
            storage_share: share(storage, both).unwrap_or_default(),
        }
    }

    fn class(&self, class: Class) -> &TableClassPrices {
        match class {
            Class::Standard => &self.prices.dynamodb.standard,
            Class::InfrequentAccess => &self.prices.dynamodb.infrequent_access,
        }
    }

    fn provisioned(&self, mode: Mode, prices: &TableClassPrices) -> Provisioned {
        let a_second = match mode {
            Mode::ForThePeak => self.peak() * (Decimal::ONE / self.deployment.target_utilization),
            Mode::OnDemand | Mode::Autoscaled => {
                self.usage.places() * (Decimal::ONE / (self.seconds() * self.profile.utilization))
            }
        };
        provisioned(&a_second.0, self.deployment.least, self.prices.hours_per_month, prices)
    }

    /// Units a second in the busiest minutes.
    fn peak(&self) -> Places {
        let steady = self.usage.steady();
        let mut peak = (self.usage.places() - steady) * self.profile.peak_to_mean;
        peak += steady;
        peak * (Decimal::ONE / self.seconds())
    }

    fn seconds(&self) -> Decimal {
        self.prices.hours_per_month * SECONDS_PER_HOUR
    }

    fn scaling_alarms(&self) -> Decimal {
        (self.deployment.scaling_policies * ALARMS_PER_SCALING_POLICY).into()
    }
}

impl Line {
    fn new(service: Service, what: &'static str, quantity: Decimal, unit: &'static str, price: &Price) -> Self {
        Self::of(service, what, quantity, unit, price.of(quantity))
    }

    fn of(service: Service, what: &'static str, quantity: Decimal, unit: &'static str, usd: Decimal) -> Self {
        Self { service, what, quantity, unit, usd: to_the_cent(usd) }
    }
}

/// How much of all this is, from 0 to 1; of nothing, there is no share.
fn share(part: Decimal, all: Decimal) -> Option<Decimal> {
    (!all.is_zero()).then(|| part / all)
}

/// Half a cent is a cent.
pub fn to_the_cent(usd: Decimal) -> Decimal {
    let mut usd = usd.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    usd.rescale(2);
    usd
}
