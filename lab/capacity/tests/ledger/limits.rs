//! What strangers may use: the limit of each public route times the units of its worst request.

use capacity::Units;
use capacity::ledger::{self, Operation};
use capacity::markdown_tables::LARGE;
use http_api::{Limit, Scope};
use key_schema::markdown_tables::table;
use ordering::MOST_GUEST_LINES;
use sample_items::{Sample, SampleSizes};
use serde_json::Value;

/// A tenth of the default ceilings (`MaxReadUnits` and `MaxWriteUnits`) of the table and of each index.
const READ: f64 = 1_200.0;
const WRITTEN: f64 = 400.0;

/// What only somebody else can bring about, or what only the routes of customers do.
const NOT_BY_A_STRANGER: [&str; 5] = ["accepted", "answer lost", "since it was read", "settle", "refund"];

/// The function whose recorded cases a guest's function shares, with those of an order of several lines.
fn recorded_as(function: &str) -> &str {
    match function {
        "place-guest-order" => "place-order",
        "cancel-guest-order" => "cancel-order",
        "start-guest-payment" => "start-payment",
        "get-guest-order" => "get-order",
        "get-guest-invoice-page" => "get-invoice-page",
        "request-guest-return" => "request-return",
        own => own,
    }
}

/// How often a request repeats the recorded case, and the write units that it adds: an unpaid order of a guest also writes
/// what guests hold of each product and code, and keeps the guest.
fn worst(function: &str) -> (f64, f64) {
    let lines = f64::from(u8::try_from(MOST_GUEST_LINES).expect("few"));
    match function {
        "record-views" => {
            let described: Value = serde_json::from_str(local::functions::open_api()).expect("JSON");
            let products = &described["components"]["schemas"]["ViewedProducts"]["properties"]["products"];
            (products["maxItems"].as_f64().expect("a number"), 0.0)
        }
        "place-guest-order" => (1.0, 2.0 * lines + 4.0),
        "start-guest-payment" => (1.0, 2.0 * (lines + 1.0)),
        // A report without the provider's signature is refused before the table is asked.
        "receive-payment-event" => (0.0, 0.0),
        _ => (1.0, 0.0),
    }
}

fn most(units: Units) -> f64 {
    units.table.max(units.gsi1).max(units.gsi2)
}

/// For each public route: its function, its limit, and the most units read and written by one request.
fn public_routes() -> Vec<(String, Limit, f64, f64)> {
    let lines = u32::try_from(MOST_GUEST_LINES).expect("few");
    let sizes = SampleSizes { lines, listed: 100, cells: SampleSizes::TYPICAL.cells, ..LARGE };
    let sample = Sample::new(sizes).expect("a sample");
    let public = local::functions::routes().filter(|route| route.route.scope == Scope::Public);
    let each = public.map(|route| {
        let name = route.function.name();
        let cases: Vec<&Operation> = ledger::operations()
            .filter(|case| case.function == name || case.function == recorded_as(&name))
            .filter(|case| NOT_BY_A_STRANGER.iter().all(|what| !case.case.contains(what)))
            .collect();
        assert!(!cases.is_empty(), "{name} is not in the ledger");
        let (times, more) = worst(&name);
        let charges = || cases.iter().map(|case| case.charge(&sample));
        let read = charges().map(|charge| most(charge.read)).fold(0.0, f64::max) * times;
        let written = charges().map(|charge| most(charge.write)).fold(0.0, f64::max) * times + more;
        (name, shop::limit(route.route), read, written)
    });
    let mut all: Vec<_> = each.collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

#[test]
fn strangers_cannot_use_more_than_a_tenth_of_the_default_ceilings_by_any_route() {
    let mut rows = Vec::new();
    let mut above = Vec::new();
    for (name, Limit { rate, .. }, read, written) in public_routes() {
        let (reads, writes) = (f64::from(rate) * read, f64::from(rate) * written);
        let row = [format!("`{name}`"), rate.to_string(), read.to_string(), written.to_string()];
        rows.push([row.as_slice(), &[reads.to_string(), writes.to_string()]].concat());
        if reads > READ || writes > WRITTEN {
            above.push(format!("{name}: {reads} read units and {writes} write units a second"));
        }
    }
    assert!(above.is_empty(), "{above:#?}");
    let head = ["function", "limit, a second", "read", "written", "read a second", "written a second"];
    docs_check::check("capacity.md", &[("limits", table(&head, rows.into_iter()))]).expect("docs/capacity.md");
}
