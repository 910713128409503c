//! The same shop with three table designs, by the same billing rules.
//!
//! - Till, from the ledger.
//! - Three tables, as they would be in a relational database: `orders`, `order_items` and `customers`, each item with
//!   an id of its own, without indexes. An order contains the ids of its lines, so they are read by their keys. Every
//!   query other than by id is a Scan with a filter.
//! - Fat items: a customer's document contains all of the customer's orders, and a product's document lists all orders
//!   of the product. A query about a customer or a product is one read; every change writes a whole document.
//!
//! Operations with about the same cost in all three designs are left out. Counts are included for Till only, because
//! the others have none.

use anyhow::Result;
use capacity::ledger;
use capacity::rules::{TRANSACTION, read_units, write_units};
use capacity::size::{STORAGE_OVERHEAD, of_item};
use key_schema::layout::Consistency::{self, Eventual, Strong};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_dynamo::Item;

use super::items::Items;
use crate::deployment::Deployment;
use crate::prices::{PriceList, TableClassPrices};
use crate::profile::Profile;
use crate::units_by_index::UnitsByIndex;
use crate::usage::{BYTES_PER_GB, Usage};

/// A table design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Design {
    Till,
    ThreeTables,
    FatItems,
}

/// A task of a shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Place,
    Count,
    Read,
    ListOfCustomer,
    Overview,
    Pay,
    ChangeStatus,
    ListOfProduct,
    ListOfStatus,
}

/// Each task, its name, and its function and case in the ledger.
pub(super) const TASKS: &[(Task, &str, &str, &str)] = &[
    (Task::Place, "place an order", "place-order", "placed"),
    (Task::Count, "count it: customer, products, day", "count-orders", "a batch"),
    (Task::Read, "read an order by its id, with its lines", "get-order", "found"),
    (Task::ListOfCustomer, "list a customer's orders, a page", "list-customer-orders", "a page"),
    (Task::Overview, "a customer's profile and newest orders, a page", "get-customer-overview", "found"),
    (Task::Pay, "capture its payment", "capture-payment", "captured"),
    (Task::ChangeStatus, "ship it, or note that it is delivered", "change-order-status", "shipped"),
    (Task::ListOfProduct, "list a product's orders, a page", "list-product-orders", "a page"),
    (Task::ListOfStatus, "list the orders of a status, a page", "list-orders", "a page"),
];

/// Units that a task consumes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Consumed {
    pub(super) read: f64,
    pub(super) write: f64,
}

/// A shop with the profile's customers and products, which all order and sell equally. The number of orders in the
/// tables is a parameter of its methods.
pub(super) struct Shop {
    profile: Profile,
    prices: TableClassPrices,
    items: Items,
    /// Counting an order and its changes, as in the bill.
    count: Consumed,
    customers: usize,
    products: usize,
}

impl Shop {
    /// The shop of a profile.
    pub(super) fn of(profile: &Profile, deployment: &Deployment, prices: &PriceList) -> Result<Self> {
        let usage = Usage::of(profile, deployment, prices.month)?;
        let counting = usage.calls.get("count-orders").map_or_else(UnitsByIndex::default, |calls| calls.units);
        let of_an_order = |units: Decimal| (units / profile.orders).to_f64().unwrap_or(f64::NAN);
        Ok(Self {
            items: Items::of(profile, deployment)?,
            count: Consumed { read: of_an_order(counting.read()), write: of_an_order(counting.write()) },
            customers: usize::try_from(profile.kept.customers)?,
            products: usize::try_from(profile.kept.products)?,
            profile: profile.clone(),
            prices: prices.dynamodb.standard.clone(),
        })
    }

    /// The final number of orders in the tables.
    pub(super) fn kept(&self) -> usize {
        (self.profile.orders * self.profile.kept.order_months).to_usize().unwrap_or(usize::MAX)
    }

    /// The number of times a task is done in a month.
    pub(super) fn times(&self, task: Task) -> Decimal {
        let (function, _) = Self::operation(task);
        let per_order = match task {
            Task::Place | Task::Count => Decimal::ONE,
            _ => self.profile.calls_per_order.get(function).copied().unwrap_or_default(),
        };
        self.profile.orders * per_order
    }

    /// The units of a task. `None` if the design cannot do it, because a document would exceed the item limit.
    pub(super) fn consumed(&self, design: Design, task: Task, orders: usize) -> Option<Consumed> {
        match design {
            Design::Till => self.till(task),
            Design::ThreeTables => Some(self.three_tables(task, orders)),
            Design::FatItems => self.fat_items(task, orders),
        }
    }

