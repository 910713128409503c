//! The same shop on three designs of its tables, by the same rules of billing.
//!
//! - Till: as it is, from the ledger.
//! - Three tables, as they would be in a relational database: `orders`, `order_items` and `customers`, each item under an id
//!   of its own and no index. An order names its lines, so it is read with them by their keys. What is asked of anything but
//!   an id is a Scan with a filter.
//! - Fat items: a customer's document holds all of the customer's orders whole, and a product's document names every order
//!   of the product. What is asked of a customer or a product is one read; every change writes a document.
//!
//! The catalogue, carts and codes are the same in all three and left out. So are counts, but for Till, which has them.

use std::collections::HashMap;

use anyhow::{Context, Result};
use capacity::ledger;
use capacity::rules::{TRANSACTION, read_units, write_units};
use capacity::sample::Kind::{Customer, Invoice, Order, OrderItem, Product, Stock};
use capacity::sample::{Edition::First, Extent, Kind, Sample};
use capacity::size::{STORAGE_OVERHEAD, of_item};
use key_schema::entity::{OrderStatus::Pending, PaymentStatus::Authorized};
use key_schema::layout::Consistency::{self, Eventual, Strong};
use key_schema::layout::{ENTITY_TYPE, Index};
use rust_decimal::Decimal;
use serde_dynamo::{AttributeValue, Item};

use super::prices::TableClassPrices;
use super::usage::BYTES_PER_GB;

/// An item has so many bytes at most.
pub const MOST_BYTES: usize = 400 * 1024;

/// A way to lay a shop out in tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    Till,
    ThreeTables,
    FatItems,
}

/// Something that a shop does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Place,
    Count,
    Read,
    ListOfCustomer,
    Pay,
    ChangeStatus,
    ListOfProduct,
    ListOfStatus,
}

/// A task, what to call it, and how often it is done for a million orders.
pub const TASKS: &[(Task, &str, u32)] = &[
    (Task::Place, "place an order of two lines", 1_000_000),
    (Task::Count, "count it: customer, products, day", 1_000_000),
    (Task::Read, "read an order by its id, with its lines", 2_000_000),
    (Task::ListOfCustomer, "list a customer's orders, a page of 10", 1_000_000),
    (Task::Pay, "capture its payment", 980_000),
    (Task::ChangeStatus, "ship it, or note that it is delivered", 1_900_000),
    (Task::ListOfProduct, "list a product's orders, a page of 10", 3_000),
    (Task::ListOfStatus, "list the orders of a status, a page of 10", 3_000),
];

/// How much the tables hold. Customers and products stay as many as they are, and everybody orders as much as anybody.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    pub orders: usize,
    pub customers: usize,
    pub products: usize,
}

/// Units that a task consumes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Consumed {
    pub read: f64,
    pub write: f64,
}

/// The items that the designs are made of.
pub struct Items {
    sample: Sample,
    lines: usize,
}

impl Items {
    /// Those of a typical order.
    pub fn typical() -> Result<Self> {
        let sample = Sample::new(Extent::TYPICAL).context("a typical order")?;
        Ok(Self { lines: usize::try_from(Extent::TYPICAL.lines)?, sample })
    }

    /// What a task consumes. `None` if the design cannot do it: a document would be larger than an item may be.
    pub fn consumed(&self, design: Design, task: Task, held: Held) -> Option<Consumed> {
        match design {
            Design::Till => self.till(task),
            Design::ThreeTables => Some(self.three_tables(task, held)),
            Design::FatItems => self.fat_items(task, held),
        }
    }

    /// What these tasks come to in a month of a million orders, as often as they are done, and storage. `None` if the design
    /// cannot do it.
    pub fn month(
        &self,
        design: Design,
        held: Held,
        prices: &TableClassPrices,
        is_done: impl Fn(Task) -> bool,
    ) -> Option<Decimal> {
        let mut usd = prices.storage_gb_month.of(self.stored(design, held)? / BYTES_PER_GB);
        let (mut read, mut write) = (Decimal::ZERO, Decimal::ZERO);
        for (task, _, times) in TASKS.iter().filter(|(task, ..)| is_done(*task)) {
            let consumed = self.consumed(design, *task, held)?;
            read += decimal(consumed.read)? * Decimal::from(*times);
            write += decimal(consumed.write)? * Decimal::from(*times);
        }
        usd += prices.read_request.of(read) + prices.write_request.of(write);
        Some(usd)
    }

