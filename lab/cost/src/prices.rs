//! A price list of AWS, for one Region at one time.

mod price;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::month::Month;
use super::read;
pub use price::Price;

/// The built-in price list.
pub const SHIPPED: &str = include_str!("../prices/us-east-1-2026-11.yaml");

/// Prices in US dollars, before taxes and free allowances.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// The Region.
    pub region: String,
    /// The day of the oldest source. Later changes of prices may be missing.
    pub date: String,
    /// The hours of a month.
    #[serde(rename = "hours_per_month")]
    pub month: Month,
    /// The sources of the prices, by name.
    pub sources: BTreeMap<String, Source>,
    /// The table.
    pub dynamodb: DynamoDb,
    /// The functions.
    pub lambda: Lambda,
    /// The gateway.
    pub http_api: HttpApi,
    /// The queues of orders that wait and of payments that are due.
    pub sqs: Sqs,
    /// The bus.
    pub eventbridge: EventBridge,
    /// Logs, metrics, alarms and dashboards.
    pub cloudwatch: CloudWatch,
    /// The bucket of the exports.
    pub s3: S3,
    /// The secret with the payment provider's keys.
    pub secrets_manager: SecretsManager,
    /// Data transfer out of AWS.
    pub transfer: Transfer,
    /// Traces.
    pub xray: XRay,
}

/// A source of prices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The address of AWS's machine-readable price list.
    pub offer: String,
    /// The address of AWS's page for people.
    pub page: String,
    /// The place and date where the numbers were read.
    pub read: String,
}

/// The prices of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamoDb {
    /// The prices of the standard class.
    pub standard: TableClassPrices,
    /// The prices of the infrequent-access class.
    pub infrequent_access: TableClassPrices,
    /// Point-in-time recovery, by the size of the table without its indexes.
    pub recovery_gb_month: Price,
    /// Backups, by the size of the table without its indexes.
    pub backup_gb_month: Price,
    /// An export of the whole table, by its size without indexes; or of a period, by the size of the changes in it.
    pub export_gb: Price,
}

/// Prices that depend on the table class.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableClassPrices {
    /// A write unit, on demand.
    pub write_request: Price,
    /// A read unit, on demand.
    pub read_request: Price,
    /// A write unit a second, provisioned for an hour.
    pub write_unit_hour: Price,
    /// A read unit a second, provisioned for an hour.
    pub read_unit_hour: Price,
    /// Storage of the table and its indexes.
    pub storage_gb_month: Price,
}

/// The prices of functions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lambda {
    /// A call.
    pub request: Price,
    /// A second of a call with a gigabyte of memory, on Graviton.
    pub arm64_gb_second: Price,
    /// The same on x86-64.
    pub x86_64_gb_second: Price,
}

/// The prices of an HTTP API.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpApi {
    /// A request, of up to 512 KB with its answer.
    pub request: Price,
}

/// The prices of a standard queue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sqs {
    /// A request, of up to 64 KB.
    pub request: Price,
}

/// The prices of a bus.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventBridge {
    /// A custom event, of up to 64 KB.
    pub event: Price,
}

/// The prices of monitoring.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudWatch {
    /// A gigabyte of logs, written.
    pub log_gb: Price,
    /// The same, kept for a month.
    pub log_storage_gb_month: Price,
    /// A custom metric.
    pub metric_month: Price,
    /// A metric of an alarm.
    pub alarm_metric_month: Price,
    /// A dashboard.
    pub dashboard_month: Price,
    /// A rule of Contributor Insights for DynamoDB.
    pub insight_rule_month: Price,
}

/// The prices of objects.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3 {
    /// A gigabyte in the standard class.
    pub storage_gb_month: Price,
}

/// The prices of secrets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretsManager {
    /// A secret, kept for a month.
    pub secret_month: Price,
}

/// The prices of data transfer out of AWS.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// To the internet.
    pub out_gb: Price,
}

/// The prices of traces.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XRay {
    /// A recorded trace.
    pub trace: Price,
}

impl PriceList {
    /// Reads a list from its text. An error names the field at fault.
    pub fn parse(text: &str) -> Result<Self> {
        let list: Self = read(text)?;
        list.date.parse::<jiff::civil::Date>().with_context(|| format!("date: {} is no day", list.date))?;
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_that_is_shipped_has_a_source_and_every_source_a_price() {
        let list = PriceList::parse(SHIPPED).unwrap();
        let cited: std::collections::BTreeSet<&str> =
            SHIPPED.split("source: ").skip(1).filter_map(|rest| rest.split([' ', ',', '}', '\n']).next()).collect();
        assert_eq!(cited, list.sources.keys().map(String::as_str).collect());
        for (name, source) in &list.sources {
            for address in [&source.offer, &source.page] {
                assert!(address.starts_with("https://"), "{name}: {address}");
            }
            assert!(!source.read.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_list_that_is_wrong_is_told_where() {
        for (from, to, complaint) in [
            (
                "write_unit_hour: { usd: 0.00065",
                "write_unit_hour: { usd: -1",
                "dynamodb.standard.write_unit_hour: a price is negative",
            ),
            ("date: 2026-09-06", "date: some day", "date: some day is no day"),
            ("hours_per_month: 730", "hours_per_month: 0", "hours_per_month: a month has more than 0 hours"),
            (
                "  dashboard_month: { usd: 3.00, per: 1, source: cloudwatch }\n",
                "",
                "cloudwatch: missing field `dashboard_month`",
            ),
            ("sqs:\n  request:", "sqs:\n  requests:", "sqs.requests: unknown field `requests`, expected `request`"),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = format!("{:#}", PriceList::parse(&SHIPPED.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(complaint), "{error}");
        }
    }
}
