//! Records as Till's items, and Till's items as records.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context as _, Result, anyhow, bail};
use key_schema::entity::{CategoryCount, Customer, Discount, Entity as _, GiftCard, Guest, Order, Product, StockCell};
use key_schema::layout::{ENTITY_TYPE, InOrder, InProduct, InStock, OrderState, WholeProduct};
use key_schema::value::{Money, ProductId};
use serde::de::DeserializeOwned;
use table::{Rendered, WriteKind, read_item, write_item};

use super::super::existing::due_since;
use super::super::laws::Circumstances;
use super::super::order_record::OrderRecord;
use super::super::record::{ProductRecord, Record};
use super::super::write::Transaction;
use super::finding::{Finding, Kind};
use super::format::{self, Item};
use super::{Numbered, Place, Reading, design};

/// A key of the table.
type Key = (String, String);

/// The items of the records, as an import of them into an empty table leaves them, but without the time of the import.
pub(super) fn items(records: &[Record], with: &Circumstances) -> Result<Vec<table::Item>> {
    let mut written = Written::default();
    let limited = limited(records);
    for record in records {
        let (kind, id) = record.name();
        written.place(record, with, &limited).with_context(|| format!("{kind} {id}"))?;
    }
    written.count_categories()?;
    Ok(written.items)
}

/// The discount codes whose uses are counted.
fn limited<'a>(records: impl IntoIterator<Item = &'a Record>) -> BTreeSet<String> {
    let codes = records.into_iter().filter_map(|record| match record {
        Record::Discount(code) if code.max_uses.is_some() => Some(code.code.as_str().to_owned()),
        _ => None,
    });
    codes.collect()
}

fn transaction(record: &Record, with: &Circumstances, limited: &BTreeSet<String>) -> Result<Transaction> {
    let refused = |reasons: Vec<String>| anyhow!(reasons.join("; "));
    Ok(match record {
        Record::Customer(record) => Transaction::of_customer(&record.entity(with.now).map_err(refused)?)?,
        Record::Guest(record) => Transaction::of_guest(&record.entity(with.now).map_err(refused)?)?,
        Record::Product(record) => {
            let (product, long, stock) = record.entities().map_err(refused)?;
            Transaction::of_product(&product, long.as_ref(), &stock)?
        }
        Record::Discount(record) => Transaction::of_discount(&record.entity(with.now).map_err(refused)?)?,
        Record::GiftCard(record) => Transaction::of_gift_card(&record.entity(with.now).map_err(refused)?)?,
        Record::Order(record) => {
            let mut placeable = record.check(with, |code| limited.contains(code.as_str())).map_err(refused)?;
            placeable.whole.order.imported_at = None;
            Transaction::of_order(&placeable, with.product_shards)?
        }
    })
}

/// A table in memory.
#[derive(Default)]
struct Written {
    items: Vec<table::Item>,
    places: HashMap<Key, usize>,
}

impl Written {
    fn place(&mut self, record: &Record, with: &Circumstances, limited: &BTreeSet<String>) -> Result<()> {
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        for write in &transaction(record, with, limited)?.writes {
            let Rendered { kind, item, values, .. } = write.rendered();
            let key = key(&item);
            match kind {
                WriteKind::Put => new.push((key, item)),
                // The number of its category: see `count_categories`.
                WriteKind::Update if matches!(record, Record::Product(_)) => {}
                WriteKind::Update => {
                    let place = self.places.get(&key).with_context(|| format!("{} is not among the records", key.0))?;
                    changed.push((*place, spent(self.items[*place].clone(), values.get(":taken"))?));
                }
                WriteKind::Delete | WriteKind::Check => bail!("an import neither deletes nor checks"),
            }
        }
        // Only now: of a record that is refused there is nothing.
        for (place, item) in changed {
            self.items[place] = item;
        }
        for (key, item) in new {
            self.places.insert(key, self.items.len());
            self.items.push(item);
        }
        Ok(())
    }

