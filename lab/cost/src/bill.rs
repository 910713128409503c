//! A month's bill: a shop's usage at AWS's prices.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, RoundingStrategy};

use super::deployment::{Deployment, Plan};
use super::prices::{Price, PriceList, TableClassPrices};
use super::profile::Profile;
use super::units_by_index::{Units, UnitsByIndex};
use super::usage::Usage;

/// Autoscaling creates two alarms for the use of each capacity, and two for the provisioned capacity itself.
const ALARMS_PER_SCALING_POLICY: u64 = 4;

/// The alarms of stacks/analytics.yaml, each with one metric.
pub(super) const ALARMS_OF_EXPORTS: u64 = 2;

/// Contributor Insights has a rule for partition keys and one for whole keys, of the table and of each index.
const INSIGHT_RULES: u64 = 6;

/// A bill. Its lines add up to the total.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill {
    pub lines: Vec<Line>,
    pub services: BTreeMap<Service, Decimal>,
    pub total: Decimal,
}

/// A billed service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Amazon DynamoDB, with the backups that AWS Backup makes of it.
    DynamoDb,
    HttpApi,
    Cognito,
    Lambda,
    EventBridge,
    Sqs,
    SecretsManager,
    CloudWatch,
    Transfer,
    XRay,
    S3,
}

/// One line of a bill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub service: Service,
    pub what: &'static str,
    pub quantity: Decimal,
    pub unit: &'static str,
    /// The amount, rounded to the cent.
    pub usd: Decimal,
}

/// The billing mode of the table's capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    OnDemand,
    /// Provisioned, with autoscaling, at the profile's utilization.
    Autoscaled,
    /// Provisioned for the peak all the time.
    ForThePeak,
}

/// The table's class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Standard,
    InfrequentAccess,
}

/// Computes the bills of a month for different choices.
pub(super) struct Payer<'a> {
    pub(super) profile: &'a Profile,
    pub(super) prices: &'a PriceList,
    pub(super) deployment: &'a Deployment,
    pub(super) usage: &'a Usage,
}

impl Bill {
    pub(super) fn of(mut lines: Vec<Line>) -> Self {
        lines.sort_by_key(|line| line.service);
        let mut services = BTreeMap::new();
        for line in &lines {
            *services.entry(line.service).or_default() += line.usd;
        }
        Self { total: services.values().sum(), services, lines }
    }
}

