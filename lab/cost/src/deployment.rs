//! The billed settings of a deployment.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use devstack::Template;
use devstack::intrinsic::Scope;
use rust_decimal::{Decimal, dec};
use yaml_serde::{Mapping, Value as Yaml};

use super::month::{SECONDS_PER_DAY, SECONDS_PER_HOUR};
use super::profile::Parameter;
use super::units_by_index::Units;

const TEMPLATE: &str = include_str!("../../../template.yaml");
const OPERATIONS: &str = include_str!("../../../stacks/operations.yaml");

/// Lambda's own default.
const DEFAULT_MEMORY: u64 = 128;

const MB_PER_GB: Decimal = dec!(1024);

/// The nested stacks to which functions refer: the tables and the queues of orders, and the roles.
const NESTED: [(&str, &str); 2] = [
    ("stacks/state.yaml", include_str!("../../../stacks/state.yaml")),
    ("stacks/roles.yaml", include_str!("../../../stacks/roles.yaml")),
];

/// The two lines that Lambda writes for a call at the level INFO: `platform.start` of 141 bytes and `platform.report` of 235,
/// with the 26 bytes that CloudWatch adds to each.
const SYSTEM_LOG_BYTES: Decimal = dec!(428);

/// The billed settings of `template.yaml` and `stacks/operations.yaml`.
#[derive(Debug, Clone)]
pub struct Deployment {
    pub functions: BTreeMap<String, Function>,
    /// Whether the billing mode is `PAY_PER_REQUEST`.
    pub is_on_demand: bool,
    pub is_standard: bool,
    pub is_arm: bool,
    /// The minimum capacity of the table and of each index, if provisioned.
    pub least: Units,
    pub target_utilization: Decimal,
    pub backup_days: Decimal,
    /// The days from one backup to the next, or `None` for a month.
    pub days_between_backups: Option<Decimal>,
    /// The bytes of Lambda's own log lines for a call that succeeds.
    pub system_log_bytes: Decimal,
    pub log_retention_days: Decimal,
    pub reconcile_read_units: Decimal,
    pub status_shards: u8,
    pub product_shards: u8,
    pub view_shards: u32,
    /// The metrics of alarms. Each is billed.
    pub alarm_metrics: u64,
    pub dashboards: u64,
    /// What is off by default.
    pub options: Options,
    /// The number of autoscaled capacities, if the table is provisioned.
    pub scaling_policies: u64,
    /// The plan of the stack's user pool, if it has one.
    pub user_pool: Option<Plan>,
}

/// A feature plan of Cognito.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    Lite,
    Essentials,
    Plus,
}

/// What is off by default.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct Options {
    pub is_traced: bool,
    pub records_throttled_keys: bool,
    pub is_exported: bool,
    /// Whether products are indexed for search. The cluster itself is not in the bill.
    pub is_searched: bool,
}

/// The billed settings of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub memory_mb: u64,
    pub has_route: bool,
    /// The batching window, if the function consumes the stream.
    pub batching_window_seconds: Option<u64>,
    pub timeout_seconds: u64,
    /// The seconds from one invocation to the next, if a schedule invokes it.
    pub interval_seconds: Option<Decimal>,
}

impl Function {
    /// The memory in GB, as Lambda bills it.
    pub fn memory_gb(&self) -> Decimal {
        Decimal::from(self.memory_mb) / MB_PER_GB
    }
}