    fn count_categories(&mut self) -> Result<()> {
        let mut counts = BTreeMap::new();
        for item in self.items.iter().filter(|item| kind(item) == Product::TYPE) {
            if let Some(category) = read_item::<Product>(item.clone())?.counted_in() {
                *counts.entry(category.clone()).or_default() += 1;
            }
        }
        for (category, products) in counts {
            self.items.push(write_item(&CategoryCount { category, products })?);
        }
        Ok(())
    }
}

/// A discount code with one more use, or a gift card with less money.
fn spent(item: table::Item, taken: Option<&table::AttributeValue>) -> Result<table::Item> {
    if kind(&item) == Discount::TYPE {
        let code: Discount = read_item(item)?;
        return Ok(write_item(&Discount { uses: code.uses + 1, ..code })?);
    }
    let card: GiftCard = read_item(item)?;
    let taken = taken.and_then(|taken| taken.as_n().ok()).context("an order takes no amount")?.parse()?;
    let balance = Money::new(taken, card.balance.currency()).and_then(|taken| card.balance.checked_sub(taken));
    Ok(write_item(&GiftCard { balance: balance.context("the gift card has too little")?, ..card })?)
}

fn text(item: &table::Item, name: &str) -> String {
    item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
}

fn kind(item: &table::Item) -> String {
    text(item, ENTITY_TYPE)
}

fn key(item: &table::Item) -> Key {
    (text(item, "PK"), text(item, "SK"))
}

/// Reads the items of a table of Till's design.
pub(super) fn read(items: &[Numbered], with: &Circumstances) -> Result<Reading> {
    let mut reading = Reading::default();
    let mut collections = BTreeMap::<String, Vec<(Numbered, table::Item)>>::new();
    let mut cells = BTreeMap::<ProductId, Vec<StockCell>>::new();
    for numbered in items {
        match stored(numbered) {
            Ok(item) if kind(&item) == StockCell::TYPE => match read_item::<StockCell>(item) {
                Ok(cell) => cells.entry(cell.product_id.clone()).or_default().push(cell),
                Err(error) => reading.findings.push(Finding::about(numbered, Kind::LeftOut, error.to_string())),
            },
            Ok(item) => collections.entry(key(&item).0).or_default().push((numbered.clone(), item)),
            Err(error) => reading.findings.push(Finding::about(numbered, Kind::LeftOut, format!("no item: {error}"))),
        }
    }
    for collection in collections.into_values() {
        let has = |of: &str| collection.iter().find(|(_, item)| kind(item) == of);
        let kinds = [Order::TYPE, Product::TYPE, Customer::TYPE, Guest::TYPE, Discount::TYPE, GiftCard::TYPE];
        let Some((named, _)) = kinds.iter().find_map(|kind| has(kind)).cloned() else { continue };
        match record(&collection, &cells) {
            Ok(record) => reading.records.push((named.place(), record)),
            Err(error) => reading.findings.push(Finding::about(&named, Kind::LeftOut, format!("{error:#}"))),
        }
    }
    reading.records.sort_by_cached_key(|(_, record)| record.position());
    compare(items, &mut reading, with)?;
    Ok(reading)
}

fn stored(numbered: &Numbered) -> Result<table::Item> {
    let item: serde_dynamo::Item = serde_json::from_value(serde_json::to_value(&numbered.item)?)?;
    Ok(item.into())
}

