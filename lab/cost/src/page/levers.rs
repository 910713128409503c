//! The settings that make the example's bill smaller, one by one and together.

use std::fmt::Write as _;

use rust_decimal::{Decimal, dec};

use super::super::show::dollars;
use super::edges::with;

/// A setting: its parameters and what it gives up.
type Lever = (&'static [(&'static str, &'static str)], &'static str);

/// The bill before any lever: all of Lambda's own log lines, and weekly backups for a quarter of a year.
const BEFORE: &[(&str, &str)] = &[("SystemLogLevel", "INFO")];

const LEVERS: [Lever; 4] = [
    (
        &[("SystemLogLevel", "WARN")],
        "the start and the report of each call that succeeds; CloudWatch has the metrics of all",
    ),
    (
        &[("Analytics", "athena"), ("BackupDays", "0")],
        "copies that AWS Backup restores; point-in-time recovery covers 35 days, and the exports contain every change",
    ),
    (
        &[("TableClass", "STANDARD_INFREQUENT_ACCESS")],
        "nothing; it costs more in a shop whose table is small for its traffic",
    ),
    (&[("ReconcileReadUnits", "50")], "a comparison of counts takes twice as long"),
];

/// The levers that the bill with all of them has. With the others it would be smaller still, but they are a choice.
const PULLED: usize = 2;

fn total(levers: &[Lever]) -> Decimal {
    let parameters: Vec<_> =
        BEFORE.iter().chain(levers.iter().flat_map(|(parameters, _)| *parameters)).copied().collect();
    with(&parameters).bill.total
}

fn text(parameters: &[(&str, &str)]) -> String {
    parameters.iter().map(|(name, value)| format!("`{name}: {value}`")).collect::<Vec<_>>().join(", ")
}

/// Each lever by itself, and some together.
pub(super) fn table() -> String {
    let before = total(&[]);
    let mut rows = String::from("| setting | saves | the bill | what it gives up |\n|---|---|---|---|\n");
    writeln!(rows, "| {} | | ${} | |", text(BEFORE), dollars(before)).unwrap();
    for lever in &LEVERS {
        let after = total(std::slice::from_ref(lever));
        let (parameters, price) = lever;
        writeln!(rows, "| {} | ${} | ${} | {price} |", text(parameters), dollars(before - after), dollars(after))
            .unwrap();
    }
    for (what, levers) in [("the first two", &LEVERS[..PULLED]), ("all", &LEVERS[..])] {
        let after = total(levers);
        writeln!(rows, "| **{what}** | **${}** | **${}** | |", dollars(before - after), dollars(after)).unwrap();
    }
    rows
}

#[test]
fn every_lever_saves_and_two_of_them_suffice_for_300_dollars() {
    for lever in LEVERS {
        assert!(total(&[lever]) < total(&[]), "{:?}", lever.0);
    }
    assert!(total(&LEVERS[..PULLED]) <= dec!(300));
}
