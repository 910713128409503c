//! A price list: what AWS asks, in one Region, at one time.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use rust_decimal::Decimal;
use serde::Deserialize;

use super::month::Month;
use super::read;

/// The list that is taken unless the user names another.
pub const SHIPPED: &str = include_str!("../../prices/us-east-1-2026-11.yaml");

/// What everything costs, in US dollars, before taxes and free allowances.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// Where these prices hold.
    pub region: String,
    /// The day of the oldest source: what AWS has changed since may be missing.
    pub date: String,
    /// How long a month is.
    #[serde(rename = "hours_per_month")]
    pub month: Month,
    /// Where each price comes from, under the names that prices give as their source.
    pub sources: BTreeMap<String, Source>,
    /// The table.
    pub dynamodb: DynamoDb,
    /// The functions.
    pub lambda: Lambda,
    /// The gateway.
    pub http_api: HttpApi,
    /// The queue of orders that wait.
    pub sqs: Sqs,
    /// The bus.
    pub eventbridge: EventBridge,
    /// Logs, metrics, alarms and dashboards.
    pub cloudwatch: CloudWatch,
    /// What leaves AWS.
    pub transfer: Transfer,
}

/// Where prices come from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The address of AWS's own list, which machines read.
    pub offer: String,
    /// The address of AWS's page for people.
    pub page: String,
    /// Where the numbers in this file were read, and when.
    pub read: String,
}

/// What a table costs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamoDb {
    /// Of the standard class.
    pub standard: TableClassPrices,
    /// Of the class for infrequent access.
    pub infrequent_access: TableClassPrices,
    /// Point-in-time recovery, by the size of the table without its indexes.
    pub recovery_gb_month: Price,
    /// Backups, by the size of the table without its indexes.
    pub backup_gb_month: Price,
}

/// What depends on the table's class.
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
    /// The table and its indexes.
    pub storage_gb_month: Price,
}

/// What functions cost.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lambda {
    /// A call.
    pub request: Price,
    /// A second of a call with a gigabyte of memory, on Graviton.
    pub arm64_gb_second: Price,
    /// The same on the other processors.
    pub x86_64_gb_second: Price,
}

/// What an HTTP API costs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpApi {
    /// A request, of up to 512 KB with its answer.
    pub request: Price,
}

/// What a standard queue costs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sqs {
    /// A request, of up to 64 KB.
    pub request: Price,
}

/// What a bus costs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventBridge {
    /// An event of one's own, of up to 64 KB.
    pub event: Price,
}

/// What watching costs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudWatch {
    /// A gigabyte of logs, written.
    pub log_gb: Price,
    /// The same, kept for a month.
    pub log_storage_gb_month: Price,
    /// A metric of one's own.
    pub metric_month: Price,
    /// A metric that an alarm looks at.
    pub alarm_metric_month: Price,
    /// A dashboard.
    pub dashboard_month: Price,
}

/// What it costs that bytes leave AWS.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// To the internet.
    pub out_gb: Price,
}

/// A price for so many units, which may fall beyond so many in a month.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Stated")]
pub struct Price {
    usd: Decimal,
    per: Decimal,
    tiers: Vec<Tier>,
    source: String,
}

/// A price as a list states it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    usd: Decimal,
    per: Decimal,
    #[serde(default)]
    tiers: Vec<Tier>,
    source: String,
}

/// What `per` units cost beyond so many.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tier {
    beyond: Decimal,
    usd: Decimal,
}

impl PriceList {
    /// Reads a list from its text. An error names the field at fault.
    pub fn parse(text: &str) -> Result<Self> {
        let list: Self = read(text)?;
        list.date.parse::<jiff::civil::Date>().with_context(|| format!("date: {} is no day", list.date))?;
        Ok(list)
    }
}

impl Price {
    /// What so many units cost in a month, tier by tier, not rounded.
    pub fn of(&self, quantity: Decimal) -> Decimal {
        let (mut cost, mut from, mut usd) = (Decimal::ZERO, Decimal::ZERO, self.usd);
        for tier in self.tiers.iter().take_while(|tier| tier.beyond < quantity) {
            cost += (tier.beyond - from) * usd;
            (from, usd) = (tier.beyond, tier.usd);
        }
        (cost + (quantity - from) * usd) / self.per
    }

    /// The source's name in the list.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl TryFrom<Stated> for Price {
    type Error = String;

    fn try_from(stated: Stated) -> Result<Self, String> {
        let Stated { usd, per, tiers, source } = stated;
        if per <= Decimal::ZERO {
            return Err(format!("a price for {per} units says nothing"));
        }
        if std::iter::once(usd).chain(tiers.iter().map(|tier| tier.usd)).any(|usd| usd < Decimal::ZERO) {
            return Err("a price is negative".to_owned());
        }
        if !tiers.is_sorted_by(|one, next| one.beyond < next.beyond)
            || tiers.iter().any(|tier| tier.beyond < Decimal::ZERO)
        {
            return Err("each tier begins beyond the one before".to_owned());
        }
        Ok(Self { usd, per, tiers, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(text: &str) -> Price {
        read(text).unwrap()
    }

    fn dollars(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_are_read_as_they_stand() {
        let price = price("{ usd: 0.0000133334, per: 1, source: x }");
        assert_eq!(price.of(dollars("1000000")), dollars("13.3334"));
    }

    #[test]
    fn a_tier_is_for_what_is_beyond_it() {
        let price =
            price("{ usd: 1.00, per: 1000, source: x, tiers: [{ beyond: 2000, usd: 0.5 }, { beyond: 4000, usd: 0 }] }");
        for (quantity, cost) in [("0", "0"), ("2000", "2"), ("3000", "2.5"), ("4000", "3"), ("9000", "3")] {
            assert_eq!(price.of(dollars(quantity)), dollars(cost), "{quantity}");
        }
    }

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
