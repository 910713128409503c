//! The generated parts of docs/cost.md, and laws of the settings that they show.

use std::fmt::Write as _;

use rust_decimal::{Decimal, dec};

use super::bill::{ALARMS_OF_EXPORTS, Bill, Service};
use super::deployment::Deployment;
use super::estimate::{Choice, Estimate, estimate};
use super::prices::{PriceList, SHIPPED};
use super::profile::{EXAMPLE, Parameter, Profile};
use super::show::{dollars, number};

const ANALYTICS: &str = include_str!("../../../stacks/analytics.yaml");

/// Settings of a deployment, and what they give up or give.
type Settings = (&'static [(&'static str, &'static str)], &'static str);

const EXPORTS: &[(&str, &str)] = &[("Analytics", "athena"), ("BackupDays", "0")];

const SETTINGS: [Settings; 8] = [
    (EXPORTS, "daily exports instead of backups that AWS Backup restores"),
    (&[("TableClass", "STANDARD_INFREQUENT_ACCESS")], "dearer in a shop whose table is small for its traffic"),
    (&[("ReconcileReadUnits", "50")], "a comparison of counts takes twice as long"),
    (&[("SystemLogLevel", "INFO")], "two more log lines for each call"),
    (&[("Analytics", "athena")], "daily exports beside the backups"),
    (&[("UserPoolTier", "ESSENTIALS")], "a trigger may put the address into access tokens"),
    (&[("Tracing", "xray")], "traces"),
    (&[("ContributorInsights", "THROTTLED_KEYS")], "the keys that are throttled most"),
];

/// How many of the settings make the bill smaller.
const SAVING: usize = 3;

fn with(parameters: &[(&str, &str)]) -> Estimate {
    let mut profile = Profile::parse(EXAMPLE).unwrap();
    let text = |value: &str| Parameter::Text(value.to_owned());
    profile.parameters.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), text(value))));
    estimated(&profile)
}

fn estimated(profile: &Profile) -> Estimate {
    let deployment = Deployment::read(&profile.parameters).unwrap();
    estimate(profile, &PriceList::parse(SHIPPED).unwrap(), &deployment).unwrap()
}

/// The output of `cargo cost` for the example.
fn bill() -> String {
    format!("```\n{}```\n", with(&[]))
}

/// The bill of the example with other settings.
fn settings() -> String {
    let before = with(&[]).bill.total;
    let mut rows = String::from("| setting | more or less | the bill | what it means |\n|---|---|---|---|\n");
    for (parameters, meaning) in SETTINGS {
        let all = parameters.iter().map(|(name, value)| format!("`{name}: {value}`"));
        let after = with(parameters).bill.total;
        let (sign, difference) = if after < before { ("-", before - after) } else { ("+", after - before) };
        let all = all.collect::<Vec<_>>().join(", ");
        writeln!(rows, "| {all} | {sign}${} | ${} | {meaning} |", dollars(difference), dollars(after)).unwrap();
    }
    rows
}

/// The example with so many orders, and customers in proportion.
fn shop(orders: u32) -> Estimate {
    let mut profile = Profile::parse(EXAMPLE).unwrap();
    profile.kept.customers = profile.kept.customers * Decimal::from(orders) / profile.orders;
    profile.orders = orders.into();
    estimated(&profile)
}

/// A month without an order, with a hundred orders a day, and with a million.
fn month() -> String {
    let mut rows = String::from("| orders | the bill | of it Cognito |\n|---|---|---|\n");
    for orders in [0, 3_000, 1_000_000] {
        let Estimate { bill, .. } = shop(orders);
        let (total, cognito) = (dollars(bill.total), dollars(bill.services[&Service::Cognito]));
        writeln!(rows, "| {} | ${total} | ${cognito} |", number(orders.into())).unwrap();
    }
    rows
}

/// The example with fewer and with more orders.
fn shops() -> String {
    let mut rows = String::from(
        "| orders a month | the bill | an order | DynamoDB | CloudWatch | Cognito | cheapest for the table |\n|---|---|---|---|---|---|---|\n",
    );
    for orders in [0, 3_000, 30_000, 300_000, 1_000_000, 10_000_000] {
        let Estimate { orders, bill, choices, .. } = shop(orders);
        let total = dollars(bill.total);
        let cents = (bill.total * Decimal::ONE_HUNDRED).checked_div(orders);
        let cents = cents.map_or(String::new(), |cents| format!("{} cents", dollars(cents)));
        let of = |service| dollars(bill.services[&service]);
        let [dynamodb, cloudwatch, cognito] = [Service::DynamoDb, Service::CloudWatch, Service::Cognito].map(of);
        let Choice { mode, class, total: least, .. } = choices.iter().find(|choice| choice.is_cheapest).unwrap();
        let cheapest = format!("{mode}, {class}: ${}", dollars(*least));
        let orders = number(orders);
        writeln!(rows, "| {orders} | ${total} | {cents} | ${dynamodb} | ${cloudwatch} | ${cognito} | {cheapest} |")
            .unwrap();
    }
    rows
}

#[test]
fn the_page_on_costs_says_what_is_computed() {
    let parts = [("bill", bill()), ("settings", settings()), ("shops", shops())];
    docs_check::check("cost.md", &parts).unwrap();
    docs_check::check("deploying.md", &[("month", month())]).unwrap();
}

#[test]
fn every_saving_setting_saves_and_exports_suffice_for_301_dollars_and_sign_in() {
    let total = |parameters: &[(&str, &str)]| with(parameters).bill.total;
    for (parameters, _) in &SETTINGS[..SAVING] {
        assert!(total(parameters) < total(&[]), "{parameters:?}");
    }
    for (parameters, _) in &SETTINGS[SAVING..] {
        assert!(total(parameters) > total(&[]), "{parameters:?}");
    }
    let bill = with(EXPORTS).bill;
    assert!(bill.total - bill.services[&Service::Cognito] <= dec!(301));
}

#[test]
fn exports_are_an_addition_to_the_bill_and_save_the_backups() {
    let [before, both, after] = [&[][..], &EXPORTS[..1], EXPORTS].map(|parameters| with(parameters).bill);
    let usd = |bill: &Bill, what: &str| {
        bill.lines.iter().find(|line| line.what == what).map_or(Decimal::ZERO, |line| line.usd)
    };
    assert!(usd(&both, "exports, at most") > Decimal::ZERO && usd(&both, "exports kept, at most") > Decimal::ZERO);
    let lines = ["exports, at most", "exports kept, at most", "alarms of exports"].map(|what| usd(&both, what));
    assert_eq!(both.total - before.total, lines.into_iter().sum());
    assert_eq!(both.total - after.total, usd(&before, "backups"));
    assert_eq!(usd(&after, "backups"), Decimal::ZERO);
}

#[test]
fn the_alarms_of_exports_are_those_of_the_template() {
    assert_eq!(ANALYTICS.matches("Type: AWS::CloudWatch::Alarm").count() as u64, ALARMS_OF_EXPORTS);
}
