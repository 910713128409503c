//! Records that earlier releases wrote are published by this one.
#![allow(clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_dynamo::Item;

use crate::{Draft, Record, draft_of};

/// The kind of the event that a record is published as, with images of the fixtures of each release.
fn kinds(entity: &str, name: &'static str, old: Option<&str>, new: Option<&str>) -> Vec<&'static str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/items").join(entity);
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let kinds = files.map(|path| {
        let text = fs::read_to_string(&path).expect("a text");
        let items: BTreeMap<String, Item> = serde_json::from_str(&text).expect("items");
        let image = |key: Option<&str>| key.map(|key| items[key].clone()).unwrap_or_default();
        let written_at = "2026-11-21T09:30:00.000Z".parse().expect("a time");
        match draft_of(Record { name, written_at, old: image(old), new: image(new) }).expect("it can be read") {
            Some(Draft::Placed(_)) => "OrderPlaced",
            Some(Draft::Event(event)) => event.detail_type(),
            None => "nothing",
        }
    });
    kinds.collect()
}

#[test]
fn records_of_every_release_are_published() {
    for (entity, name, old, new, kind) in [
        ("order", "INSERT", None, Some("Order(Pending)"), "OrderPlaced"),
        ("order", "MODIFY", Some("Order(Pending)"), Some("Order(Paid)"), "OrderStatusChanged"),
        ("invoice", "MODIFY", Some("Invoice(Authorized)"), Some("Invoice(Captured)"), "PaymentCaptured"),
        ("product", "INSERT", None, Some("Product(First)"), "ProductChanged"),
        ("product", "MODIFY", Some("Product(First)"), Some("Product(Changed)"), "ProductChanged"),
        ("product", "REMOVE", Some("Product(First)"), None, "ProductRemoved"),
    ] {
        let kinds = kinds(entity, name, old, new);
        assert!(!kinds.is_empty() && kinds.iter().all(|known| *known == kind), "{entity} {name}: {kinds:?}");
    }
}
