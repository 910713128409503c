//! A price list of AWS, for one Region at one time.

mod price;

use std::collections::BTreeMap;

use anyhow::Result;
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
    pub region: String,
    /// The day of the oldest source. Later changes of prices may be missing.
    pub date: String,
    #[serde(rename = "hours_per_month")]
    pub month: Month,
    pub sources: BTreeMap<String, Source>,
    pub dynamodb: DynamoDb,
    pub lambda: Lambda,
    pub cognito: Cognito,
    /// A request to the gateway, of up to 512 KB with its answer.
    pub http_api_request: Price,
    /// A request to a standard queue, of up to 64 KB.
    pub sqs_request: Price,
    /// A custom event on a bus, of up to 64 KB.
    pub event: Price,
    pub cloudwatch: CloudWatch,
    /// A gigabyte in S3's standard class.
    pub s3_gb_month: Price,
    pub secret_month: Price,
    /// Data transfer to the internet.
    pub out_gb: Price,
    pub trace: Price,
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
    pub standard: TableClassPrices,
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
    pub request: Price,
    /// A second of a call with a gigabyte of memory, on Graviton.
    pub arm64_gb_second: Price,
    /// The same on x86-64.
    pub x86_64_gb_second: Price,
}

/// The prices of sign-in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cognito {
    /// A customer of the month, in a pool of this plan.
    pub lite: Price,
    pub essentials: Price,
    pub plus: Price,
    /// A token of a client with a secret.
    pub token: Price,
}

/// The prices of monitoring.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudWatch {
    /// A gigabyte of logs, written.
    pub log_gb: Price,
    pub log_storage_gb_month: Price,
    pub metric_month: Price,
    pub alarm_metric_month: Price,
    pub dashboard_month: Price,
    /// A rule of Contributor Insights for DynamoDB.
    pub insight_rule_month: Price,
}

impl PriceList {
    /// Reads a list from its text. An error names the field at fault.
    pub fn parse(text: &str) -> Result<Self> {
        read(text)
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
            ("hours_per_month: 730", "hours_per_month: 0", "hours_per_month: a month has more than 0 hours"),
            (
                "  dashboard_month: { usd: 3.00, per: 1, source: cloudwatch }\n",
                "",
                "cloudwatch: missing field `dashboard_month`",
            ),
            ("sqs_request:", "sqs_requests:", "sqs_requests: unknown field `sqs_requests`"),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = format!("{:#}", PriceList::parse(&SHIPPED.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(complaint), "{error}");
        }
    }
}
