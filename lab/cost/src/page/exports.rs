//! The bill with daily exports, and what a query over them costs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rust_decimal::Decimal;

use super::super::bill::{ALARMS_OF_EXPORTS, Bill, Line, to_the_cent};
use super::super::show::{dollars, number};
use super::edges::with;
use super::{example, prices};

const ANALYTICS: &str = include_str!("../../../../analytics.yaml");

/// The months for which the exports of the example are kept, in the tables.
const MONTHS: [u64; 4] = [1, 6, 12, 24];

/// The example's bills as it is deployed, with exports beside the backups, and with exports instead of them.
fn bills() -> [Bill; 3] {
    let exports = ("Analytics", "athena");
    [example().bill, with(&[exports]).bill, with(&[exports, ("BackupDays", "0")]).bill]
}

fn find<'a>(bill: &'a Bill, what: &str) -> Option<&'a Line> {
    bill.lines.iter().find(|line| line.what == what)
}

/// The lines that exports change.
pub(super) fn table() -> String {
    let bills = bills();
    let changed = bills[2].lines.iter().filter(|line| !bills[0].lines.contains(line));
    let mut rows = String::from("| | backups | exports and backups | exports |\n|---|---|---|---|\n");
    for Line { service, what, .. } in changed {
        write!(rows, "| {service}, {what} |").unwrap();
        for bill in &bills {
            let cell = find(bill, what).map_or_else(String::new, |line| {
                format!(" {} {}, ${}", number(line.quantity), line.unit, dollars(line.usd))
            });
            write!(rows, "{cell} |").unwrap();
        }
        rows.push('\n');
    }
    let [before, both, after] = bills.map(|bill| dollars(bill.total));
    writeln!(rows, "| **whole bill** | **${before}** | **${both}** | **${after}** |").unwrap();
    rows
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../analytics")
}

/// How often a text's views read the exports. Athena computes a view once for each place that names it.
fn reads(text: &str) -> u64 {
    let code = text.lines().filter_map(|line| line.split("--").next()).flat_map(str::split_whitespace);
    let words: Vec<_> = code.map(|word| word.trim_end_matches(')')).collect();
    let named = words.windows(2).filter(|pair| ["FROM", "JOIN"].contains(&pair[0])).map(|pair| pair[1]);
    named.map(|name| if name == "export_lines" { 1 } else { view(name).map_or(0, |text| reads(&text)) }).sum()
}

fn view(name: &str) -> Option<String> {
    let places = ["athena", "views"].map(|place| folder().join(place).join(format!("{name}.sql")));
    places.iter().find(|path| path.exists()).map(|path| text(path))
}

/// How often each query reads the exports, by name.
fn queries() -> Vec<(String, u64)> {
    let files = fs::read_dir(folder().join("queries")).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<_> = files.collect();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), reads(&text(path)))).collect()
}

/// What one run of each query costs, after some months of exports.
pub(super) fn of_queries() -> String {
    let bill = with(&[("Analytics", "athena")]);
    let (kept, months) =
        (find(&bill.bill, "exports kept, at most").unwrap().quantity, super::deployed().0.kept.order_months);
    let sizes = MONTHS.map(|of| kept * Decimal::from(of) / months);
    let heads = MONTHS.map(|of| format!("{of} months")).join(" | ").replace("1 months |", "1 month |");
    let mut rows = format!("| query | reads the exports | {heads} |\n|---|---|{}\n", "---|".repeat(MONTHS.len()));
    let at_most = sizes.map(|gb| format!("{} GB", number(gb))).join(" | ");
    writeln!(rows, "| exports, at most | | {at_most} |").unwrap();
    for (name, times) in queries() {
        let costs =
            sizes.map(|gb| format!("${}", dollars(to_the_cent(prices().athena.read_gb.of(gb * Decimal::from(times))))));
        writeln!(rows, "| `{name}` | {times} times | {} |", costs.join(" | ")).unwrap();
    }
    rows
}

#[test]
fn exports_are_an_addition_to_the_bill_and_save_the_backups() {
    let [before, both, after] = bills();
    let line = |bill: &Bill, what| find(bill, what).map_or(Decimal::ZERO, |line| line.usd);
    assert!(line(&both, "exports, at most") > Decimal::ZERO && line(&both, "exports kept, at most") > Decimal::ZERO);
    let added: Decimal = both.total - before.total;
    let lines = ["exports, at most", "exports kept, at most", "alarms of exports"].map(|what| line(&both, what));
    assert_eq!(added, lines.into_iter().sum());
    assert_eq!(both.total - after.total, line(&before, "backups"));
    assert_eq!(line(&after, "backups"), Decimal::ZERO);
}

#[test]
fn the_alarms_of_exports_are_those_of_the_template() {
    assert_eq!(ANALYTICS.matches("Type: AWS::CloudWatch::Alarm").count() as u64, ALARMS_OF_EXPORTS);
}

#[test]
fn a_query_reads_the_exports_for_each_view_that_it_names() {
    assert_eq!(reads("SELECT 1 FROM items JOIN (SELECT 1 FROM items) ON true -- FROM items"), 2);
    assert!(queries().iter().all(|(_, times)| *times > 0) && queries().len() == 5);
}