    /// The cost of these tasks in a month, with storage. `None` if the design cannot do one of them.
    pub(super) fn month(&self, design: Design, orders: usize, is_done: impl Fn(Task) -> bool) -> Option<Decimal> {
        let mut usd = self.prices.storage_gb_month.of(self.stored(design, orders)? / BYTES_PER_GB);
        let (mut read, mut write) = (Decimal::ZERO, Decimal::ZERO);
        for (task, ..) in TASKS.iter().filter(|(task, ..)| is_done(*task)) {
            let consumed = self.consumed(design, *task, orders)?;
            read += decimal(consumed.read)? * self.times(*task);
            write += decimal(consumed.write)? * self.times(*task);
        }
        usd += self.prices.read_request.of(read) + self.prices.write_request.of(write);
        Some(usd)
    }

    /// Bytes that are billed as stored.
    pub(super) fn stored(&self, design: Design, orders: usize) -> Option<Decimal> {
        let (customers, products) = (self.customers, self.products);
        Some(match design {
            Design::Till => {
                let stored = |function, case, times: usize| {
                    let each = ledger::find(function, case)?.stored(&self.items.sample).total();
                    Some(decimal(each)? * Decimal::from(times))
                };
                stored("place-order", "placed", orders)?
                    + stored("create-customer", "signed up", customers)?
                    + stored("create-product", "made", products)?
            }
            Design::ThreeTables => {
                let row = |row: Item| of_item(&row) + STORAGE_OVERHEAD;
                let an_order = row(self.items.order_row()) + self.items.lines() * row(self.items.line_row());
                let others = row(self.items.customer_row()) * customers + row(self.items.product_row()) * products;
                Decimal::from(an_order * orders + others)
            }
            Design::FatItems => {
                let of_customers = self.items.customers().all(customers, orders);
                let of_products = self.items.products().all(products, self.items.lines() * orders);
                Decimal::from(of_customers + of_products + (customers + products) * STORAGE_OVERHEAD)
            }
        })
    }

    fn till(&self, task: Task) -> Option<Consumed> {
        if task == Task::Count {
            return Some(self.count);
        }
        let (function, case) = Self::operation(task);
        let charge = ledger::find(function, case)?.charge(&self.items.sample);
        Some(Consumed { read: charge.read.total(), write: charge.write.total() })
    }

    fn three_tables(&self, task: Task, orders: usize) -> Consumed {
        let items = &self.items;
        let [order, line] = [items.order_row(), items.line_row()].map(|row| of_item(&row));
        let [customer, product] = [items.customer_row(), items.product_row()].map(|row| of_item(&row));
        let lines = items.lines_of_an_order();
        let scan = |bytes: usize| reading(bytes, Eventual);
        match task {
            Task::Place => Consumed {
                read: read_units(customer, Eventual) + lines * read_units(product, Eventual),
                write: TRANSACTION * (write_units(order) + lines * (write_units(line) + write_units(product))),
            },
            Task::Count => Consumed::default(),
            Task::Read => Consumed { read: read_units(order, Strong) + lines * read_units(line, Strong), write: 0.0 },
            Task::Pay | Task::ChangeStatus => reading(order, Strong).and_writing(order),
            Task::ListOfCustomer | Task::ListOfStatus => scan(order * orders),
            Task::Overview => scan(order * orders).and_reading(customer),
            Task::ListOfProduct => scan(line * items.lines() * orders),
        }
    }

    fn fat_items(&self, task: Task, orders: usize) -> Option<Consumed> {
        let items = &self.items;
        // A customer who orders has at least the new order.
        let customer = items.customers().one(orders.div_ceil(self.customers));
        let product = items.products().one((items.lines() * orders).div_ceil(self.products));
        let lines = items.lines_of_an_order();
        Some(match task {
            Task::Place => Consumed {
                read: read_units(customer?, Eventual) + lines * read_units(product?, Eventual),
                write: TRANSACTION * (write_units(customer?) + lines * write_units(product?)),
            },
            Task::Count => Consumed::default(),
            Task::Read => reading(customer?, Strong),
            Task::ListOfCustomer | Task::Overview => reading(customer?, Eventual),
            Task::Pay | Task::ChangeStatus => reading(customer?, Strong).and_writing(customer?),
            Task::ListOfProduct => reading(product?, Eventual),
            Task::ListOfStatus => reading(items.customers().all(self.customers, orders), Eventual),
        })
    }

    /// The function and case of a task.
    fn operation(task: Task) -> (&'static str, &'static str) {
        let row = TASKS.iter().find(|(other, ..)| *other == task);
        row.map(|(_, _, function, case)| (*function, *case)).unwrap()
    }
}

fn reading(bytes: usize, consistency: Consistency) -> Consumed {
    Consumed { read: read_units(bytes, consistency), write: 0.0 }
}

impl Consumed {
    /// Adds an eventually consistent read of this many bytes.
    fn and_reading(self, bytes: usize) -> Self {
        Self { read: self.read + read_units(bytes, Eventual), ..self }
    }

    /// Adds a write of this many bytes, outside a transaction.
    fn and_writing(self, bytes: usize) -> Self {
        Self { write: self.write + write_units(bytes), ..self }
    }
}

fn decimal(number: f64) -> Option<Decimal> {
    Decimal::try_from(number).ok()
}
