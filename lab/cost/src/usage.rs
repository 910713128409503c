//! A month's usage: calls, units, bytes and messages, without prices.

mod shop;

use std::collections::BTreeMap;

use anyhow::Result;
use rust_decimal::{Decimal, dec};

use super::comparison::{Comparison, RECONCILE};
use super::deployment::Deployment;
use super::month::Month;
use super::profile::Profile;
use super::units_by_index::UnitsByIndex;

const EXPIRE: &str = "expire-orders";
const NUMBER: &str = "number-invoices";
const SETTLE: &str = "settle-payments";

/// The functions that a schedule invokes.
const STEADY: [&str; 4] = [RECONCILE, EXPIRE, NUMBER, SETTLE];

/// The metrics that functions emit in a shop with one currency, in which orders are refused for the five usual reasons: CloudWatch
/// bills a metric for the hours in which it is reported.
const METRICS: Decimal = dec!(26);

/// The metrics that index-products emits, if products are indexed for search.
const SEARCH_METRICS: Decimal = dec!(2);

/// The share of calls that Lambda traces, besides the first one of each second.
const TRACED: Decimal = dec!(0.05);

pub(super) const BYTES_PER_GB: Decimal = dec!(1000000000);

const BYTES_PER_WRITE_UNIT: Decimal = dec!(1024);

/// The compressed size of exported changes, of their size: measured for the changes of 400 random orders, in both layouts.
const COMPRESSED: Decimal = dec!(0.15);

/// A month's usage.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    pub calls: BTreeMap<String, Calls>,
    pub http_requests: Decimal,
    pub traces: Decimal,
    /// The size of the table at the end of the month.
    pub table_gb: Decimal,
    pub indexes_gb: Decimal,
    pub sqs_requests: Decimal,
    /// The size of the changes that are exported, at most: that of all write units of the table. A transaction consumes
    /// two units for what a plain write changes by one.
    pub exported_gb: Decimal,
    /// The size of all exports so far, compressed, if the table was exported since the first order that it has.
    pub exports_gb: Decimal,
    pub secrets: Decimal,
    pub events: Decimal,
    pub log_gb: Decimal,
    pub metrics: Decimal,
    /// The volume of responses of the API to the internet.
    pub out_gb: Decimal,
    pub comparison: Comparison,
}

/// The calls of a function in a month.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calls {
    pub count: Decimal,
    /// The billed duration, multiplied by the memory.
    pub gb_seconds: Decimal,
    pub units: UnitsByIndex,
}

impl Usage {
    /// The usage of this shop in a month, with this deployment.
    pub fn of(profile: &Profile, deployment: &Deployment, month: Month) -> Result<Self> {
        let of_search = if deployment.options.is_searched { SEARCH_METRICS } else { Decimal::ZERO };
        let mut usage = Self { metrics: METRICS + of_search, ..Self::default() };
        shop::add(&mut usage, profile, deployment, month)?;

        let calls: Decimal = usage.calls.values().map(|calls| calls.count).sum();
        usage.log_gb = calls * (profile.call.log_bytes + deployment.system_log_bytes) / BYTES_PER_GB;
        usage.out_gb = usage.http_requests * profile.call.answer_bytes / BYTES_PER_GB;
        if deployment.options.is_exported {
            let [table, ..] = usage.places().0;
            usage.exported_gb = table.write * BYTES_PER_WRITE_UNIT / BYTES_PER_GB;
            usage.exports_gb = usage.exported_gb * profile.kept.order_months * COMPRESSED;
        }
        if deployment.options.is_traced {
            usage.traces = calls.min(month.seconds() + calls * TRACED);
        }
        Ok(usage)
    }

    /// Units of all calls together.
    pub fn places(&self) -> UnitsByIndex {
        let mut all = UnitsByIndex::default();
        self.calls.values().for_each(|calls| all += calls.units);
        all
    }

    /// Units of work that does not depend on requests.
    pub fn steady(&self) -> UnitsByIndex {
        let mut steady = UnitsByIndex::default();
        STEADY.iter().filter_map(|name| self.calls.get(*name)).for_each(|calls| steady += calls.units);
        steady
    }

    /// The sum over all calls.
    pub fn gb_seconds(&self) -> Decimal {
        self.calls.values().map(|calls| calls.gb_seconds).sum()
    }
}
