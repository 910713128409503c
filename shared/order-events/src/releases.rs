//! This version publishes events of records that released versions wrote.
#![allow(clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_dynamo::Item;

use crate::{Draft, Record, drafts_of};

/// The kind of the event that a record makes, for the images that each version wrote.
fn kinds(entity: &str, name: &'static str, old: Option<&str>, new: Option<&str>) -> Vec<Option<&'static str>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/items").join(entity);
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let kinds = files.map(|path| {
        let text = fs::read_to_string(&path).expect("a text");
        let items: BTreeMap<String, Item> = serde_json::from_str(&text).expect("items");
        let image = |key: Option<&str>| key.map(|key| items[key].clone()).unwrap_or_default();
        let written_at = "2026-11-21T09:30:00.000Z".parse().expect("a time");
        let record = Record { name, written_at, old: image(old), new: image(new) };
        let mut drafts = drafts_of(record, 0).expect("a readable record");
        assert!(drafts.len() <= 1, "{drafts:?}");
        drafts.pop().map(|draft| match draft {
            Draft::Placed(_) => "OrderPlaced",
            Draft::Event(event) => event.detail_type(),
        })
    });
    kinds.collect()
}

#[test]
fn records_of_every_release_are_published() {
    for (entity, name, old, new, kind) in [
        ("order", "INSERT", None, Some("Order(Pending)"), "OrderPlaced"),
        ("order", "MODIFY", Some("Order(Pending)"), Some("Order(Paid)"), "OrderStatusChanged"),
        ("invoice", "MODIFY", Some("Invoice(Pending)"), Some("Invoice(Captured)"), "PaymentCaptured"),
        ("return", "INSERT", None, Some("Return(Requested)"), "ReturnRequested"),
        ("return", "MODIFY", Some("Return(Requested)"), Some("Return(Received)"), "ReturnReceived"),
        ("return", "MODIFY", Some("Return(Requested)"), Some("Return(Refused)"), "ReturnReceived"),
        ("product", "INSERT", None, Some("Product(First)"), "ProductChanged"),
        ("product", "MODIFY", Some("Product(First)"), Some("Product(Changed)"), "ProductChanged"),
        ("product", "REMOVE", Some("Product(First)"), None, "ProductRemoved"),
    ] {
        let kinds = kinds(entity, name, old, new);
        assert!(!kinds.is_empty() && kinds.iter().all(|found| *found == Some(kind)), "{entity} {name}: {kinds:?}");
    }
}