impl Deployment {
    /// Reads the templates, with these parameters.
    pub fn read(parameters: &BTreeMap<String, Parameter>) -> Result<Self> {
        let mut document: Yaml = yaml_serde::from_str(TEMPLATE).context("template.yaml")?;
        for (name, value) in parameters {
            set(&mut document, name, value).with_context(|| format!("parameters.{name}"))?;
        }
        let nested = NESTED.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        let parameters = BTreeMap::from([("TableIs".to_owned(), "created".to_owned())]);
        let defaults = devstack::Deployment { nested, parameters, ..devstack::Deployment::default() };
        let scope = Scope::new(&document, &defaults);
        let parameter = |name: &str| -> Result<String> {
            let declared = document.get("Parameters").and_then(|all| all.get(name));
            let default = declared.with_context(|| format!("template.yaml has no parameter {name}"))?;
            scope.required_text(default, "Default").with_context(|| name.to_owned())
        };
        let number = |name: &str| -> Result<Decimal> {
            let text = parameter(name)?;
            text.parse().with_context(|| format!("parameters.{name}: {text} is no number"))
        };

        let operations: Yaml = yaml_serde::from_str(OPERATIONS).context("stacks/operations.yaml")?;
        let operations = resources(&operations)?;
        let is_searched = !parameter("SearchUrl")?.is_empty();
        let exists = |alarm: &&Yaml| is_searched || alarm.get("Condition").and_then(Yaml::as_str) != Some("HasSearch");
        Ok(Self {
            functions: functions(&Template::parse_for(TEMPLATE, &defaults)?, &scope, &document)?,
            is_on_demand: parameter("BillingMode")? == "PAY_PER_REQUEST",
            is_standard: parameter("TableClass")? == "STANDARD",
            is_arm: parameter("Architecture")? == "arm64",
            least: Units { read: number("MinReadUnits")?, write: number("MinWriteUnits")? },
            target_utilization: number("TargetUtilization")? / Decimal::ONE_HUNDRED,
            backup_days: number("BackupDays")?,
            days_between_backups: match parameter("BackupSchedule")?.as_str() {
                "daily" => Some(dec!(1)),
                "weekly" => Some(dec!(7)),
                "monthly" => None,
                other => bail!("how often a backup is {other} is not known"),
            },
            system_log_bytes: if parameter("SystemLogLevel")? == "WARN" { Decimal::ZERO } else { SYSTEM_LOG_BYTES },
            log_retention_days: number("LogRetentionDays")?,
            reconcile_read_units: number("ReconcileReadUnits")?,
            status_shards: number("StatusShards")?.try_into().context("parameters.StatusShards")?,
            product_shards: number("ProductShards")?.try_into().context("parameters.ProductShards")?,
            view_shards: number("ViewShards")?.try_into().context("parameters.ViewShards")?,
            alarm_metrics: of_type(operations, "AWS::CloudWatch::Alarm").filter(exists).map(metrics).sum(),
            options: Options {
                is_traced: parameter("Tracing")? != "none",
                records_throttled_keys: parameter("ContributorInsights")? != "none",
                is_exported: parameter("Analytics")? != "none",
                is_searched,
            },
            dashboards: count(operations, "AWS::CloudWatch::Dashboard"),
            scaling_policies: count(operations, "AWS::ApplicationAutoScaling::ScalingPolicy"),
            user_pool: match (parameter("TokenIssuer")?.is_empty(), parameter("UserPoolTier")?.as_str()) {
                (false, _) => None,
                (true, "LITE") => Some(Plan::Lite),
                (true, "ESSENTIALS") => Some(Plan::Essentials),
                (true, "PLUS") => Some(Plan::Plus),
                (true, other) => bail!("what the plan {other} costs is not known"),
            },
        })
    }

    pub fn function(&self, name: &str) -> Result<&Function> {
        self.functions.get(name).with_context(|| format!("template.yaml has no function {name}"))
    }
}

/// Overrides the default of a parameter.
fn set(document: &mut Yaml, name: &str, value: &Parameter) -> Result<()> {
    let Some(declared) = document.get_mut("Parameters").and_then(|all| all.get_mut(name)) else {
        bail!("template.yaml has no such parameter");
    };
    let value = value.text();
    if let Some(allowed) = declared.get("AllowedValues").and_then(Yaml::as_sequence) {
        let allowed: Vec<String> = allowed.iter().map(text).collect();
        ensure!(allowed.contains(&value), "{value} is none of {}", allowed.join(", "));
    }
    for (bound, is_beyond) in [("MinValue", Ordering::Less), ("MaxValue", Ordering::Greater)] {
        if let Some(bound) = declared.get(bound).and_then(Yaml::as_u64) {
            let number: Decimal = value.parse().with_context(|| format!("{value} is no number"))?;
            ensure!(number.cmp(&bound.into()) != is_beyond, "{value} is beyond {bound}");
        }
    }
    declared["Default"] = Yaml::String(value);
    Ok(())
}

