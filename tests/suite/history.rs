//! A shop's history is exported and imported without loss, and counts where it belongs.

mod erased;
mod from_another_shop;
mod long;
mod migration;
mod nasty;
mod refused;
mod years;

use std::path::PathBuf;

use lambda::Environment;
use local::history::{Options, Outcome, Placement, Summary, export, import, json_schema};
use shop::kills::for_steps;

use crate::counts::book::Book;
use crate::invariants::breaches;
use crate::payments::schedules::world::World;
use crate::prelude::*;
use crate::workbench::assert_round_trip;
use shop::payment_script::{Script, What};

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

/// Imports everything, also orders on which the shop acts.
pub fn open() -> Options {
    Options { open: true, ..Options::default() }
}

/// The environment of the commands. The proxy's is the one that suffers faults.
pub fn environment(shop: &Shop) -> Environment {
    let shards = [("STATUS_SHARDS", 1), ("PRODUCT_SHARDS", 1)].map(|(name, otherwise)| {
        let declared = shop.template().functions.iter().find_map(|function| function.environment.get(name).cloned());
        (name.to_owned(), declared.unwrap_or_else(|| otherwise.to_string()))
    });
    shop.operator().with(shards).with([("TABLE_NAME".to_owned(), shop.table().to_owned())])
}

pub async fn exported(shop: &Shop) -> String {
    let mut out = Vec::new();
    export(&environment(shop), &mut out, |_| ()).await.expect("the table can be read");
    String::from_utf8(out).expect("JSON")
}

/// A file in the temporary directory, which is removed when it is dropped.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn with(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("till-history-{}-{name}", uuid::Uuid::new_v4()));
        std::fs::write(&path, text).expect("the file can be written");
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// The totals of an import, and for each refused line its number and the reason.
pub type Imported = (Summary, Vec<(u64, String)>);

/// Imports a file into the table of a shop that does not migrate.
pub async fn imported(shop: &Shop, file: &Temporary, options: &Options) -> Imported {
    imported_to(&environment(shop), file, options).await.expect("an import")
}

/// Exports a shop and imports the file into another one, whose export is then the same.
pub async fn copied(shop: &Shop, other: &Shop) -> Temporary {
    let file = exported(shop).await;
    let source = Temporary::with("copied.ndjson", &file);
    let (summary, refused) = imported(other, &source, &open()).await;
    assert_eq!((summary.new, refused), (file.lines().count() as u64, vec![]));
    assert!(exported(other).await == file, "the export of the import is another file");
    source
}

async fn imported_to(environment: &Environment, file: &Temporary, options: &Options) -> Result<Imported, String> {
    let mut refused = Vec::new();
    let tell = |outcome: &Outcome| {
        if let Placement::Refused(reason) = &outcome.result {
            refused.push((outcome.line, reason.clone()));
        }
        Ok(())
    };
    let summary = import(environment, std::slice::from_ref(&file.0), options, tell).await;
    refused.sort();
    let summary = summary.map_err(|error| format!("{error:#}"))?;
    Ok((summary, refused))
}

