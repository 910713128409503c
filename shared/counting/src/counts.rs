//! Amounts, by counter.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{CustomerStats, DayTotals, Order, OrderLine, OrderStatus, ProductStats, Sums, Tally};
use key_schema::value::{CustomerId, Day, ProductId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Aggregate;

/// What to add to the counters, merged by item. An item to which nothing is added is not among them.
///
/// Amounts are at most 2^53 and a batch has at most 1,000 records, so no sum of a batch leaves an `i64`. What has been
/// counted before may: such a sum stays at the nearest `i64`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    customers: BTreeMap<CustomerId, CustomerStats>,
    products: BTreeMap<ProductId, ProductStats>,
    days: BTreeMap<Day, DayTotals>,
}

impl Counts {
    /// An order without its lines, so many times.
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

    /// An order's place among those of a status, so many times.
    pub(crate) fn of_status(order: &Order, status: OrderStatus, times: i64) -> Self {
        let mut counts = Self::default();
        let statuses = [(status, times)].into_iter().collect();
        let day = DayTotals { statuses, ..nothing_on(order.placed_at) };
        add(&mut counts.days, &day.date, &day);
        counts
    }

    /// A line of an order that was placed at this time, so many times.
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

    /// Adds others. What comes to nothing is left out.
    pub fn add(&mut self, other: &Self) {
        other.customers.iter().for_each(|(id, amounts)| add(&mut self.customers, id, amounts));
        other.products.iter().for_each(|(id, amounts)| add(&mut self.products, id, amounts));
        other.days.iter().for_each(|(day, amounts)| add(&mut self.days, day, amounts));
    }

    /// What to add to the counters of this item.
    #[must_use]
    pub fn only(&self, aggregate: &Aggregate) -> Self {
        let mut only = Self::default();
        match aggregate {
            Aggregate::Customer(id) => only.customers.extend(self.customers.get(id).map(|of| (id.clone(), of.clone()))),
            Aggregate::Product(id) => only.products.extend(self.products.get(id).map(|of| (id.clone(), of.clone()))),
            Aggregate::Day(day) => only.days.extend(self.days.get(day).map(|of| (*day, of.clone()))),
        }
        only
    }

    /// What to add so that each counter lies between its least and its most.
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

    /// What to add to customers' stats.
    pub fn customers(&self) -> impl Iterator<Item = &CustomerStats> {
        self.customers.values()
    }

    /// What to add to products' stats.
    pub fn products(&self) -> impl Iterator<Item = &ProductStats> {
        self.products.values()
    }

    /// What to add to days' totals.
    pub fn days(&self) -> impl Iterator<Item = &DayTotals> {
        self.days.values()
    }

    /// To how many items something is added.
    pub fn len(&self) -> usize {
        self.customers.len() + self.products.len() + self.days.len()
    }

    /// Whether nothing is added to anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// To how many items more something would be added with others.
    pub(crate) fn growth(&self, other: &Self) -> usize {
        other.customers.keys().filter(|id| !self.customers.contains_key(*id)).count()
            + other.products.keys().filter(|id| !self.products.contains_key(*id)).count()
            + other.days.keys().filter(|day| !self.days.contains_key(*day)).count()
    }
}

fn add<K: Ord + Clone, T: Tally + Clone>(counters: &mut BTreeMap<K, T>, of: &K, amounts: &T) {
    match counters.get_mut(of) {
        Some(counter) => {
            counter.add(amounts);
            if counter.is_zero() {
                counters.remove(of);
            }
        }
        None if amounts.is_zero() => {}
        None => _ = counters.insert(of.clone(), amounts.clone()),
    }
}

fn deficit<K: Ord + Clone, T: Tally>(
    counters: &BTreeMap<K, T>,
    least: &BTreeMap<K, T>,
    most: &BTreeMap<K, T>,
    nothing: impl Fn(&K) -> T,
) -> BTreeMap<K, T> {
    let every: BTreeSet<_> = counters.keys().chain(least.keys()).chain(most.keys()).collect();
    let deficits = every.into_iter().map(|of| {
        let nothing = nothing(of);
        let in_each = [counters, least, most].map(|counts| counts.get(of).unwrap_or(&nothing));
        (of.clone(), in_each[0].deficit(in_each[1], in_each[2]))
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
        /// What the counters of an item say.
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