fn text(value: &Yaml) -> String {
    value.as_u64().map(|number| number.to_string()).or_else(|| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn functions(template: &Template, scope: &Scope, document: &Yaml) -> Result<BTreeMap<String, Function>> {
    let globals = document.get("Globals").and_then(|globals| globals.get("Function")).unwrap_or(&Yaml::Null);
    let default = scope.number_or(globals, "MemorySize", DEFAULT_MEMORY)?;
    let resources = resources(document)?;
    let functions = template.functions.iter().map(|function| {
        let id = &function.logical_id;
        let properties = resources.get(id).and_then(|resource| resource.get("Properties")).unwrap_or(&Yaml::Null);
        let source = template.stream_sources.iter().find(|source| source.function == *id);
        let read = Function {
            memory_mb: scope.number_or(properties, "MemorySize", default).with_context(|| id.clone())?,
            has_route: template.routes.iter().any(|route| route.function == *id),
            batching_window_seconds: source.map(|source| source.batching_window_seconds),
            timeout_seconds: function.timeout_seconds,
            interval_seconds: interval(properties).with_context(|| id.clone())?,
        };
        Ok((function.handler.clone(), read))
    });
    functions.collect()
}

/// The seconds from one run of a function's own schedule to the next.
fn interval(properties: &Yaml) -> Result<Option<Decimal>> {
    let events = properties.get("Events").and_then(Yaml::as_mapping).into_iter().flat_map(Mapping::values);
    let scheduled = |event: &&Yaml| event.get("Type").and_then(Yaml::as_str) == Some("Schedule");
    let mut expressions = events.filter(scheduled).map(|event| event.get("Properties")?.get("Schedule")?.as_str());
    expressions.next().map(|text| rate(text.context("a schedule without a Schedule")?)).transpose()
}

/// The seconds of `rate(15 minutes)`.
fn rate(expression: &str) -> Result<Decimal> {
    let fields = expression.strip_prefix("rate(").and_then(|fields| fields.strip_suffix(')')?.split_once(' '));
    let (count, unit) = fields.with_context(|| format!("{expression} is no rate"))?;
    let seconds = match unit.trim_end_matches('s') {
        "minute" => dec!(60),
        "hour" => SECONDS_PER_HOUR,
        "day" => SECONDS_PER_DAY,
        _ => bail!("{expression} is no rate in minutes, hours or days"),
    };
    Ok(count.parse::<Decimal>()? * seconds)
}

fn resources(document: &Yaml) -> Result<&Mapping> {
    document.get("Resources").and_then(Yaml::as_mapping).context("Resources is missing")
}

fn of_type<'a>(resources: &'a Mapping, kind: &'a str) -> impl Iterator<Item = &'a Yaml> {
    resources.values().filter(move |resource| resource.get("Type").and_then(Yaml::as_str) == Some(kind))
}

fn count(resources: &Mapping, kind: &str) -> u64 {
    of_type(resources, kind).map(|_| 1).sum()
}

/// The number of an alarm's metrics: its own metric, or those of its expressions.
fn metrics(alarm: &Yaml) -> u64 {
    let queries = alarm.get("Properties").and_then(|properties| properties.get("Metrics")).and_then(Yaml::as_sequence);
    queries.map_or(1, |queries| queries.iter().filter(|query| query.get("MetricStat").is_some()).map(|_| 1).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployed(parameters: &str) -> Result<Deployment> {
        Deployment::read(&yaml_serde::from_str(parameters).unwrap())
    }

    #[test]
    fn the_templates_say_what_there_is_to_pay() {
        let deployment = deployed("{}").unwrap();
        assert!(deployment.is_on_demand && deployment.is_standard && deployment.is_arm);
        assert_eq!((deployment.alarm_metrics, deployment.dashboards, deployment.scaling_policies), (76, 1, 6));
        let function = |name: &str| deployment.functions[name].clone();
        assert_eq!(
            function("get-product"),
            Function {
                memory_mb: 256,
                has_route: true,
                batching_window_seconds: None,
                timeout_seconds: 15,
                interval_seconds: None,
            }
        );
        assert_eq!(function("count-orders").batching_window_seconds, Some(5));
        assert!(!function("drain-writes").has_route);
        assert_eq!(function("reconcile-counts").interval_seconds, Some(dec!(900)));
    }

    #[test]
    fn a_typical_sample_has_the_shards_of_the_template() {
        use sample_items::SampleSizes;
        let Deployment { status_shards, product_shards, view_shards, .. } = deployed("{}").unwrap();
        let SampleSizes { status_shards: status, product_shards: product, view_shards: views, .. } =
            SampleSizes::TYPICAL;
        assert_eq!((status, product, views), (status_shards, product_shards, view_shards));
    }

    #[test]
    fn a_parameter_has_the_value_that_it_is_deployed_with() {
        let deployment = deployed("{ BillingMode: PROVISIONED, BackupDays: 7, BackupSchedule: monthly }").unwrap();
        assert!(!deployment.is_on_demand);
        assert_eq!((deployment.backup_days, deployment.days_between_backups), (dec!(7), None));
    }

    #[test]
    fn a_parameter_that_there_is_not_is_refused_by_name() {
        for (parameters, complaint) in [
            ("{ BillingMod: PROVISIONED }", "parameters.BillingMod: template.yaml has no such parameter"),
            ("{ TableClass: CHEAP }", "parameters.TableClass: CHEAP is none of STANDARD, STANDARD_INFREQUENT_ACCESS"),
            ("{ BackupDays: some }", "parameters.BackupDays: some is no number"),
            ("{ TargetUtilization: 0 }", "parameters.TargetUtilization: 0 is beyond 20"),
            ("{ TargetUtilization: 91 }", "parameters.TargetUtilization: 91 is beyond 90"),
        ] {
            let error = format!("{:#}", deployed(parameters).unwrap_err());
            assert!(error.starts_with(complaint), "{error}");
        }
    }
}
