//! Amounts to add to counters.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{CustomerStats, DayTotals, Order, OrderLine, OrderStatus, ProductStats, Sums, Tally};
use key_schema::value::{CustomerId, Day, ProductId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Aggregate;

/// Amounts to add to counters, merged by item. An item to which nothing is added is left out.
///
/// Amounts are at most 2^53 and a batch has at most 1,000 records, so no sum of a batch exceeds an `i64`. A sum with
/// the stored counters may exceed it, and then saturates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    customers: BTreeMap<CustomerId, CustomerStats>,
    products: BTreeMap<ProductId, ProductStats>,
    days: BTreeMap<Day, DayTotals>,
}

impl Counts {
    /// The counts of an order without its lines, multiplied by `times`.
    pub(crate) fn of_order(order: &Order, times: i64) -> Self {
        let money: Sums<_> = [(order.total.currency(), times * order.total.amount())].into_iter().collect();
        let customer_id = order.customer_id.clone();
        let mut counts = Self::default();
        add(
            &mut counts.customers,
            &order.customer_id,
            &CustomerStats { customer_id, orders: times, spent: money.clone() },
        );
        let day = DayTotals { orders: times, revenue: money, ..nothing_on(order.placed_at) };
        add(&mut counts.days, &day.date, &day);
        counts
    }

    /// The count of an order in a status, multiplied by `times`.
    pub(crate) fn of_status(order: &Order, status: OrderStatus, times: i64) -> Self {
        let mut counts = Self::default();
        let statuses = [(status, times)].into_iter().collect();
        let day = DayTotals { statuses, ..nothing_on(order.placed_at) };
        add(&mut counts.days, &day.date, &day);
        counts
    }

    /// The counts of a line of an order that was placed at this time, multiplied by `times`.
    pub(crate) fn of_line(line: &OrderLine, placed_at: Timestamp, times: i64) -> Self {
        let units = times * i64::from(line.quantity.get());
        let revenue = [(line.amount.currency(), times * line.amount.amount())].into_iter().collect();
        let product_id = line.product_id.clone();
        let mut counts = Self::default();
        add(&mut counts.products, &line.product_id, &ProductStats { product_id, orders: times, units, revenue });
        let day = DayTotals { units, ..nothing_on(placed_at) };
        add(&mut counts.days, &day.date, &day);
        counts
    }

    /// Adds other counts. Items whose amounts become zero are left out.
    pub fn add(&mut self, other: &Self) {
        other.customers.iter().for_each(|(id, amounts)| add(&mut self.customers, id, amounts));
        other.products.iter().for_each(|(id, amounts)| add(&mut self.products, id, amounts));
        other.days.iter().for_each(|(day, amounts)| add(&mut self.days, day, amounts));
    }

    /// The counts of one item only.
    #[must_use]
    pub fn only(&self, aggregate: &Aggregate) -> Self {
        let mut only = Self::default();
        match aggregate {
            Aggregate::Customer(id) => {
                only.customers.extend(self.customers.get(id).map(|stats| (id.clone(), stats.clone())));
            }
            Aggregate::Product(id) => {
                only.products.extend(self.products.get(id).map(|stats| (id.clone(), stats.clone())));
            }
            Aggregate::Day(day) => only.days.extend(self.days.get(day).map(|totals| (*day, totals.clone()))),
        }
        only
    }

    /// The amounts to add so that each counter lies between `least` and `most`.
    #[must_use]
    pub fn deficit(&self, least: &Self, most: &Self) -> Self {
        Self {
            customers: deficit(&self.customers, &least.customers, &most.customers, |id| CustomerStats {
                customer_id: id.clone(),
                orders: 0,
                spent: Sums::default(),
            }),
            products: deficit(&self.products, &least.products, &most.products, |id| ProductStats {
                product_id: id.clone(),
                orders: 0,
                units: 0,
                revenue: Sums::default(),
            }),
            days: deficit(&self.days, &least.days, &most.days, |day| no_totals(*day)),
        }
    }

    /// The amounts to add to customers' stats.
    pub fn customers(&self) -> impl Iterator<Item = &CustomerStats> {
        self.customers.values()
    }

    /// The amounts to add to products' stats.
    pub fn products(&self) -> impl Iterator<Item = &ProductStats> {
        self.products.values()
    }

    /// The amounts to add to days' totals.
    pub fn days(&self) -> impl Iterator<Item = &DayTotals> {
        self.days.values()
    }

    /// The number of items to which something is added.
    pub fn len(&self) -> usize {
        self.customers.len() + self.products.len() + self.days.len()
    }

    /// Whether nothing is added to any item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of further items to which something would be added together with `other`.
    pub(crate) fn growth(&self, other: &Self) -> usize {
        other.customers.keys().filter(|id| !self.customers.contains_key(*id)).count()
            + other.products.keys().filter(|id| !self.products.contains_key(*id)).count()
            + other.days.keys().filter(|day| !self.days.contains_key(*day)).count()
    }
}

fn add<K: Ord + Clone, T: Tally + Clone>(counters: &mut BTreeMap<K, T>, id: &K, amounts: &T) {
    match counters.get_mut(id) {
        Some(counter) => {
            counter.add(amounts);
            if counter.is_zero() {
                counters.remove(id);
            }
        }
        None if amounts.is_zero() => {}
        None => _ = counters.insert(id.clone(), amounts.clone()),
    }
}

fn deficit<K: Ord + Clone, T: Tally>(
    counters: &BTreeMap<K, T>,
    least: &BTreeMap<K, T>,
    most: &BTreeMap<K, T>,
    zero: impl Fn(&K) -> T,
) -> BTreeMap<K, T> {
    let ids: BTreeSet<_> = counters.keys().chain(least.keys()).chain(most.keys()).collect();
    let deficits = ids.into_iter().map(|id| {
        let zero = zero(id);
        let [counter, least, most] = [counters, least, most].map(|counts| counts.get(id).unwrap_or(&zero));
        (id.clone(), counter.deficit(least, most))
    });
    deficits.filter(|(_, deficit)| !deficit.is_zero()).collect()
}

fn nothing_on(placed_at: Timestamp) -> DayTotals {
    no_totals(placed_at.day())
}

fn no_totals(date: Day) -> DayTotals {
    DayTotals { date, orders: 0, units: 0, revenue: Sums::default(), statuses: Sums::default() }
}

macro_rules! counted {
    ($($stats:ident: $counters:ident by $id:ident)+) => {$(
        /// The counters of an item as counts.
        impl From<$stats> for Counts {
            fn from(stats: $stats) -> Self {
                let mut counts = Self::default();
                add(&mut counts.$counters, &stats.$id, &stats);
                counts
            }
        }
    )+};
}

counted! {
    CustomerStats: customers by customer_id
    ProductStats: products by product_id
    DayTotals: days by date
}