    /// Bytes that are billed as stored.
    fn stored(&self, design: Design, held: Held) -> Option<Decimal> {
        Some(match design {
            Design::Till => {
                let each = ledger::find("place-order", "placed")?.stored(&self.sample).total();
                decimal(each)? * Decimal::from(held.orders)
            }
            Design::ThreeTables => {
                let of_lines = self.lines * (of_item(&self.line_row()) + STORAGE_OVERHEAD);
                let each = of_item(&self.order_row()) + STORAGE_OVERHEAD + of_lines;
                Decimal::from(each * held.orders)
            }
            Design::FatItems => {
                let customers = self.customers().all(held.customers, held.orders);
                let products = self.products().all(held.products, self.lines * held.orders);
                Decimal::from(customers + products + (held.customers + held.products) * STORAGE_OVERHEAD)
            }
        })
    }

    fn till(&self, task: Task) -> Option<Consumed> {
        let (function, course) = match task {
            Task::Place => ("place-order", "placed"),
            Task::Count => ("count-orders", "a batch"),
            Task::Read => ("get-order", "found"),
            Task::ListOfCustomer => ("list-customer-orders", "a page"),
            Task::Pay => ("capture-payment", "captured"),
            Task::ChangeStatus => ("change-order-status", "shipped"),
            Task::ListOfProduct => ("list-product-orders", "a page"),
            Task::ListOfStatus => ("list-orders", "a page"),
        };
        let charge = ledger::find(function, course)?.charge(&self.sample);
        Some(Consumed { read: charge.read.total(), write: charge.write.total() })
    }

    fn three_tables(&self, task: Task, held: Held) -> Consumed {
        let [order, line, product] = [self.order_row(), self.line_row(), self.product_row()].map(|row| of_item(&row));
        let lines = self.lines_of_an_order();
        let scan = |bytes: usize| reading(bytes, Eventual);
        match task {
            Task::Place => Consumed {
                read: read_units(self.bytes(Customer(First)), Eventual) + lines * read_units(product, Eventual),
                write: TRANSACTION * (write_units(order) + lines * (write_units(line) + write_units(product))),
            },
            Task::Count => Consumed::default(),
            Task::Read => Consumed { read: read_units(order, Strong) + lines * read_units(line, Strong), write: 0.0 },
            Task::Pay | Task::ChangeStatus => reading(order, Strong).and_writing(order),
            Task::ListOfCustomer | Task::ListOfStatus => scan(order * held.orders),
            Task::ListOfProduct => scan(line * self.lines * held.orders),
        }
    }

    fn fat_items(&self, task: Task, held: Held) -> Option<Consumed> {
        // Who orders has one order at least, the new one.
        let customer = self.customers().one(held.orders.div_ceil(held.customers))?;
        let product = self.products().one((self.lines * held.orders).div_ceil(held.products))?;
        let lines = self.lines_of_an_order();
        Some(match task {
            Task::Place => Consumed {
                read: read_units(customer, Eventual) + lines * read_units(product, Eventual),
                write: TRANSACTION * (write_units(customer) + lines * write_units(product)),
            },
            Task::Count => Consumed::default(),
            Task::Read => reading(customer, Strong),
            Task::ListOfCustomer => reading(customer, Eventual),
            Task::Pay | Task::ChangeStatus => reading(customer, Strong).and_writing(customer),
            Task::ListOfProduct => reading(product, Eventual),
            Task::ListOfStatus => reading(self.customers().all(held.customers, held.orders), Eventual),
        })
    }

    fn lines_of_an_order(&self) -> f64 {
        f64::from(self.sample.extent().lines)
    }

    /// An order with its invoice in one row, and the ids of its lines.
    fn order_row(&self) -> Item {
        let mut row = self.bare(Invoice(Authorized));
        row.extend(self.bare(Order(Pending)).into_inner());
        row.insert("lineIds".to_owned(), AttributeValue::L(vec![self.id(); self.lines]));
        row
    }

    /// A line, under an id of its own.
    fn line_row(&self) -> Item {
        let mut row = self.bare(OrderItem);
        row.insert("lineId".to_owned(), self.id());
        row
    }

    /// A product with its stock.
    fn product_row(&self) -> Item {
        let mut row = self.bare(Product(First));
        row.extend(self.bare(Stock(First)).into_inner());
        row
    }

    /// Profiles with whole orders.
    fn customers(&self) -> Documents {
        let line = AttributeValue::M(without(&self.bare(OrderItem), &["orderId", "customerId", "placedAt"]));
        let mut order = without(&self.order_row(), &["customerId", "lineIds"]);
        order.insert("lines".to_owned(), AttributeValue::L(vec![line; self.lines]));
        Documents::of(self.bare(Customer(First)), order)
    }

    /// Products with the orders that they are in.
    fn products(&self) -> Documents {
        Documents::of(self.product_row(), without(&self.bare(OrderItem), &["productId", "name", "unitPrice"]))
    }