impl Payer<'_> {
    pub(super) fn table(&self, mode: Mode, class: Class) -> Vec<Line> {
        let prices = self.class(class);
        let places = self.usage.places();
        let gb = self.usage.table_gb + self.usage.indexes_gb;
        let mut lines =
            vec![Line::new(Service::DynamoDb, "storage, with indexes", gb, "GB-months", &prices.storage_gb_month)];
        let mut capacity =
            |what, quantity, unit, price| lines.push(Line::new(Service::DynamoDb, what, quantity, unit, price));
        if mode == Mode::OnDemand {
            capacity("writes", places.write(), "units", &prices.write_request);
            capacity("reads", places.read(), "units", &prices.read_request);
            return lines;
        }
        let Units { read, write } = self.unit_hours(mode);
        capacity("provisioned writes", write, "unit-hours", &prices.write_unit_hour);
        capacity("provisioned reads", read, "unit-hours", &prices.read_unit_hour);
        if mode == Mode::Autoscaled {
            let alarms = (self.deployment.scaling_policies * ALARMS_PER_SCALING_POLICY).into();
            let price = &self.prices.cloudwatch.alarm_metric_month;
            lines.push(Line::new(Service::CloudWatch, "alarms of autoscaling", alarms, "alarms", price));
        }
        lines
    }

    /// The lines that do not depend on these choices.
    pub(super) fn others(&self) -> Vec<Line> {
        use Service::{
            CloudWatch, Cognito, DynamoDb, EventBridge, HttpApi, Lambda, S3, SecretsManager, Sqs, Transfer, XRay,
        };
        let Self { prices, deployment, usage, .. } = self;
        let calls = usage.calls.values().map(|calls| calls.count).sum();
        let gb_second =
            if deployment.is_arm { &prices.lambda.arm64_gb_second } else { &prices.lambda.x86_64_gb_second };
        let logs_kept = usage.log_gb * deployment.log_retention_days / prices.month.days();
        // Each backup is a copy of the whole table.
        let between = deployment.days_between_backups.unwrap_or(prices.month.days());
        let backups = usage.table_gb * deployment.backup_days / between;
        let (dynamodb, cloudwatch) = (&prices.dynamodb, &prices.cloudwatch);
        let keys = "the payment provider's keys";
        let mut lines = vec![
            (DynamoDb, "recovery to any second", usage.table_gb, "GB-months", &dynamodb.recovery_gb_month),
            (DynamoDb, "backups", backups, "GB-months", &dynamodb.backup_gb_month),
            (HttpApi, "requests", usage.http_requests, "requests", &prices.http_api_request),
            (Lambda, "requests", calls, "calls", &prices.lambda.request),
            (Lambda, "duration", usage.gb_seconds(), "GB-seconds", gb_second),
            (EventBridge, "events", usage.events, "events", &prices.event),
            (Sqs, "orders that wait, payments", usage.sqs_requests, "requests", &prices.sqs_request),
            (SecretsManager, keys, usage.secrets, "secrets", &prices.secret_month),
            (CloudWatch, "logs written", usage.log_gb, "GB", &cloudwatch.log_gb),
            (CloudWatch, "logs kept", logs_kept, "GB-months", &cloudwatch.log_storage_gb_month),
            (CloudWatch, "metrics", usage.metrics, "metrics", &cloudwatch.metric_month),
            (CloudWatch, "alarms", deployment.alarm_metrics.into(), "metrics", &cloudwatch.alarm_metric_month),
            (CloudWatch, "dashboard", deployment.dashboards.into(), "dashboards", &cloudwatch.dashboard_month),
            (Transfer, "to the internet", usage.out_gb, "GB", &prices.out_gb),
        ];
        if let Some(plan) = deployment.user_pool {
            let customer = match plan {
                Plan::Lite => &prices.cognito.lite,
                Plan::Essentials => &prices.cognito.essentials,
                Plan::Plus => &prices.cognito.plus,
            };
            let sign_in = &self.profile.sign_in;
            let customers = self.profile.orders * sign_in.customers_per_order;
            let tokens = sign_in.back_office_tokens;
            lines.extend([
                (Cognito, "customers of the month", customers, "customers", customer),
                (Cognito, "tokens of the back office", tokens, "tokens", &prices.cognito.token),
            ]);
        }
        // What is off by default.
        if deployment.options.is_exported {
            let alarms = ALARMS_OF_EXPORTS.into();
            lines.extend([
                (DynamoDb, "exports, at most", usage.exported_gb, "GB", &dynamodb.export_gb),
                (S3, "exports kept, at most", usage.exports_gb, "GB-months", &prices.s3_gb_month),
                (CloudWatch, "alarms of exports", alarms, "metrics", &cloudwatch.alarm_metric_month),
            ]);
        }
        if deployment.options.is_traced {
            lines.push((XRay, "traces", usage.traces, "traces", &prices.trace));
        }
        if deployment.options.records_throttled_keys {
            let rules = INSIGHT_RULES.into();
            lines.push((CloudWatch, "throttled keys", rules, "rules", &cloudwatch.insight_rule_month));
        }
        let line = |(service, what, quantity, unit, price)| Line::new(service, what, quantity, unit, price);
        lines.into_iter().map(line).collect()
    }

    fn class(&self, class: Class) -> &TableClassPrices {
        match class {
            Class::Standard => &self.prices.dynamodb.standard,
            Class::InfrequentAccess => &self.prices.dynamodb.infrequent_access,
        }
    }

    /// Units a second for the table and each index, rounded up, and at least the minimum, multiplied by hours.
    fn unit_hours(&self, mode: Mode) -> Units {
        let a_second = match mode {
            Mode::ForThePeak => self.peak() * (Decimal::ONE / self.deployment.target_utilization),
            Mode::OnDemand | Mode::Autoscaled => {
                self.usage.places() * (Decimal::ONE / (self.prices.month.seconds() * self.profile.utilization))
            }
        };
        let (least, hours) = (&self.deployment.least, self.prices.month.hours());
        let sum = |of: fn(&Units) -> Decimal| -> Decimal {
            a_second.0.iter().map(|units| of(units).ceil().max(of(least)) * hours).sum()
        };
        Units { read: sum(|units| units.read), write: sum(|units| units.write) }
    }

    /// Units a second in the busiest minutes.
    pub(super) fn peak(&self) -> UnitsByIndex {
        let steady = self.usage.steady();
        let mut peak = (self.usage.places() - steady) * self.profile.peak_to_mean;
        peak += steady;
        peak * (Decimal::ONE / self.prices.month.seconds())
    }
}

impl Line {
    fn new(service: Service, what: &'static str, quantity: Decimal, unit: &'static str, price: &Price) -> Self {
        Self { service, what, quantity, unit, usd: to_the_cent(price.of(quantity)) }
    }
}

/// Rounds to the cent, half a cent up.
pub fn to_the_cent(usd: Decimal) -> Decimal {
    let mut usd = usd.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    usd.rescale(2);
    usd
}