/// Every line as the schema describes it.
fn assert_valid(file: &str) {
    let schema = json_schema().expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    for line in file.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert!(validator.is_valid(&line), "{line:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_an_export_is_the_same_shop_with_the_same_counts() {
    let shop = Shop::open().await;
    let book = Book::of(&shop, 7, 20).await;
    let file = exported(&shop).await;
    assert_valid(&file);

    let other = Shop::open_counted().await;
    let source = Temporary::with("same.ndjson", &file);
    let lines = file.lines().count() as u64;
    // A check finds the same and writes nothing.
    let (checked, refused) = imported(&other, &source, &Options { check: true, ..open() }).await;
    assert_eq!((checked.new, refused), (lines, vec![]));
    assert!(other.dump().await.is_empty());

    let (summary, refused) = imported(&other, &source, &open()).await;
    assert_eq!((summary.new, summary.same, refused), (lines, 0, vec![]));
    assert!(exported(&other).await == file, "the export of the import is another file");
    other.settle().await;
    book.check(&other).await;
    assert_eq!(breaches(&other, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
    assert_round_trip(&shop).await;

    // A second import changes nothing, and costs no write unit.
    let before = other.dump().await;
    let (again, refused) = imported(&other, &source, &open()).await;
    assert_eq!((again.new, again.same, again.units.table, refused), (0, lines, 0.0, vec![]));
    assert_eq!(other.dump().await, before);
    // Only refunds that are due are told of: `open` admits those of the last hour.
    let is_told = |event: &&Value| event["source"] == "till.orders" && event["detail-type"] != "PaymentDue";
    assert_eq!(other.bus().events().iter().filter(is_told).count(), 0);
}

/// What orders may have. How far a schedule brings an order depends on its faults, too.
const PARTS: [&str; 6] = ["credits", "returns", "provider", "cancellation", "deliveredAt", "giftCards"];

#[tokio::test(flavor = "multi_thread")]
async fn payments_credits_and_returns_survive_an_export_and_an_import() {
    let world = World::open(true).await;
    let mut file = String::new();
    let lacks = |file: &str, part: &str| !file.contains(&format!("\"{part}\":"));
    // A return has most of it. After a transfer, a refund by staff may stay due since a time before the order.
    let has_most = |script: &Script| {
        let has = |what: What| script.groups.iter().flatten().any(|step| step.what == what);
        has(What::Receive { accepted: true }) && !has(What::RecordTransfer)
    };
    for script in (1..).map(Script::of).filter(has_most).take(20) {
        assert_eq!(world.run(&script).await, Vec::<String>::new(), "seed {}", script.seed);
        file = exported(world.shop()).await;
        if PARTS.iter().all(|part| !lacks(&file, part)) {
            break;
        }
    }
    assert_valid(&file);
    assert!(PARTS.iter().all(|part| !lacks(&file, part)), "no schedule reaches all of {PARTS:?}");
    let other = Shop::open().await;
    copied(world.shop(), &other).await;
    // Nothing counts in this shop.
    assert_eq!(breaches(&other, crate::invariants::BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    assert_round_trip(&other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_is_killed_anywhere_continues() {
    let shop = Shop::open().await;
    let book = Book::of(&shop, 8, 25).await;
    let file = exported(&shop).await;
    let source = Temporary::with("killed.ndjson", &file);
    let other = Shop::open_counted().await;
    let mut kills = 0;
    for round in 0..60_usize {
        let through_the_proxy = other.operator_through_the_proxy();
        let environment = environment(&other).with(through_the_proxy);
        // Some transactions are done and not answered, or conflict with others.
        for (every, fault) in [(3, Fault::CutAfter), (4, Fault::CutBefore), (5, Fault::conflict(0))] {
            if round.is_multiple_of(every) {
                other.fault_proxy().inject(commit(), fault, 1);
            }
        }
        let files = [source.0.clone()];
        if for_steps(round, import(&environment, &files, &open(), |_| Ok(()))).await.is_some() {
            break;
        }
        kills += 1;
        other.fault_proxy().heal();
    }
    other.fault_proxy().heal();
    assert!(kills > 3, "{kills} kills");
    let (summary, refused) = imported(&other, &source, &open()).await;
    assert_eq!((summary.new + summary.same, refused), (file.lines().count() as u64, vec![]));
    assert!(exported(&other).await == file, "the export of the import is another file");
    other.settle().await;
    book.check(&other).await;
    assert_eq!(breaches(&other, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_imports_at_once_write_each_record_once() {
    let shop = Shop::open().await;
    let book = Book::of(&shop, 9, 10).await;
    let file = exported(&shop).await;
    let source = Temporary::with("twice.ndjson", &file);
    let other = Shop::open_counted().await;
    let options = open();
    let (one, two) = tokio::join!(imported(&other, &source, &options), imported(&other, &source, &options));
    assert_eq!((one.1, two.1), (vec![], vec![]));
    assert_eq!(one.0.new + two.0.new, file.lines().count() as u64);
    assert!(exported(&other).await == file, "the export of the import is another file");
    other.settle().await;
    book.check(&other).await;
}

/// The bucket starts empty and allows no burst, so the units take at least their time.
#[tokio::test(flavor = "multi_thread")]
async fn an_import_consumes_no_more_units_than_it_may() {
    let shop = Shop::open().await;
    let customers = (0..20).map(|at| {
        json!({ "type": "customer", "customerId": format!("c{at}"), "username": format!("u{at}"),
            "email": format!("{at}@example.com"), "name": "Ada", "createdAt": "2020-01-01" })
    });
    let source = Temporary::with("paced.ndjson", &file(&customers.collect::<Vec<_>>()));
    let began = std::time::Instant::now();
    let paced = Options { units_per_second: Some(100.0), ..Options::default() };
    let (summary, _) = imported(&shop, &source, &paced).await;
    assert_eq!(summary.new, 20);
    // Without its last transaction, which need not have earned more than it consumed.
    let seconds = (summary.units.table - 8.0) / 100.0;
    assert!(began.elapsed().as_secs_f64() >= seconds, "{} units in {:?}", summary.units.table, began.elapsed());
    assert!(summary.units.table >= 120.0, "{}", summary.units.table);
}

/// An order with so many products, of each of which a unit is credited, and what it refers to.
pub fn credited(products: u64) -> Temporary {
    let id = |at: u64| format!("credited-{at}");
    let total = 200 * products;
    let mut records: Vec<_> = (0..products)
        .map(|at| json!({ "type": "product", "productId": id(at), "name": "P", "category": "c", "price": eur(100) }))
        .collect();
    let lines = (0..products)
        .map(|at| json!({ "productId": id(at), "name": "P", "quantity": 2, "unitPrice": eur(100) }))
        .collect::<Vec<_>>();
    let credits = (0..products).map(|at| json!({ "productId": id(at), "quantity": 1 })).collect::<Vec<_>>();
    records.extend([
        json!({ "type": "customer", "customerId": "zoe", "username": "zoe", "email": "zoe@example.com", "name": "Zoe",
            "createdAt": "2019-01-01" }),
        json!({ "type": "order", "orderId": "credited", "customerId": "zoe", "status": "DELIVERED",
            "placedAt": "2019-05-01", "lines": lines, "credits": credits, "total": eur(total),
            "card": { "amount": eur(total), "transfer": { "reference": "-", "amount": total },
                "refunds": [{ "reference": "-", "amount": total / 2 }] } }),
    ]);
    Temporary::with("credited.ndjson", &file(&records))
}

/// A file with these records.
fn file(records: &[Value]) -> String {
    let mut text = String::new();
    for record in records {
        text.push_str(&record.to_string());
        text.push('\n');
    }
    text
}
