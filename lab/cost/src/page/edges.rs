//! The bill with an edge, and what other options add.

use std::fmt::Write as _;

use rust_decimal::Decimal;

use super::super::bill::{Bill, Service};
use super::super::deployment::Deployment;
use super::super::estimate::{Estimate, estimate};
use super::super::profile::Parameter;
use super::super::show::{dollars, number, percent};
use super::{FIREWALL, OPERATIONS, TEMPLATE, deployed, prices};

/// The lifetimes of a product's page and of a list, in seconds.
const LIFETIMES: [(u64, u64); 4] = [(1, 30), (10, 60), (60, 60), (60, 600)];

/// The example with these parameters.
pub(super) fn with(parameters: &[(&str, &str)]) -> Estimate {
    let (mut profile, _) = deployed();
    let text = |value: &str| Parameter::Text(value.to_owned());
    profile.parameters.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), text(value))));
    let deployment = Deployment::read(TEMPLATE, OPERATIONS, FIREWALL, &profile.parameters).unwrap();
    estimate(&profile, &prices(), &deployment).unwrap()
}

fn calls(estimate: &Estimate, function: &str) -> Decimal {
    estimate.functions.iter().find(|one| one.name == function).unwrap().calls
}

fn read_units(estimate: &Estimate) -> Decimal {
    estimate.functions.iter().map(|one| one.read_units).sum()
}

fn of(bill: &Bill, service: Service) -> Decimal {
    bill.services.get(&service).copied().unwrap_or_default()
}

/// The bill with an edge, for several lifetimes.
pub(super) fn table() -> String {
    let before = super::example();
    let mut rows = String::from(
        "| page, list | pages from the edge | lists | requests saved | read units saved | saved elsewhere | CloudFront | firewall | whole bill |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let unchanged = dollars(before.bill.total);
    writeln!(rows, "| no edge | | | | | | | | ${unchanged} |").unwrap();
    for (page, list) in LIFETIMES {
        let (page_seconds, list_seconds) = (page.to_string(), list.to_string());
        let edge = [("Edge", "cloudfront"), ("CacheSeconds", &page_seconds), ("ListCacheSeconds", &list_seconds)];
        let after = with(&edge);
        let guarded = with(&[&edge[..], &[("FirewallArn", "arn:aws:wafv2:us-east-1:1:global/webacl/x/y")]].concat());
        let share = |name| percent(Decimal::ONE - calls(&after, name) / calls(&before, name));
        let saved = |name| calls(&before, name) - calls(&after, name);
        let requests = saved("get-product") + saved("list-products");
        let edge = of(&after.bill, Service::CloudFront);
        let elsewhere = before.bill.total - (after.bill.total - edge);
        writeln!(
            rows,
            "| {page} s, {list} s | {} | {} | {} | {} | ${} | ${} | ${} | ${} |",
            share("get-product"),
            share("list-products"),
            number(requests),
            number(read_units(&before) - read_units(&after)),
            dollars(elsewhere),
            dollars(edge),
            dollars(guarded.bill.total - after.bill.total),
            dollars(guarded.bill.total),
        )
        .unwrap();
    }
    rows
}

/// What other options add to the bill of the example.
pub(super) fn options() -> String {
    let before = super::example().bill;
    let mut rows = String::from("| parameter | what | how much | USD |\n|---|---|---|---|\n");
    for (name, value) in [("Tracing", "xray"), ("ContributorInsights", "THROTTLED_KEYS")] {
        let after = with(&[(name, value)]).bill;
        for line in after.lines.iter().filter(|line| !before.lines.contains(line)) {
            let (quantity, usd) = (number(line.quantity), dollars(line.usd));
            writeln!(
                rows,
                "| `{name}: {value}` | {}, {} | {quantity} {} | {usd} |",
                line.service, line.what, line.unit
            )
            .unwrap();
        }
    }
    rows
}

#[test]
fn an_edge_saves_more_with_a_longer_life_and_adds_its_own_price() {
    let before = super::example().bill;
    let mut last = Decimal::ZERO;
    for (page, list) in LIFETIMES {
        let seconds = [page.to_string(), list.to_string()];
        let bill =
            with(&[("Edge", "cloudfront"), ("CacheSeconds", &seconds[0]), ("ListCacheSeconds", &seconds[1])]).bill;
        let saved = of(&before, Service::HttpApi) - of(&bill, Service::HttpApi);
        assert!(saved > last, "{page} {list}: {saved}");
        // Each request of a client reaches the edge, whether the edge answers it or not.
        let requests = |bill: &Bill, service| {
            let line = bill.lines.iter().find(|line| line.service == service && line.what == "requests");
            line.map_or(Decimal::ZERO, |line| line.quantity)
        };
        assert_eq!(requests(&bill, Service::CloudFront), requests(&before, Service::HttpApi));
        assert_eq!(of(&bill, Service::Transfer), Decimal::ZERO);
        last = saved;
    }
}