    /// An item without what only Till's design needs.
    fn bare(&self, kind: Kind) -> Item {
        let item = self.sample.item(kind).cloned().unwrap_or_default();
        let of = |index: Index| index.attributes();
        let keys = [Index::Table, Index::Gsi1, Index::Gsi2].map(of);
        let names: Vec<&str> =
            keys.iter().flat_map(|(partition, sort)| [*partition, *sort]).chain([ENTITY_TYPE]).collect();
        without(&item, &names).into()
    }

    fn bytes(&self, kind: Kind) -> usize {
        of_item(&self.bare(kind))
    }

    /// An id as the shop has them.
    fn id(&self) -> AttributeValue {
        AttributeValue::S("i".repeat(self.sample.extent().id))
    }
}

/// The attributes of an item but these.
fn without(item: &Item, names: &[&str]) -> HashMap<String, AttributeValue> {
    let kept = item.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Items with lists that grow.
struct Documents {
    /// Bytes of one whose list is empty.
    empty: usize,
    /// Bytes of an element.
    element: usize,
}

impl Documents {
    fn of(mut item: Item, element: HashMap<String, AttributeValue>) -> Self {
        let mut with = |list| {
            item.insert("orders".to_owned(), AttributeValue::L(list));
            of_item(&item)
        };
        let empty = with(Vec::new());
        Self { empty, element: with(vec![AttributeValue::M(element)]) - empty }
    }

    /// The bytes of one with so many elements; none if that is more than an item may have.
    fn one(&self, elements: usize) -> Option<usize> {
        Some(self.empty + self.element * elements).filter(|bytes| *bytes <= MOST_BYTES)
    }

    /// The bytes of so many with so many elements in all of them.
    fn all(&self, documents: usize, elements: usize) -> usize {
        self.empty * documents + self.element * elements
    }
}

fn reading(bytes: usize, consistency: Consistency) -> Consumed {
    Consumed { read: read_units(bytes, consistency), write: 0.0 }
}

impl Consumed {
    /// And writing an item of so many bytes, outside of any transaction.
    fn and_writing(self, bytes: usize) -> Self {
        Self { write: self.write + write_units(bytes), ..self }
    }
}

fn decimal(number: f64) -> Option<Decimal> {
    Decimal::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::prices::{PriceList, SHIPPED};

    fn held(orders: usize) -> Held {
        Held { orders, customers: 100_000, products: 5_000 }
    }

    fn consumed(design: Design, task: Task, orders: usize) -> Consumed {
        Items::typical().unwrap().consumed(design, task, held(orders)).unwrap()
    }

    #[test]
    fn what_till_does_costs_the_same_however_large_the_table_is() {
        for (task, name, _) in TASKS {
            assert_eq!(consumed(Design::Till, *task, 10_000), consumed(Design::Till, *task, 1_000_000), "{name}");
        }
    }

    #[test]
    fn a_scan_costs_ten_times_as_much_in_a_table_ten_times_as_large() {
        for task in [Task::ListOfCustomer, Task::ListOfStatus, Task::ListOfProduct] {
            let (small, large) =
                (consumed(Design::ThreeTables, task, 100_000), consumed(Design::ThreeTables, task, 1_000_000));
            assert!((large.read / small.read - 10.0).abs() < 0.01, "{small:?} {large:?}");
        }
    }

    #[test]
    fn three_tables_place_an_order_with_half_the_writes() {
        let (till, tables) = (consumed(Design::Till, Task::Place, 1), consumed(Design::ThreeTables, Task::Place, 1));
        assert_eq!((till.write, tables.write), (20.0, 10.0));
    }

    #[test]
    fn a_fat_item_is_written_whole_and_in_the_end_not_at_all() {
        let items = Items::typical().unwrap();
        let written =
            |orders| items.consumed(Design::FatItems, Task::Place, held(orders)).map(|consumed| consumed.write);
        assert!(written(100_000) < written(1_000_000));
        assert_eq!(written(100_000_000), None);
    }

    #[test]
    fn no_design_is_cheaper_with_more_orders_in_it() {
        let (items, prices) = (Items::typical().unwrap(), PriceList::parse(SHIPPED).unwrap());
        for design in [Design::Till, Design::ThreeTables, Design::FatItems] {
            let months: Vec<_> = (4..=6)
                .map(|exponent| {
                    items.month(design, held(10_usize.pow(exponent)), &prices.dynamodb.standard, |_| true).unwrap()
                })
                .collect();
            assert!(months.is_sorted(), "{design:?}: {months:?}");
        }
    }
}
