//! Reads the items of this release with the last release's code. `.ci/last-release` builds and runs it.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use key_schema::entity::{
    Cart, Customer, CustomerStats, DayTotals, Discount, EmailClaim, Entity as _, GiftCard, GiftCardEntry, Invoice,
    Order, OrderFlag, OrderItem, Product, ProductStats, QueuedOrder, Reconciliation, Stock, StockCell,
    StreamCheckpoint, UsernameClaim, ViewShard,
};
use key_schema::layout::{InOrder, InProduct, InStock, ProfileOrOrder};
use serde::de::DeserializeOwned;
use serde_dynamo::{AttributeValue, Item, from_item};

/// Items that the last release cannot read. Nothing writes the status PACKING until staff ask for it: decision 233, and
/// docs/operating.md say when they may.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("discount", "Discount(Fixed)"),
    ("discount", "Discount(OfCategory)"),
    ("discount", "Discount(Revoked)"),
    ("order", "Order(Packing)"),
    ("order", "PackingOrder"),
];

fn read<T: DeserializeOwned>(item: &Item) -> Result<(), String> {
    from_item::<_, T>(item.clone()).map(drop).map_err(|error| error.to_string())
}

fn is_in_order(item: &Item) -> bool {
    matches!(item.get("PK"), Some(AttributeValue::S(key)) if key.starts_with("o#"))
}

/// Reads the item as its entity, and as an item of each collection that may contain it. The last release skips items of
/// unknown entities.
fn read_as(entity: &str, item: &Item) -> Result<(), String> {
    match entity {
        Customer::TYPE => read::<Customer>(item).and_then(|()| read::<ProfileOrOrder>(item)),
        CustomerStats::TYPE => read::<CustomerStats>(item),
        Cart::TYPE => read::<Cart>(item),
        EmailClaim::TYPE => read::<EmailClaim>(item),
        UsernameClaim::TYPE => read::<UsernameClaim>(item),
        Product::TYPE => read::<Product>(item).and_then(|()| read::<InProduct>(item)),
        // An item of the collection that it skips.
        "productDescription" => read::<InProduct>(item),
        Stock::TYPE => read::<Stock>(item).and_then(|()| read::<InStock>(item)).and_then(|()| read::<InProduct>(item)),
        StockCell::TYPE => read::<StockCell>(item).and_then(|()| read::<InStock>(item)),
        ProductStats::TYPE => read::<ProductStats>(item),
        ViewShard::TYPE => read::<ViewShard>(item),
        Order::TYPE => read::<Order>(item).and_then(|()| read::<ProfileOrOrder>(item)),
        OrderItem::TYPE => read::<OrderItem>(item),
        OrderFlag::TYPE => read::<OrderFlag>(item),
        QueuedOrder::TYPE => read::<QueuedOrder>(item),
        Invoice::TYPE => read::<Invoice>(item),
        Discount::TYPE => read::<Discount>(item),
        GiftCard::TYPE => read::<GiftCard>(item),
        GiftCardEntry::TYPE => read::<GiftCardEntry>(item),
        DayTotals::TYPE => read::<DayTotals>(item),
        StreamCheckpoint::TYPE => read::<StreamCheckpoint>(item),
        Reconciliation::TYPE => read::<Reconciliation>(item),
        _ => Ok(()),
    }
    .and_then(|()| if is_in_order(item) { read::<InOrder>(item) } else { Ok(()) })
}

#[test]
fn the_last_release_reads_the_items_of_this_one() {
    let folder = PathBuf::from(env::var_os("FIXTURES").expect("FIXTURES")).join("items");
    let (mut count, mut unread) = (0, BTreeMap::new());
    for entity in fs::read_dir(folder).expect("fixtures") {
        let entity = entity.expect("a folder");
        let name = entity.file_name().into_string().expect("a name");
        let newest = fs::read_dir(entity.path()).expect("a folder").map(|file| file.expect("a file").path()).max();
        let text = fs::read_to_string(newest.expect("a fixture")).expect("a text");
        let states: BTreeMap<String, Item> = serde_json::from_str(&text).expect("items");
        for (state, item) in states {
            count += 1;
            if let Err(error) = read_as(&name, &item) {
                unread.insert((name.clone(), state), error);
            }
        }
    }
    println!("{count} items, {} unread", unread.len());
    let unexpected: Vec<_> = unread
        .iter()
        .filter(|((entity, state), _)| !EXCEPTIONS.contains(&(entity.as_str(), state.as_str())))
        .collect();
    assert!(unexpected.is_empty(), "the last release cannot read: {unexpected:#?}");
    assert_eq!(unread.len(), EXCEPTIONS.len(), "an exception is read after all");
}