/// The record of a collection.
fn record(collection: &[(Numbered, table::Item)], cells: &BTreeMap<ProductId, Vec<StockCell>>) -> Result<Record> {
    let one = |of: &str| collection.iter().map(|(_, item)| item).find(|item| kind(item) == of).cloned();
    if one(Order::TYPE).is_some() {
        let items: Vec<InOrder> = all(collection)?;
        let due = due_since(&items);
        return match InOrder::assemble(items) {
            Ok(Some(OrderState::Placed(whole))) if whole.is_consistent() => {
                Ok(Record::Order(Box::new(OrderRecord::of(&whole, due))))
            }
            _ => bail!("the order's header, lines, invoice and returns do not belong together"),
        };
    }
    if one(Product::TYPE).is_some() {
        let whole = InProduct::assemble(all(collection)?).context("a product needs its stock")?;
        let WholeProduct { product, long_description, stock: first, .. } = whole;
        let description = product.whole_description(long_description);
        let description = description.context("the product and its description do not belong together")?;
        let others = cells.get(&product.product_id).into_iter().flatten().cloned();
        let stock = [InStock::Stock(first.clone())].into_iter().chain(others.map(InStock::StockCell)).collect();
        let stock =
            InStock::assemble(first.cells, stock).ok().context("the cells of its stock do not belong together")?;
        return Ok(Record::Product(ProductRecord::of(product, description, &stock)));
    }
    if let Some(customer) = one(Customer::TYPE) {
        return Ok(Record::Customer(read_item::<Customer>(customer)?.into()));
    }
    if let Some(guest) = one(Guest::TYPE) {
        return Ok(Record::Guest(read_item::<Guest>(guest)?.into()));
    }
    if let Some(code) = one(Discount::TYPE) {
        return Ok(Record::Discount(read_item::<Discount>(code)?.into()));
    }
    let card = one(GiftCard::TYPE).context("no record")?;
    Ok(Record::GiftCard(read_item::<GiftCard>(card)?.into()))
}

fn all<T: DeserializeOwned>(collection: &[(Numbered, table::Item)]) -> Result<Vec<T>> {
    collection.iter().map(|(_, item)| Ok(read_item(item.clone())?)).collect()
}

/// Compares the items with those that follow from the records. Claims, entries of gift cards and sums follow from other
/// items, so they can be missing or contradict them.
fn compare(given: &[Numbered], reading: &mut Reading, with: &Circumstances) -> Result<()> {
    let mut written = Written::default();
    let limited = limited(reading.records.iter().map(|(_, record)| record));
    // A record that breaks a law has no items. The import refuses it, and says why.
    let is_refused = |record: &&(Place, Record)| written.place(&record.1, with, &limited).is_err();
    let refused: BTreeSet<_> = reading.records.iter().filter(is_refused).map(|(place, _)| place).collect();
    written.count_categories()?;
    let key =
        |item: &Item| ["PK", "SK"].map(|name| item.get(name).and_then(format::text).unwrap_or_default().to_owned());
    let of_refused = given.iter().filter(|numbered| refused.contains(&numbered.place()));
    let of_refused: BTreeSet<_> = of_refused.map(|numbered| key(&numbered.item)[0].clone()).collect();
    let mut derived = BTreeMap::new();
    for item in written.items {
        let item = design::json(item)?;
        derived.insert(key(&item), item);
    }
    let told_of: BTreeSet<_> = reading.findings.iter().filter_map(|finding| finding.place.clone()).collect();
    for numbered in given {
        let Some(follows) = derived.remove(&key(&numbered.item)) else {
            if !told_of.contains(&numbered.place()) && !of_refused.contains(&key(&numbered.item)[0]) {
                let text = if of_refused.is_empty() {
                    "no record of a file of history has it, and the shop makes its own"
                } else {
                    "no record that keeps the laws has it"
                };
                reading.findings.push(Finding::about(numbered, Kind::LeftOut, text));
            }
            continue;
        };
        let names: BTreeSet<_> = numbered.item.keys().chain(follows.keys()).collect();
        for name in names.into_iter().filter(|name| numbered.item.get(*name) != follows.get(*name)) {
            let told = |item: &Item| item.get(name).map_or("absent".to_owned(), ToString::to_string);
            let text = format!("{name} is {}; {} follows from the other items", told(&numbered.item), told(&follows));
            reading.findings.push(Finding::about(numbered, Kind::Contradiction, text));
        }
    }
    for [partition, sort] in derived.into_keys() {
        let text = format!("the item ({partition}, {sort}), which follows from others");
        reading.findings.push(Finding { kind: Kind::MadeUp, item: String::new(), place: None, text });
    }
    Ok(())
}
