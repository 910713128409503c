//! This version counts records that released versions wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use key_schema::value::Timestamp;
use serde_dynamo::Item;

use crate::Change;

/// The items of an entity as each version wrote them, each with the name of the version's file.
fn fixtures(kind: &str) -> Vec<(String, BTreeMap<String, Item>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/items").join(kind);
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let read = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).expect("a text");
        (path.display().to_string(), serde_json::from_str(&text).expect("items"))
    };
    files.map(read).collect()
}

#[test]
fn records_of_every_release_are_counted() {
    // The time in the fixtures.
    let placed_at: Timestamp = "2026-11-21T09:30:00.000Z".parse().expect("a time");
    let read = |name, old: &Item, new: &Item| Change::read(name, placed_at, old.clone(), new.clone());
    let orders = fixtures("order");
    assert!(!orders.is_empty());
    for (release, items) in orders {
        let [pending, paid, cancelled] =
            ["Pending", "Paid", "Cancelled"].map(|status| &items[&format!("Order({status})")]);
        let placed = read("INSERT", &Item::default(), pending).expect(&release);
        assert!(matches!(placed, Change::Placed(_)), "{release}: {placed:?}");
        assert!(matches!(read("MODIFY", pending, paid).expect(&release), Change::Moved(..)), "{release}");
        let moved = read("MODIFY", pending, &items["Order(Returned)"]).expect(&release);
        assert!(matches!(&moved, Change::Moved(order, _) if !order.credits.is_empty()), "{release}: {moved:?}");
        let cancelled = read("MODIFY", paid, cancelled).expect(&release);
        assert!(cancelled.called_off().is_some(), "{release}: {cancelled:?}");
    }
    for (release, items) in fixtures("orderItem") {
        let line = read("INSERT", &Item::default(), &items["OrderItem"]).expect(&release);
        assert!(matches!(line, Change::Line(_)), "{release}: {line:?}");
    }
}
