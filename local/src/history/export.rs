//! Export: a walk over the table, as records in a stable order.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures_util::StreamExt as _;
use key_schema::entity::{Customer, Discount, Entity as _, GiftCard, Guest, Order, Product};
use key_schema::layout::{ENTITY_TYPE, InOrder, InProduct, Index, OrderState, WholeProduct};
use key_schema::value::{OrderId, ProductId};
use lambda::{Budget, Environment, FromEnvironment as _};
use table::{Item, Reader, read_item};

use super::existing::{due_since, read_order, read_product};
use super::order_record::OrderRecord;
use super::record::{ProductRecord, Record};
use super::sorted::Sorted;
use crate::scan;

/// The time for the retries of one read.
const BUDGET: Duration = Duration::from_secs(10);

/// The number of exported records of each kind.
pub type Exported = BTreeMap<&'static str, u64>;

/// Writes the records of the table of this environment, one on each line: customers and guests by the time of their
/// sign-up, products by id, discount codes and gift cards by the time of their creation, orders by the time of their
/// placing. `progress` receives the number of items read so far.
///
/// During a migration, the table that leads is read. All reads are strongly consistent, and every order is as it was at
/// one moment. The orders of a shop in use are not all of the same moment.
///
/// # Errors
/// The table cannot be read, an item is not what its type says, or the output cannot be written.
pub async fn export(environment: &Environment, out: &mut impl Write, progress: impl Fn(u64)) -> Result<Exported> {
    let reader = Reader::from_environment(environment)?;
    let mut pages = pin!(scan::pages(environment).await?);
    let mut lines = Lines { sorted: Sorted::new()?, exported: Exported::new() };
    let mut items = 0;
    // For each segment the items of its current partition: they come one after the other.
    let mut partitions: HashMap<u8, (String, Vec<Item>)> = HashMap::new();
    while let Some(page) = pages.next().await {
        let (segment, page) = page?;
        items += page.len() as u64;
        let (current, collected) = partitions.entry(segment).or_default();
        for item in page {
            let partition = text(&item, Index::Table.attributes().0);
            if partition != *current {
                lines.add(&reader, std::mem::take(collected)).await?;
                *current = partition;
            }
            collected.push(item);
        }
        progress(items);
    }
    for (_, collected) in partitions.into_values() {
        lines.add(&reader, collected).await?;
    }
    lines.sorted.each(|line| writeln!(out, "{line}").context("the file cannot be written"))?;
    out.flush().context("the file cannot be written")?;
    Ok(lines.exported)
}

struct Lines {
    sorted: Sorted,
    exported: Exported,
}

impl Lines {
    /// Adds the record of a partition, if its items make one.
    async fn add(&mut self, reader: &Reader, items: Vec<Item>) -> Result<()> {
        let kind = |item: &Item, kind: &str| text(item, ENTITY_TYPE) == kind;
        let one = |of: &str| items.iter().find(|item| kind(item, of)).cloned();
        let record = if let Some(order) = one(Order::TYPE) {
            let id = read_item::<Order>(order).context("an order cannot be read")?.order_id;
            Some(Record::Order(Box::new(order_of(reader, &id, items).await?)))
        } else if let Some(product) = one(Product::TYPE) {
            let id = read_item::<Product>(product).context("a product cannot be read")?.product_id;
            Some(Record::Product(product_of(reader, &id, items).await?))
        } else if let Some(customer) = one(Customer::TYPE) {
            Some(Record::Customer(read_item::<Customer>(customer).context("a customer cannot be read")?.into()))
        } else if let Some(guest) = one(Guest::TYPE) {
            let guest: Guest = read_item(guest).context("a guest cannot be read")?;
            guest.expires_at.is_none().then(|| Record::Guest(guest.into()))
        } else if let Some(code) = one(Discount::TYPE) {
            Some(Record::Discount(read_item::<Discount>(code).context("a discount code cannot be read")?.into()))
        } else if let Some(card) = one(GiftCard::TYPE) {
            Some(Record::GiftCard(read_item::<GiftCard>(card).context("a gift card cannot be read")?.into()))
        } else {
            None
        };
        let Some(record) = record else { return Ok(()) };
        let line = serde_json::to_string(&record)?;
        if self.sorted.add(&record.position(), &line)? {
            *self.exported.entry(record.name().0).or_default() += 1;
        }
        Ok(())
    }
}

/// The record of an order. A scan may read a part of the order before a transaction and another part after it. Then the
/// order is read again.
async fn order_of(reader: &Reader, id: &OrderId, items: Vec<Item>) -> Result<OrderRecord> {
    let unreadable = || format!("order {id} cannot be read");
    let items = items.into_iter().map(read_item).collect::<Result<Vec<_>, _>>().with_context(unreadable)?;
    let due = due_since(&items);
    if let Ok(Some(OrderState::Placed(whole))) = InOrder::assemble(items)
        && whole.is_consistent()
    {
        return Ok(OrderRecord::of(&whole, due));
    }
    scan::patiently(|| read_order(reader, id)).await.with_context(unreadable)?.with_context(unreadable)
}

/// The record of a product. The further cells of its stock are in other partitions.
async fn product_of(reader: &Reader, id: &ProductId, items: Vec<Item>) -> Result<ProductRecord> {
    let unreadable = || format!("product {id} cannot be read");
    let items = items.into_iter().map(read_item).collect::<Result<Vec<_>, _>>().with_context(unreadable)?;
    if let Some(WholeProduct { product, long_description, stock, .. }) = InProduct::assemble(items)
        && stock.cells.is_one()
        && let Some(description) = product.whole_description(long_description)
    {
        return Ok(ProductRecord::of(product, description, &stock.into()));
    }
    let read = || read_product(reader, id, Budget::of(BUDGET));
    scan::patiently(read).await.with_context(unreadable)?.with_context(unreadable)
}

fn text(item: &Item, attribute: &str) -> String {
    item.get(attribute).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
}
